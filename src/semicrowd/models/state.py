"""Models by name, made from settings or from what a finished fit has kept."""

from collections.abc import Mapping
from typing import Any

from semicrowd.errors import UserError
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.scdc import SCDC

_KINDS: dict[str, type[GenerativeModel]] = {model.name: model for model in (BayesSCDC, SCDC)}


def model_class(name: str) -> type[GenerativeModel]:
    """The model of the method ``bayes`` or ``scdc``."""
    return _KINDS[name]


def load_model(description: Mapping[str, Any]) -> GenerativeModel:
    """The model of a :meth:`GenerativeModel.description`, without its data, on the CPU."""
    name = description.get("model")
    if name not in _KINDS:
        raise UserError(f"a model called {name}: expected {' or '.join(_KINDS)}")
    return _KINDS[name].from_description(description)
