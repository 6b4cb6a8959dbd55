"""Tables and figures of papers and their reproductions."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from semicrowd.errors import UserError
from semicrowd.figures.style import save
from semicrowd.report.cells import Cell, PaperValue
from semicrowd.report.collect import Collected
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


NOT_YET_DONE = "not yet done"


@dataclass(frozen=True)
class Image:
    """An image of the report.

    Attributes
    ----------
    path : of its file, relative to the report's folder
    caption : what it shows; also the alternative text of the image
    """

    path: Path
    caption: str


def drawn(figure: Figure, folder: Path, path: Path, caption: str) -> Image:
    """The image of a figure, which is saved in the report's folder."""
    save(figure, folder / path)
    return Image(path, caption)


@dataclass(frozen=True)
class Result:
    """The reproduction of one table or figure.

    Attributes
    ----------
    cells : the paper's numbers and ours
    text : how to read it: which runs, and which of our metrics is compared with the paper's
    images : figures, in their order
    commands : commands that repeat the runs
    """

    cells: tuple[Cell, ...] = ()
    text: str = ""
    images: tuple[Image, ...] = ()
    commands: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """``done``, ``partly done`` or ``not yet done``."""
        # Only numbers that the paper prints count; for a figure without printed numbers, all of ours.
        printed = [cell for cell in self.cells if cell.paper is not None] or self.cells
        there = {(cell.paper or cell.cell, cell.quantity) for cell in printed if cell.ours is not None}
        if printed and there == {(cell.paper or cell.cell, cell.quantity) for cell in printed}:
            return "done"
        return "partly done" if any(cell.ours is not None for cell in self.cells) else NOT_YET_DONE

    @property
    def simulated(self) -> bool:
        """Whether a cell uses simulated answers instead of the paper's real answers."""
        return any("simulated answers" in cell.remark for cell in self.cells if cell.ours is not None)


@dataclass(frozen=True, eq=False)
class Exhibit:
    """One table or figure of a paper.

    Attributes
    ----------
    key : its anchor within the paper
    label : as the paper numbers it
    title : what it shows, in our words
    computed : False for diagrams and lists of settings: there is no result to reproduce
    values : the numbers that the paper prints
    protocol : how the paper got them
    gap : one sentence on why our numbers differ; empty where there is nothing to compare with
    fill : makes the result from the runs, and writes images to the report's folder; None if it is not implemented
    """

    key: str
    label: str
    title: str
    computed: bool = True
    values: tuple[PaperValue, ...] = ()
    protocol: Protocol = field(default_factory=Protocol)
    gap: str = ""
    fill: "Callable[[Exhibit, Collected, Path], Result] | None" = None

    def build(self, collected: Collected, folder: Path) -> Result:
        """The result; if ``fill`` is None or data for it are missing, the paper's numbers with empty cells for ours.

        A report may be made of pulled results, without the public data, so that one figure must not stop all others.
        """
        why, text = NOT_YET_DONE, ""
        if self.fill is not None:
            try:
                return self.fill(self, collected, folder)
            except (UserError, FileNotFoundError) as error:
                why, text = "data missing", f"Not made here: {error}"
        return Result(tuple(Cell(value.cell, value.quantity, value, remark=why) for value in self.values), text)

    def value(self, cell: str, quantity: str) -> PaperValue:
        """The printed number with this cell and quantity.

        Raises
        ------
        KeyError
            If the paper prints no such number.
        """
        for entry in self.values:
            if (entry.cell, entry.quantity) == (cell, quantity):
                return entry
        raise KeyError(f"no printed value in {self.label}: {cell}, {quantity}")


@dataclass(frozen=True, eq=False)
class Paper:
    """A paper with its tables and figures, in their order.

    Attributes
    ----------
    key : name of its folder
    verified : name of a cheap recorded experiment; ``make verify`` repeats one of its runs
    record : records what is no run of ``src/train.py``: the experiment KEY.NAME, given its name, a folder for files on
        the way and the processor; returns the path of the file. None if the paper has no such experiments
    """

    key: str
    title: str
    exhibits: tuple[Exhibit, ...]
    verified: str
    record: Callable[[str, Path, str], Path] | None = None
