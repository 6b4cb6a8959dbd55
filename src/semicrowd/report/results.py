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
#: Reads one number off a finished run.
Measure = Callable[[Run], float]


def metric(name: str) -> Measure:
    """The entry ``name`` of ``metrics.json``."""
    return lambda run: run.metrics[name]


def seconds_per_epoch(run: Run) -> float:
    """Wall time of the fit, warm start included, over its epochs."""
    return run.metrics["seconds/fit"] / run.metrics["epochs"]


def worst_start(column: str) -> Measure:
    """A column of ``restarts.csv`` in the row of the lowest ELBO."""
    return lambda run: run.restarts[column][int(np.argmin(run.restarts["elbo"]))]


@dataclass(frozen=True)
class Result:
    """One table or figure of a paper with its cells.

    Attributes
    ----------
    text
        How to read it: which runs, which metric stands beside the paper's.
    figure
        Image file, relative to the report's folder.
    caption
        What the image shows; also its text for those who cannot see it.
    commands
        Commands that give the runs again.
    """

    exhibit: Exhibit
    cells: tuple[Cell, ...]
    text: str = ""
    figure: Path | None = None
    caption: str = ""
    commands: tuple[str, ...] = field(default_factory=tuple)

    @property
    def status(self) -> str:
        """``done``, ``partly done``, ``not yet done``, or that there is nothing to compute."""
        if not self.exhibit.computed:
            return "nothing to compute"
        done = [cell.ours is not None for cell in self.cells if cell.paper is not None]
        if any(done):
            return "done" if all(done) else "partly done"
        return NOT_YET_DONE

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


def cells_of_experiment(
    collected: Collected,
    experiment: str,
    exhibit: str,
    cell: str,
    measures: dict[str, Measure],
    *,
    with_answers: bool,
    paper_runs: int,
) -> tuple[Cell, ...]:
    """One cell for each quantity: the mean over the experiment's finished runs beside the paper's number.

    Parameters
    ----------
    measures
        quantity → how it is read off a run. Quantities that the paper does not print get a cell without its number.
    """
    runs = collected.finished(experiment)
    unfinished = collected.unfinished(experiment)
    remarks = [] if runs else [missing_remark(unfinished)]
    if runs and unfinished:
        remarks.append("; ".join(f"seed {run.seed} {run.status}" for run in unfinished) + ": not in the mean")
    replaced = [run.answers["because"] for run in runs if "because" in run.answers]
    if replaced:
        remarks.append("simulated answers")
    protocol = (
        deviations(exhibit, runs[0].config, with_answers=with_answers, runs=len(runs), paper_runs=paper_runs)
        if runs
        else []
    )
    protocol += [f"answers simulated in place of the real ones: {reason}" for reason in replaced[:1]]
    printed = {value.quantity for value in values_of(exhibit) if value.cell == cell}
    return tuple(
        Cell(
            cell=cell,
            quantity=quantity,
            paper=paper_value(exhibit, cell, quantity) if quantity in printed else None,
            ours=summarise([measure(run) for run in runs], [run.seed for run in runs]),
            remark="; ".join(remarks),
            deviations=tuple(protocol),
        )
        for quantity, measure in measures.items()
        if runs or quantity in printed
    )
