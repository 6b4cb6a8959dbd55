"""What the builder of a table or figure hands to the page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from semicrowd.report.cells import Cell, summarise
from semicrowd.report.collect import Collected, Run
from semicrowd.report.exhibits import Exhibit
from semicrowd.report.paper_values import paper_value, values_of
from semicrowd.report.protocols import deviations

NOT_YET_DONE = "not yet done"
#: Reads one number off a finished run; None where the run has none of the kind.
Measure = Callable[[Run], float | None]


def metric(name: str) -> Measure:
    """The entry ``name`` of ``metrics.json``, which leaves out what is not defined."""
    return lambda run: run.metrics.get(name)


def seconds_per_epoch(run: Run) -> float:
    """Wall time of the fit, warm start included, over its epochs."""
    return run.metrics["seconds/fit"] / run.metrics["epochs"]


def worst_start(column: str) -> Measure:
    """A column of ``restarts.csv`` in the row of the lowest ELBO."""
    return lambda run: run.restarts[column][int(np.argmin(run.restarts["elbo"]))]


@dataclass(frozen=True)
class Image:
    """An image of the report.

    Attributes
    ----------
    path
        Of its file, relative to the report's folder.
    caption
        What it shows; also its text for those who cannot see it.
    """

    path: Path
    caption: str


@dataclass(frozen=True)
class Result:
    """One table or figure of a paper with its cells.

    Attributes
    ----------
    text
        How to read it: which runs, which metric stands beside the paper's.
    images
        Figures, in their order.
    commands
        Commands that give the runs again.
    """

    exhibit: Exhibit
    cells: tuple[Cell, ...]
    text: str = ""
    images: tuple[Image, ...] = ()
    commands: tuple[str, ...] = field(default_factory=tuple)

    @property
    def status(self) -> str:
        """``done``, ``partly done``, ``not yet done``, or that there is nothing to compute."""
        if not self.exhibit.computed:
            return "nothing to compute"
        # Of what the paper prints; of a figure without printed numbers, of all that is shown.
        printed = [cell for cell in self.cells if cell.paper is not None] or self.cells
        if all(cell.ours is not None for cell in printed) and printed:
            return "done"
        return "partly done" if any(cell.ours is not None for cell in self.cells) else NOT_YET_DONE

    @property
    def simulated(self) -> bool:
        """Whether a cell rests on simulated answers where the paper's are real."""
        return any("simulated" in cell.remark for cell in self.cells)


def pending(exhibit: Exhibit) -> Result:
    """A table or figure that nobody has computed yet: the paper's numbers with an empty place beside them."""
    cells = tuple(Cell(value.cell, value.quantity, value, remark=NOT_YET_DONE) for value in values_of(exhibit.key))
    return Result(exhibit, cells)


def missing_remark(unfinished: Sequence[Run]) -> str:
    """Why there is no number: the first reason that a run gives, and its seed."""
    for run in unfinished:
        if run.status == "unavailable":
            return f"data not available here: {run.message}"
        if run.status != "missing":
            return f"seed {run.seed} {run.status}" + (f": {run.message}" if run.message else "")
    return "not run in this profile"


def remarks_on(collected: Collected, experiment: str) -> list[str]:
    """What is to be said beside an experiment's numbers, or in their place."""
    runs, unfinished = collected.finished(experiment), collected.unfinished(experiment)
    remarks = [] if runs else [missing_remark(unfinished)]
    if runs and unfinished:
        remarks.append("; ".join(f"seed {run.seed} {run.status}" for run in unfinished) + ": not in the mean")
    if _replaced(runs):
        remarks.append("simulated answers")
    return remarks


def _replaced(runs: Sequence[Run]) -> list[str]:
    """Why the answers of runs are not the real ones that they should be."""
    return [run.answers["because"] for run in runs if "because" in run.answers]


def protocol_of(runs: Sequence[Run], exhibit: str, *, with_answers: bool, paper_runs: int) -> tuple[str, ...]:
    """How the protocol of an experiment's finished runs differs from the paper's."""
    if not runs:
        return ()
    found = deviations(exhibit, runs[0].config, with_answers=with_answers, runs=len(runs), paper_runs=paper_runs)
    replaced = [f"answers simulated in place of the real ones: {reason}" for reason in _replaced(runs)]
    return (*found, *replaced[:1])


def cells_of_experiment(
    collected: Collected,
    experiment: str,
    exhibit: str,
    cell: str,
    measures: dict[str, Measure],
    *,
    with_answers: bool,
    paper_runs: int,
    label: str = "",
) -> tuple[Cell, ...]:
    """One cell for each quantity: the mean over the experiment's finished runs beside the paper's number.

    Parameters
    ----------
    cell
        The paper's name of the row; its numbers stand beside ours. Without any of that name, there is none beside.
    measures
        quantity → how it is read off a run. Quantities that the paper does not print get a cell without its number.
        Where nothing has run, there are the quantities that the paper prints, or the first.
    label
        Name of the row here, where it is not the paper's.
    """
    runs = collected.finished(experiment)
    remarks = remarks_on(collected, experiment)
    protocol = protocol_of(runs, exhibit, with_answers=with_answers, paper_runs=paper_runs)
    printed = {value.quantity for value in values_of(exhibit) if value.cell == cell}
    shown = {name: measure for name, measure in measures.items() if runs or name in (printed or [*measures][:1])}
    cells = []
    for quantity, measure in shown.items():
        numbers = [(value, run.seed) for run in runs if (value := measure(run)) is not None]
        known = {seed for _, seed in numbers}
        undefined = [f"seed {run.seed}: not defined" for run in runs if run.seed not in known]
        cells.append(
            Cell(
                cell=label or cell,
                quantity=quantity,
                paper=paper_value(exhibit, cell, quantity) if quantity in printed else None,
                ours=summarise([value for value, _ in numbers], [seed for _, seed in numbers]),
                remark="; ".join([*remarks, *undefined]),
                deviations=protocol,
            )
        )
    return tuple(cells)
