"""Tables and figures of papers and their reproductions, and the project's own measurements (studies)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure

from semicrowd.errors import UserError
from semicrowd.figures.style import save
from semicrowd.report.cells import Cell, PaperValue
from semicrowd.report.protocol import Protocol
from semicrowd.report.runs import Collected

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


@dataclass(frozen=True)
class Study:
    """One of the project's own measurements, as the report shows it.

    Attributes
    ----------
    key : anchor of its section in the report
    status : ``done``, ``partly done`` or ``not measured yet``
    text : how to read it
    rows : of a table, texts; as many as the header has
    missing : of each row, whether it has no numbers yet
    findings : one sentence each
    command : the command that makes the measurement, or the missing part of it
    """

    key: str
    title: str
    status: str
    text: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    missing: tuple[bool, ...]
    findings: tuple[str, ...] = ()
    images: tuple[Image, ...] = ()
    command: str = ""
