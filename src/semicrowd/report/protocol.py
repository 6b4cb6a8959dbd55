"""A paper's protocol as settings, so that a run's deviations are read off its own configuration."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from semicrowd.settings.fields import dotted

#: The paper's value of a setting that it does not tell: no run can be held to it, and the report says what ours has.
NOT_SAID = "not said"


@dataclass(frozen=True)
class Setting:
    """One setting of a paper.

    Attributes
    ----------
    key : where a run's resolved configuration has it, as ``model.K``
    label : what it is
    paper : the paper's value; :data:`NOT_SAID` where it gives none
    with_answers : True for a setting that matters only to a run with answers
    said : how to print the paper's value, where the value itself is an option's name
    model : the only model that has it; empty for a setting of all
    same : other values that come to the same as the paper's, as its number where ``paper`` is a rule
    data : the only data sets (``data.which``) that it is for, where the paper has a value for each; empty for all
    idle : another setting and its value under which this one does nothing, so that no run of it deviates
    """

    key: str
    label: str
    paper: Any
    with_answers: bool = False
    said: str = ""
    model: str = ""
    same: tuple[Any, ...] = ()
    data: Collection[str] = ()
    idle: tuple[str, Any] | None = None


@dataclass(frozen=True)
class Protocol:
    """How a paper ran what a table or figure shows.

    Attributes
    ----------
    runs : how many runs stand behind a number; None of what is beyond the paper
    settings : of the models named in ``models``. Another method is held to the notes alone: the paper does not say how
        it ran
    notes : differences that no setting tells
    """

    runs: int | None = 1
    settings: tuple[Setting, ...] = ()
    models: Collection[str] = ()
    notes: tuple[str, ...] = ()

    def deviations(self, config: Mapping[str, Any], *, with_answers: bool, runs: int) -> list[str]:
        """How ours differs: one phrase each.

        Parameters
        ----------
        config : resolved configuration of a run
        with_answers : whether the run had answers
        runs : how many runs stand behind our number

        Raises
        ------
        KeyError
            If the configuration lacks a setting: a renamed one must not pass for an equal one.
        """
        found = []
        if self.runs is not None and runs != self.runs:
            found.append(f"{runs} run{'s' if runs != 1 else ''} (paper: {self.runs})")
        ours = dotted(config)
        model = ours["model.name"]
        for setting in self.settings if model in self.models else ():
            if (setting.with_answers and not with_answers) or setting.model not in ("", model):
                continue
            if setting.data and ours["data.which"] not in setting.data:
                continue
            if setting.idle is not None and setting.idle in ours.items():
                continue
            value = ours[setting.key]
            if value not in (setting.paper, *setting.same):
                found.append(f"{setting.label}: {_say(value)} (paper: {setting.said or _say(setting.paper)})")
        return [*found, *self.notes]


def _say(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
