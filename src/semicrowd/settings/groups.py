"""The groups of the command line, and the settings that each of their choices has."""

from collections.abc import Mapping
from typing import Any

from semicrowd.settings.fields import Choice, Settings, described
from semicrowd.settings.methods import METHODS, Kind, Later
from semicrowd.settings.model import NetSettings
from semicrowd.settings.sources import ANSWERS, DATA
from semicrowd.settings.training import (
    LoggerSettings,
    RunSettings,
    StartSettings,
    TrainerSettings,
    TrainingSettings,
    ViewSettings,
)

#: Groups of which a choice decides what settings there are.
CHOSEN: dict[str, Mapping[str, Kind]] = {
    "data": DATA, "model": Later(METHODS, lambda name: METHODS[name].settings), "annotations": ANSWERS,
}  # fmt: skip
#: Groups whose settings are always the same; a choice is a value of the first of them: ``start=cold``.
FIXED: dict[str, type[Settings]] = {
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
TOP: tuple[type[Settings], ...] = (RunSettings, TrainingSettings)


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


def names_in(group: str, choice: str) -> list[str]:
    """Names of the settings of a choice of a group of :data:`CHOSEN`, for which no method is loaded."""
    return METHODS[choice].names if group == "model" else names_of(CHOSEN[group][choice])


def groups_of(choices: Mapping[str, str]) -> dict[str, Kind]:
    """Group → settings under the choices of data, model and annotations, in the order of a page."""
    foreign = groups_foreign_to(choices["model"])
    fixed = {group: kind for group, kind in FIXED.items() if group not in foreign}
    return {**{group: CHOSEN[group][choices[group]] for group in CHOSEN}, **fixed}


def groups_foreign_to(method: str) -> set[str]:
    """Groups that only other methods have settings in."""
    others = {group for one in METHODS.values() for group in one.others}
    return others - METHODS[method].others.keys()


def chosen_with(group: str, choice: str) -> Mapping[str, str]:
    """Other groups → their choice that comes with a choice of this one: ``data=table`` comes with model=cotrain."""
    if group not in CHOSEN or group == "model":
        return {}
    choices: Mapping[str, str] = getattr(CHOSEN[group].get(choice), "chooses", {})
    return choices


def what_is(group: str, choice: str) -> str:
    """A choice of a group of :data:`CHOSEN` in one line."""
    return METHODS[choice].what if group == "model" else (CHOSEN[group][choice].__doc__ or "").partition("\n")[0]
