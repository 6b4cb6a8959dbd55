"""A paper's protocol as settings, with which a run's configuration is compared to find its deviations."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from semicrowd.settings.fields import dotted

#: The paper's value of a setting that the paper does not give; the report then shows the value of our run.
NOT_SAID = "not said"


@dataclass(frozen=True)
class Setting:
    """One setting of a paper.

    Attributes
    ----------
    key : where a run's resolved configuration has it, as ``model.K``
    label : name of the setting in the report
    paper : the paper's value; :data:`NOT_SAID` where it gives none
    with_answers : True for a setting that matters only to a run with answers
    said : text for the paper's value, if the value itself is the name of an option
    model : the only model that has the setting; empty for a setting of all models
    same : other values that are equivalent to the paper's, such as the resulting number if ``paper`` is a rule
    data : data sets (``data.which``) that have this value, if the paper has a value for each; empty: all data sets
    idle : another setting and its value with which this setting has no effect; runs with that value do not deviate
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
    runs : number of runs that the paper averages; None for results that are not in the paper
    settings : settings of the models named in ``models``. For other methods the paper gives no settings, so that only
        the notes apply
    notes : differences that do not show in a setting
    """

    runs: int | None = 1
    settings: tuple[Setting, ...] = ()
    models: Collection[str] = ()
    notes: tuple[str, ...] = ()

    def deviations(self, config: Mapping[str, Any], *, with_answers: bool, runs: int) -> list[str]:
        """Differences of our runs from the protocol, one phrase each.

        Parameters
        ----------
        config : resolved configuration of a run
        with_answers : whether the run had answers
        runs : number of runs that our number averages

        Raises
        ------
        KeyError
            If the configuration lacks a setting; otherwise a renamed setting would count as equal.
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
                found.append(f"{setting.label}: {_in_words(value)} (paper: {setting.said or _in_words(setting.paper)})")
        return [*found, *self.notes]


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
