"""The groups of the command line, and the settings that each of their choices has."""

from collections.abc import Mapping
from typing import Any

from semicrowd.settings.baselines import BASELINE_PARAMETERS
from semicrowd.settings.fields import Choice, described
from semicrowd.settings.gibbs import GIBBS_PARAMETERS
from semicrowd.settings.model import BayesSettings, NetSettings, SCDCSettings
from semicrowd.settings.sources import ANSWERS, DATA
from semicrowd.settings.training import (
    LoggerSettings,
    RunSettings,
    StartSettings,
    TrainerSettings,
    TrainingSettings,
    ViewSettings,
)

#: Methods beside the two models → their parameters.
PARAMETERS = BASELINE_PARAMETERS | GIBBS_PARAMETERS
MODELS: dict[str, type] = {"bayes": BayesSettings, "scdc": SCDCSettings}
#: Groups of which a choice decides what settings there are.
CHOSEN: dict[str, dict[str, type]] = {
    "data": DATA, "model": MODELS | PARAMETERS, "annotations": ANSWERS,
}  # fmt: skip
#: Groups whose settings are always the same; a choice is a value of the first of them: ``start=cold``.
FIXED: dict[str, type] = {
    "nets": NetSettings, "start": StartSettings, "views": ViewSettings, "trainer": TrainerSettings,
    "logger": LoggerSettings,
}  # fmt: skip
#: Choices of a group of :data:`FIXED` that stand for several settings: what they say and nobody else has said.
SEVERAL: dict[str, dict[str, dict[str, Any]]] = {
    "trainer": {
        "cpu": {"strategy": "single", "accelerator": "cpu"},
        "gpu": {"strategy": "single", "accelerator": "gpu"},
        "ddp": {"strategy": "ddp", "devices": 2},  # with one it would be no other than single
    }
}
#: Settings without a group.
TOP: tuple[type, ...] = (RunSettings, TrainingSettings)


def choice_of(group: str) -> tuple[str, tuple[str, ...]]:
    """The setting of a group of :data:`FIXED` that names its choice, and the choices."""
    first = described(FIXED[group])[0]
    assert isinstance(first.rule, Choice)
    return first.spelled, tuple(dict.fromkeys([*first.rule.names, *SEVERAL.get(group, {})]))


def stands_for(group: str, choice: str) -> dict[str, Any]:
    """The settings that a choice of a group of :data:`FIXED` gives: ``trainer=cpu`` is one process on the CPU."""
    return SEVERAL.get(group, {}).get(choice, {choice_of(group)[0]: choice})


def names_of(kind: type) -> list[str]:
    """Names of settings as the command line has them."""
    return [one.spelled for one in described(kind)]


def groups_of(choices: Mapping[str, str]) -> dict[str, type]:
    """Group → settings under the choices of data, model and annotations, in the order of a page."""
    return {**{group: CHOSEN[group][choices[group]] for group in CHOSEN}, **FIXED}


def nothing_given(kind: type) -> dict[str, Any]:
    """All names with null: what Hydra's configuration holds before anybody has set anything."""
    return dict.fromkeys(names_of(kind))


def chosen_with(group: str, choice: str) -> Mapping[str, str]:
    """Other groups → their choice that comes with a choice of this one: ``data=table`` comes with model=cotrain."""
    found: Mapping[str, str] = getattr(CHOSEN.get(group, {}).get(choice), "chooses", {})
    return found
