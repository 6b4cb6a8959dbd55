"""Tables 2 and 3: G-means, DPM and deep DPM; training lengths of the autoencoder; the crowd's answers as links."""

from pathlib import Path

import pandas as pd

from semicrowd.data.encoded import FOLDER, TRAINED
from semicrowd.pipeline.deep_spaces import SPACES
from semicrowd.pipeline.experiments import DATA
from semicrowd.report.cells import Cell
from semicrowd.report.collect import Collected
from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.experiments import Measure, Row, cells_of_rows, metric
from semicrowd.report.papers.deep_dpm.figures import NAMES, cells, read_scores
from semicrowd.report.papers.deep_dpm.paper import MEASURES, METHODS, ROWS

#: Experiments that only ``make record`` runs: the paper's schedule and prior, with both readings of its eq. 19, and a
#: selection among several fits.
RECORDED_ROWS = {
    "deep_mnist_schedule": "MNIST, DDPM; the paper's schedule and prior, eq. 19 corrected",
    "deep_mnist_schedule_printed": "MNIST, DDPM; the paper's schedule and prior, eq. 19 as printed",
    "deep_mnist_starts": "MNIST, DDPM; of five fits the one with the highest ln p(x, z)",
}
TEXT = (
    "ARI, pairwise F1 and V of the training items, and K, the number of clusters that have an item. V is NMI: the "
    "mutual information divided by the mean of the entropies. DDPM is deep DPM. DPM is deep DPM with a flow that takes "
    "no step: unlike in the paper, prior, start, moves and number of sweeps are those of deep DPM "
    "(docs/DEVIATIONS.md). Both are scored by every item's most probable cluster. All runs on a data set have the same "
    "features; seeds are those of the clustering. Other methods were run in the space of the autoencoder and in that "
    "of the trained flow: k-means told the K that deep DPM has found, k-means told the true K (marked oracle), "
    "scikit-learn's variational Dirichlet process mixture of at most 25 Gaussians, and G-means. WISDM's activities and "
    "R8's four largest subjects are public and replace HHAR and REU-10K: their numbers cannot be compared with the "
    "paper's, but the order of the methods can. Two rows on MNIST have the paper's schedule and prior, one for each "
    "reading of eq. 19, the density of a new cluster. As eq. 19 is printed, κ₀ counts once instead of once for each of "
    "the 10 columns, which makes a new cluster e^24 times as likely as in the model; the paper's α may only suit this "
    "reading. Another row selects one of five fits by ln p(x, z). These rows take longer than a profile allows; "
    "recorded/runs has their numbers and the arguments that repeat them."
)


def table_2(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """The table's cells, a row for each data set and method."""
    rows: list[Cell] = []
    commands: list[str] = []
    for row in ROWS:
        at = row.of(collected)
        of_methods = [row.of_method(ending) for ending in METHODS]
        less = [(f"{row.name}, DDPM minus DPM", row.experiment, f"{row.experiment}_dpm")]
        rows += cells_of_rows(at, exhibit, of_methods, MEASURES, less=less)
        commands += collected.commands_of(*(of.experiment for of in of_methods))
        scores = read_scores(row.experiment, row.which)
        rows += [cell for method in NAMES for space in SPACES for cell in cells(scores, row.name, space, method)]
        if len(scores):
            commands.append(f"python -m semicrowd.pipeline.deep_spaces {row.experiment}")
    recorded = [Row(name, label, "MNIST, DDPM", with_answers=False) for name, label in RECORDED_ROWS.items()]
    less = [(f"{row.label}, minus ours", row.experiment, "deep_mnist") for row in recorded]
    rows += cells_of_rows(collected, exhibit, recorded, MEASURES, less=less)
    return Result(cells=tuple(rows), text=TEXT, commands=tuple(dict.fromkeys(commands)))


#: Share of the training → the paper's row.
STAGES = dict(zip(TRAINED, ("250,000 steps", "500,000 steps", "750,000 steps", "1,000,000 steps"), strict=True))
_STAGES_TEXT = (
    "MNIST, with features after one, two, three and four quarters of one training of the autoencoder{steps}. The "
    "paper's row of 1,000,000 steps has the numbers of its Table 2, for which its text says 100,000 steps."
)


def table_3(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """The table's cells, a row for each stage and method; the last stage is that of Table 2."""
    rows: list[Cell] = []
    commands: list[str] = []
    for trained, paper in STAGES.items():
        whole = trained == TRAINED[-1]
        at, name = (collected, "deep_mnist") if whole else (collected.at({"data.trained": trained}), "deep_trained")
        of_methods = [Row(f"{name}{ending}", paper=f"{paper}, {method}", with_answers=False)
                      for ending, method in list(METHODS.items())[1:]]  # fmt: skip
        less = [(f"{paper}, DDPM minus DPM", name, f"{name}_dpm")]
        rows += cells_of_rows(at, exhibit, of_methods, MEASURES, less=less)
        commands += collected.commands_of(*(of.experiment for of in of_methods))
    return Result(cells=tuple(rows), text=_STAGES_TEXT.format(steps=_steps()), commands=tuple(dict.fromkeys(commands)))


def _steps(path: Path = DATA / FOLDER / "mnist" / "training.csv") -> str:
    """Number of steps and held-out errors of the training; empty if it has not been run."""
    if not path.is_file():
        return ""
    rows = pd.read_csv(path)
    errors = ", ".join(f"{error:.4f}" for error in rows["held_out_error"])
    return f" ({int(rows['steps'].iloc[-1])} steps in all; squared error on held-out items: {errors})"


#: Row → experiment, and whether it has answers.
CROWD_ROWS = {
    "deep DPM": ("deep_crowd", True),
    "deep DPM, no answers": ("deep_mnist", False),
    "DPM": ("deep_crowd_dpm", True),
    "DPM, no answers": ("deep_mnist_dpm", False),
    "BayesSCDC": ("mnist_bayes_crowd", True),
    "BayesSCDC, no answers": ("mnist_bayes_none", False),
}
#: Experiments that are not in profile laptop, but can be run by ``make record``.
OPTIONAL = ("deep_crowd", "deep_crowd_dpm")
_CROWD_LESS = (
    ("deep DPM: with answers minus without", "deep_crowd", "deep_mnist"),
    ("DPM: with answers minus without", "deep_crowd_dpm", "deep_mnist_dpm"),
    ("BayesSCDC minus deep DPM, with answers", "mnist_bayes_crowd", "deep_crowd"),
)
_CROWD_MEASURES: dict[str, Measure] = {
    "accuracy": metric("test/acc"), "nmi": metric("test/nmi"), "clusters": metric("clusters/occupied"),
}  # fmt: skip
_OF_ANNOTATORS: dict[str, Measure] = {
    "error of sensitivity": metric("workers/sensitivity_mae"),
    "error of specificity": metric("workers/specificity_mae"),
}
_CROWD_TEXT = (
    "MNIST, scores of the test images, with the 57,330 real answers of 48 annotators. Deep DPM and DPM (deep DPM "
    "without training of the flow) use the codes of Table 2 as features. The answers follow the two-coin model, and "
    "the rates of the annotators are drawn in every sweep. BayesSCDC uses the pixels. Errors are mean absolute errors "
    "over the annotators."
)


def crowd(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """A row for each method with answers and without."""
    rows = [Row(experiment, label, with_answers=answers) for label, (experiment, answers) in CROWD_ROWS.items()]
    cells = cells_of_rows(collected, exhibit, rows, _CROWD_MEASURES, _OF_ANNOTATORS, _CROWD_LESS)
    experiments = (experiment for experiment, _ in CROWD_ROWS.values())
    return Result(tuple(cells), _CROWD_TEXT, commands=collected.commands_of(*experiments))
