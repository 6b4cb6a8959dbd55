"""Numbers of an experiment's runs as cells of a table, with remarks."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from semicrowd.data import load_dataset
from semicrowd.pipeline.experiments import DATA, format_ranges
from semicrowd.report.cells import PAIRED, Cell, Summary, summarise
from semicrowd.report.collect import Collected, Run
from semicrowd.report.exhibits import Exhibit

#: End of the label of cells of recorded runs.
RECORDED = " (recorded)"
#: Reads a number from a finished run; None if the run does not have it.
Measure = Callable[[Run], float | None]


def metric(name: str) -> Measure:
    """The entry ``name`` of ``metrics.json``; None if the metric is not defined for the run."""
    return lambda run: run.metrics.get(name)


def seconds_per_epoch(run: Run) -> float:
    """Wall-clock time of the fit, including its start, divided by the number of epochs."""
    return run.metrics["seconds/fit"] / run.metrics["epochs"]


def worst_start(column: str) -> Measure:
    """A column of ``restarts.csv`` in the row with the lowest ELBO; restarts that diverged have no ELBO."""
    return lambda run: run.restarts[column][int(np.nanargmin(np.array(run.restarts["elbo"], float)))]


def _by_place(collected: Collected, experiment: str) -> dict[tuple[int, str], tuple[Run, bool]]:
    recorded, finished = collected.finished_recorded(experiment), collected.finished(experiment)
    return {run.place: (run, True) for run in recorded} | {run.place: (run, False) for run in finished}


def paired(
    collected: Collected, label: str, first: str, second: str, measures: dict[str, Measure]
) -> tuple[Cell, ...]:
    """Differences of two experiments, first minus second, over runs of the same seed and point; empty without such."""
    of_first, of_second = (_by_place(collected, name) for name in (first, second))
    both = [(of_first[place], of_second[place]) for place in of_first if place in of_second]
    both = [pair for pair in both if _same_inputs(pair[0][0], pair[1][0])]
    failed = {run.seed for name in (first, second) for run in collected.recorded.get(name, [])
              if run.status != "finished"} - {one.seed for (one, _), _ in both}
    lost = [f"seed {seed} failed, not in the mean" for seed in sorted(failed)]
    cells = []
    for quantity, measure in measures.items():
        found = [(a - b, one.seed) for (one, _), (other, _) in both
                 if (a := measure(one)) is not None and (b := measure(other)) is not None]  # fmt: skip
        ours = summarise([value for value, _ in found], [seed for _, seed in found])
        if ours is not None:
            error = "one seed" if ours.sd is None else f"standard error {ours.sd / len(found) ** 0.5:.3f}"
            kept = ["with recorded runs"] if any(kept for pair in both for _, kept in pair) else []
            cells.append(Cell(label, f"{quantity}{PAIRED}", ours=ours, remark="; ".join([error, *kept, *lost])))
    return tuple(cells)


def _same_inputs(one: Run, other: Run) -> bool:
    """Whether two runs of one seed had the same items, and the same answers if both had some.

    A profile may give an experiment more images than the other has, or simulate answers where a crowd's are missing.
    """
    data, of_other = (run.config.get("data", {}) for run in (one, other))
    asked, of_others = one.answers, other.answers
    if asked and of_others and bool(asked.get("because")) != bool(of_others.get("because")):
        return False
    # A recorded run may be of a version without one of the entries.
    same_pairs = all(asked[key] == of_others[key] for key in {"num_pairs"} & asked.keys() & of_others.keys())
    same_items = all(data[key] == of_other[key] for key in data.keys() & of_other.keys())
    return same_pairs and (same_items or data.get("name") != of_other.get("name"))


def data_of(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Features and true classes of a run's training items."""
    options = dict(run.config["data"])
    data = load_dataset(options.pop("name"), DATA, **options)
    assert data.labels is not None
    return data.features, data.labels


def missing_remark(unfinished: Sequence[Run]) -> str:
    """Why there is no number: the reason of the first run that gives one, with its seed unless data are missing."""
    for run in unfinished:
        if run.status == "unavailable":
            return f"data not available here: {run.message}"
        if run.status != "missing":
            return f"seed {run.seed} {run.status}" + (f": {run.message}" if run.message else "")
    return "not run in this profile"


def not_in_profile(experiment: str) -> str:
    """The remark for an experiment that is neither in the profile nor recorded."""
    return f"not in this profile: make record EXPERIMENT={experiment}"


def remarks_on(collected: Collected, experiment: str) -> list[str]:
    """The remarks on an experiment's numbers, or on why they are missing."""
    if experiment not in collected.runs:
        return [not_in_profile(experiment)]
    runs, unfinished = collected.finished(experiment), collected.unfinished(experiment)
    remarks = [] if runs else [missing_remark(unfinished)]
    if runs and unfinished:
        remarks.append("; ".join(f"seed {run.seed} {run.status}" for run in unfinished) + ": not in the mean")
    if why_replaced(runs):
        remarks.append("simulated answers")
    return remarks


def why_replaced(runs: Sequence[Run]) -> list[str]:
    """The reasons why runs used simulated answers instead of real ones."""
    return [run.answers["because"] for run in runs if "because" in run.answers]


def protocol_of(runs: Sequence[Run], exhibit: Exhibit, *, with_answers: bool) -> tuple[str, ...]:
    """How the protocol of an experiment's finished runs differs from the paper's."""
    if not runs:
        return ()
    found = exhibit.protocol.deviations(runs[0].config, with_answers=with_answers, runs=len(runs))
    replaced = [f"answers simulated in place of the real ones: {reason}" for reason in why_replaced(runs)]
    return (*found, *replaced[:1])


class Row(NamedTuple):
    """A row of a table.

    Attributes
    ----------
    experiment : its name in params.yaml or recorded/experiments.yaml
    label : its name in the table; empty: the paper's
    paper : the paper's row that it is compared with; empty if there is none
    with_answers : whether the runs have answers
    epochs : whether the method is trained in epochs, which can be timed
    """

    experiment: str
    label: str = ""
    paper: str = ""
    with_answers: bool = True
    epochs: bool = True


def cells_of_rows(
    collected: Collected, exhibit: Exhibit, rows: Iterable[Row], measures: dict[str, Measure],
    asked: dict[str, Measure] | None = None, less: Iterable[tuple[str, str, str]] = (), compared: Sequence[str] = (),
) -> list[Cell]:
    """Cells of several experiments, and below them paired differences between two experiments.

    A row has a cell for each quantity: the mean over the experiment's finished runs, and the paper's number. Without
    finished runs, only the quantities that the paper prints have a cell; if it prints none, the first quantity has one.
    Cells of recorded runs (``make record``) follow and are marked as recorded. If the profile does not run the
    experiment, they are the only ones.

    Parameters
    ----------
    measures : quantities of all rows, and how each is read from a run
    asked : additional quantities of the rows with answers
    less : label, first and second experiment of each difference, first minus second
    compared : quantities of the differences; if empty, those of ``measures``
    """
    cells: list[Cell] = []
    for row in rows:
        of_row = measures | (asked or {} if row.with_answers else {})
        of_row = {name: one for name, one in of_row.items() if row.epochs or one is not seconds_per_epoch}
        cells += _cells_of_row(collected, exhibit, row, of_row)
    both = {name: measures[name] for name in compared or measures}
    return cells + [cell for names in less for cell in paired(collected, *names, both)]


def _cells_of_row(
    collected: Collected, exhibit: Exhibit, row: Row, measures: dict[str, Measure]
) -> Iterator[Cell]:
    recorded, label = collected.recorded.get(row.experiment, []), row.label or row.paper
    if row.experiment in collected.runs or not recorded:
        runs, remarks = collected.finished(row.experiment), remarks_on(collected, row.experiment)
        yield from _cells(runs, remarks, exhibit, row._replace(label=label), measures)
    if recorded:
        failed = [f"seed {run.seed} failed: {run.message}" for run in recorded if run.status != "finished"]
        seeds = format_ranges(sorted({run.seed for run in recorded}))
        kept = [f"recorded: make record EXPERIMENT={row.experiment} SEEDS={seeds}", *failed]
        runs = collected.finished_recorded(row.experiment)
        yield from _cells(runs, kept, exhibit, row._replace(label=f"{label}{RECORDED}"), measures)


def mean_of(runs: Iterable[Run], measure: Measure) -> Summary | None:
    """Mean and standard deviation of a number over the runs that have it; None if none has it."""
    found = [(value, run.seed) for run in runs if (value := measure(run)) is not None]
    return summarise([value for value, _ in found], [seed for _, seed in found])


def _cells(
    runs: Sequence[Run], remarks: Sequence[str], exhibit: Exhibit, row: Row, measures: dict[str, Measure]
) -> Iterator[Cell]:
    """One cell for each quantity, from finished runs."""
    protocol = protocol_of(runs, exhibit, with_answers=row.with_answers)
    printed = {value.quantity: value for value in exhibit.values if value.cell == row.paper}
    shown = {name: measure for name, measure in measures.items() if runs or name in (printed or [*measures][:1])}
    for quantity, measure in shown.items():
        ours = mean_of(runs, measure)
        known = () if ours is None else ours.seeds
        undefined = [f"seed {run.seed}: not defined" for run in runs if run.seed not in known]
        remark = "; ".join([*remarks, *undefined])
        yield Cell(row.label, quantity, printed.get(quantity), ours, remark, protocol)
