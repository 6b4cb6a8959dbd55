"""Tables 2 and 3: G-means, DPM and deep DPM; how long the autoencoder was trained; and the crowd's answers as links."""

from pathlib import Path

import pandas as pd

from semicrowd.data.encoded import FOLDER
from semicrowd.pipeline.deep_spaces import SPACES
from semicrowd.pipeline.experiments import DATA
from semicrowd.report.cells import Cell
from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.experiments import Measure, Row, cells_of_experiment, cells_of_rows, metric, paired
from semicrowd.report.papers.deep_dpm.paper import MEASURES, METHODS, ROWS
from semicrowd.report.papers.deep_dpm.spaces import NAMES, cells, read_scores
from semicrowd.report.runs import Collected
from semicrowd.settings.sources import TRAINED

#: What ``make record`` alone runs: the paper's schedule and prior, with either reading of its eq. 19.
RECORDED_ROWS = {
    "deep_mnist_schedule": "MNIST, DDPM; the paper's schedule and prior, eq. 19 corrected",
    "deep_mnist_schedule_printed": "MNIST, DDPM; the paper's schedule and prior, eq. 19 as printed",
}
TEXT = (
    "ARI, pairwise F1 and V (the mutual information over the mean of the entropies, NMI) of the training items, and "
    "K, the clusters that have an item. DPM is the same with a flow that takes no step: prior, start, moves and "
    "number of sweeps are those of deep DPM, unlike the paper's (docs/DEVIATIONS.md). Both are scored by every "
    "item's most probable cluster. All runs of a data set have the same features; seeds are those of the clustering. "
    "Beside the paper's methods stand k-means, told the K that deep DPM has found and, marked oracle, the true one, "
    "scikit-learn's variational Dirichlet process mixture of at most 25 Gaussians and G-means, in the autoencoder's "
    "space and in that of the trained flow. WISDM's activities and R8's four largest subjects are public and stand in "
    "the place of HHAR and REU-10K: their numbers are not to be compared with the paper's, only their order. Two rows "
    "on MNIST have the paper's schedule and prior, one for each reading of eq. 19, the density of a new cluster: as "
    "printed, κ₀ counts once and not once for each of the 10 columns, which makes a new cluster e^24 times as likely "
    "as the model has it; the paper's α may suit that reading alone. They take longer than a profile allows: "
    "recorded/runs has their numbers, and the arguments that give them."
)


def table_2(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """The table's cells, a row for each data set and method."""
    rows: list[Cell] = []
    commands: list[str] = []
    for row in ROWS:
        at = row.of(collected)
        for ending, method in METHODS.items():
            rows += cells_of_experiment(
                at, f"{row.experiment}{ending}", exhibit, f"{row.name}, {method}", MEASURES, with_answers=False
            )
            commands += collected.commands_of(f"{row.experiment}{ending}")
        rows += paired(at, f"{row.name}, DDPM less DPM", row.experiment, f"{row.experiment}_dpm", MEASURES)
        scores = read_scores(row.experiment, row.which)
        rows += [cell for method in NAMES for space in SPACES for cell in cells(scores, row.name, space, method)]
        if len(scores):
            commands.append(f"python -m semicrowd.pipeline.deep_spaces {row.experiment}")
    recorded = [Row(name, label, "MNIST, DDPM", with_answers=False) for name, label in RECORDED_ROWS.items()]
    less = [(f"{row.label} less ours", row.experiment, "deep_mnist") for row in recorded]
    rows += cells_of_rows(collected, exhibit, recorded, MEASURES, less=less)
    return Result(cells=tuple(rows), text=TEXT, commands=tuple(dict.fromkeys(commands)))


#: Share of the training → the paper's row.
STAGES = dict(zip(TRAINED, ("250,000 steps", "500,000 steps", "750,000 steps", "1000,000 steps"), strict=True))
_STAGES_TEXT = (
    "MNIST, features after a quarter, two, three and all four quarters of one training of the autoencoder{steps}. The "
    "paper's 1,000,000 steps are those of its Table 2, which its text calls 100,000."
)


def table_3(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """The table's cells, a row for each stage and method; the last stage is that of Table 2."""
    rows: list[Cell] = []
    commands: list[str] = []
    for trained, paper in STAGES.items():
        at = collected if trained == TRAINED[-1] else collected.at({"data.trained": trained})
        for ending, method in list(METHODS.items())[1:]:
            experiment = f"deep_{'mnist' if trained == TRAINED[-1] else 'trained'}{ending}"
            rows += cells_of_experiment(at, experiment, exhibit, f"{paper}, {method}", MEASURES, with_answers=False)
            commands += collected.commands_of(experiment)
        name = "deep_mnist" if trained == TRAINED[-1] else "deep_trained"
        rows += paired(at, f"{paper}, DDPM less DPM", name, f"{name}_dpm", MEASURES)
    return Result(cells=tuple(rows), text=_STAGES_TEXT.format(steps=_steps()), commands=tuple(dict.fromkeys(commands)))


def _steps(path: Path = DATA / FOLDER / "mnist" / "training.csv") -> str:
    """What the training says of itself."""
    if not path.is_file():
        return ""
    rows = pd.read_csv(path)
    errors = ", ".join(f"{error:.4f}" for error in rows["held_out_error"])
    return f" ({int(rows['steps'].iloc[-1])} steps in all; squared error on items that it is not trained on: {errors})"


#: Row → its experiment, and whether that has answers.
CROWD_ROWS = {
    "deep DPM": ("deep_crowd", True),
    "deep DPM, no answers": ("deep_mnist", False),
    "DPM": ("deep_crowd_dpm", True),
    "DPM, no answers": ("deep_mnist_dpm", False),
    "BayesSCDC": ("mnist_bayes_crowd", True),
    "BayesSCDC, no answers": ("mnist_bayes_none", False),
}
#: What profile laptop leaves to ``make record``.
OPTIONAL = ("deep_crowd", "deep_crowd_dpm")
_CROWD_LESS = (
    ("deep DPM, with less without answers", "deep_crowd", "deep_mnist"),
    ("DPM, with less without answers", "deep_crowd_dpm", "deep_mnist_dpm"),
    ("BayesSCDC less deep DPM, with", "mnist_bayes_crowd", "deep_crowd"),
)
_CROWD_MEASURES: dict[str, Measure] = {
    "accuracy": metric("test/acc"), "nmi": metric("test/nmi"), "clusters": metric("clusters/occupied"),
}  # fmt: skip
_OF_ANNOTATORS: dict[str, Measure] = {
    "error of sensitivity": metric("workers/sensitivity_mae"),
    "error of specificity": metric("workers/specificity_mae"),
}
_CROWD_TEXT = (
    "MNIST, scores of the test images, with the 57,330 real answers of 48 annotators. Deep DPM and DPM (the same with "
    "a flow that stays as it is) see the codes of Table 2; an answer is a must- or cannot-link of the two-coin model, "
    "whose annotators are drawn in every sweep. BayesSCDC sees the pixels. Errors are mean absolute ones, over the "
    "annotators."
)


def crowd(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """A row for each method with answers and without."""
    rows = [Row(experiment, label, with_answers=answers) for label, (experiment, answers) in CROWD_ROWS.items()]
    cells = cells_of_rows(collected, exhibit, rows, _CROWD_MEASURES, _OF_ANNOTATORS, _CROWD_LESS)
    experiments = (experiment for experiment, _ in CROWD_ROWS.values())
    return Result(tuple(cells), _CROWD_TEXT, commands=collected.commands_of(*experiments))
