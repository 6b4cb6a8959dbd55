"""Table 2: G-means, DPM and deep DPM on four sets, and what the paper leaves out."""

from pathlib import Path

from semicrowd.pipeline.deep_spaces import SPACES
from semicrowd.report.cells import Cell
from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.experiments import cells_of_experiment, paired
from semicrowd.report.papers.deep_dpm.sets import MEASURES, METHODS, ROWS
from semicrowd.report.papers.deep_dpm.spaces import NAMES, cells, read_scores
from semicrowd.report.runs import Collected

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


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
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
    for experiment, label in RECORDED_ROWS.items():
        rows += cells_of_experiment(
            collected, experiment, exhibit, "MNIST, DDPM", MEASURES, with_answers=False, label=label
        )
    literal = [paired(collected, f"{label} less ours", name, "deep_mnist", MEASURES)
               for name, label in RECORDED_ROWS.items()]  # fmt: skip
    rows += [cell for cells_of in literal for cell in cells_of]
    return Result(cells=tuple(rows), text=TEXT, commands=tuple(dict.fromkeys(commands)))
