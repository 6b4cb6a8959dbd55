"""Fig. 4a of the SCDC paper: what the 50 clusters generate while BayesSCDC trains on MNIST."""

from pathlib import Path

from semicrowd.figures.style import save
from semicrowd.figures.training_samples import in_use, training_samples
from semicrowd.fitting.snapshots import read_snapshots
from semicrowd.report.cells import Cell, summarise
from semicrowd.report.exhibits import Exhibit, Image, Result
from semicrowd.report.experiments import protocol_of, remarks_on
from semicrowd.report.runs import Collected

#: Protocol → the experiment with snapshots.
EXPERIMENTS = {"paper": "mnist_paper_bayes_crowd", "semicrowd": "mnist_bayes_crowd"}
IMAGE_SHAPE = (28, 28)


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """A figure of each protocol's first finished run, and its numbers of clusters in use."""
    cells: list[Cell] = []
    images: list[Image] = []
    for protocol, experiment in EXPERIMENTS.items():
        more_cells, more_images = _of_experiment(exhibit, collected, protocol, experiment, folder)
        cells += more_cells
        images += more_images
    return Result(
        cells=tuple(cells),
        text=(
            "One sample of every cluster after some epochs: a column is a cluster, a row an epoch, and an image is as "
            "bright as its cluster's proportion is large beside the largest of that epoch. Protocol paper starts at "
            "random, as the paper's figure does; protocol semicrowd starts from a partition of a VAE's latent means "
            "that the answers have joined, so that few clusters are left from the start. The cells count the clusters "
            "with a proportion of 0.5 % or more. The paper prints no numbers for this figure. The settings of protocol "
            "semicrowd are those of Table 1, which see."
        ),
        images=tuple(images),
        commands=collected.commands_of(*EXPERIMENTS.values()),
    )


def _of_experiment(
    exhibit: Exhibit, collected: Collected, protocol: str, experiment: str, folder: Path
) -> tuple[list[Cell], list[Image]]:
    """Cells and image of one protocol: of its first finished run, or why there are none."""
    runs, remarks = collected.finished(experiment)[:1], remarks_on(collected, experiment)
    snapshots = read_snapshots(Path(runs[0].directory)) if runs else None
    if snapshots is None:
        remark = "; ".join(["its run has kept no snapshots"] if runs else remarks)
        return [Cell(f"protocol {protocol}", "clusters", remark=remark)], []
    run = runs[0]
    epochs = [int(epoch) for epoch in snapshots.epochs]
    cells = [
        Cell(
            cell=f"protocol {protocol}, {f'after epoch {epoch}' if epoch else 'at the start'}",
            quantity="clusters",
            ours=summarise([in_use(weights)], [run.seed]),
            remark="simulated answers" if "simulated answers" in remarks else "",
            deviations=protocol_of(runs, exhibit, with_answers=True),
        )
        for epoch, weights in zip(epochs, snapshots.weights, strict=True)
    ]
    path = Path(f"figures/mnist-training-{protocol}.png")
    title = f"MNIST, BayesSCDC with answers, protocol {protocol}, seed {run.seed}: generated while training"
    save(training_samples(snapshots, IMAGE_SHAPE, title), folder / path)
    after = ", ".join(str(epoch) for epoch in epochs if epoch)
    caption = (
        f"{title}. A row for {'the start and ' if 0 in epochs else ''}after epochs {after}; "
        f"{snapshots.weights.shape[1]} clusters by their last proportion, a column each."
    )
    return cells, [Image(path, caption)]
