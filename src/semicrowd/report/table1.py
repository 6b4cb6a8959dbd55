"""Table 1 of the SCDC paper: MNIST, SCDC and BayesSCDC, without and with crowd answers."""

from pathlib import Path

from semicrowd.report.cells import Cell
from semicrowd.report.collect import Collected
from semicrowd.report.exhibits import exhibit
from semicrowd.report.paper_values import values_of
from semicrowd.report.results import NOT_YET_DONE, Result, cells_of_experiment, metric, seconds_per_epoch

KEY = "scdc/table-1"
#: The paper averages 5 runs, each the best of 10 initialisations.
PAPER_RUNS = 5
#: Row of the table → the experiment that fills it.
EXPERIMENTS = {"BayesSCDC, with": "mnist_crowd"}
#: The first three have a number in the paper; its "NMI" is AMI with the 'max' average.
MEASURES = {
    "accuracy": metric("test/acc"),
    "nmi": metric("test/ami_max"),
    "seconds_per_epoch": seconds_per_epoch,
    "nmi, arithmetic": metric("test/nmi"),
    "ami, arithmetic": metric("test/ami"),
    "clusters": metric("clusters/used"),
    "sensitivity error": metric("workers/sensitivity_mae"),
    "specificity error": metric("workers/specificity_mae"),
}


def build(collected: Collected, folder: Path) -> Result:  # noqa: ARG001  (no figure to write)
    """The table's cells; rows without an experiment stay as not yet done."""
    cells: list[Cell] = []
    for row in dict.fromkeys(value.cell for value in values_of(KEY)):
        if row in EXPERIMENTS:
            cells += cells_of_experiment(
                collected,
                EXPERIMENTS[row],
                KEY,
                row,
                MEASURES,
                with_answers=row.endswith(", with"),
                paper_runs=PAPER_RUNS,
            )
        else:
            cells += [Cell(row, v.quantity, v, remark=NOT_YET_DONE) for v in values_of(KEY) if v.cell == row]
    return Result(
        exhibit=exhibit(KEY),
        cells=tuple(cells),
        text=(
            "Test images, each from its pixels alone. The paper's NMI is adjusted mutual information with the 'max' "
            "average, so it stands beside ours of that kind; NMI proper follows. Errors are mean absolute errors of "
            "the annotators' estimated sensitivity and specificity. Seconds an epoch were measured on other machines: "
            "the difference is given as a ratio."
        ),
        commands=tuple(collected.commands[name] for name in EXPERIMENTS.values() if name in collected.commands),
    )
