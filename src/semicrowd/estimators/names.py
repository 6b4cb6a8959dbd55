"""The class of a method by its name, and the name by that of the class."""

from importlib import import_module
from typing import Any

from semicrowd.settings.methods import METHODS

#: Name of a class → name of the method: ``BayesSCDC`` → ``bayes``.
NAMES = {method.kind: name for name, method in METHODS.items()}


def estimator_class(name: str) -> Any:
    """The class of a method."""
    method = METHODS[name]
    return getattr(import_module(f"semicrowd.estimators.{method.module}"), method.kind)
