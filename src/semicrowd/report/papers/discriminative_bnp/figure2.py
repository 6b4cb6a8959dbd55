"""Fig. 2: two chains of Gaussians."""

from pathlib import Path

import numpy as np

from semicrowd.data import load_dataset
from semicrowd.figures.panels import Panel, draw
from semicrowd.pipeline.experiments import DATA
from semicrowd.pipeline.run_files import read_clusters, read_partitions
from semicrowd.report.cells import Cell, summarise
from semicrowd.report.exhibits import Exhibit, Image, Result
from semicrowd.report.experiments import protocol_of
from semicrowd.report.papers.discriminative_bnp.sampled import cells
from semicrowd.report.runs import Collected, Run

EXPERIMENTS = {"bnp_chains_dpm": "DPM", "bnp_chains_ddpm_l": "DDPM-L", "bnp_chains_ddpm_s": "DDPM-S"}
IMAGE = Path("figures/bnp-chains.png")
TEXT = (
    "300 points, two parallel chains of five round Gaussians each; a cluster's prior covariance is {scatter} of the "
    "variance of all points along each axis, the same for all three methods. The paper gives no numbers of its points "
    "and prior. It says that DPM would find the chains with the right covariance, and with as large a one as the "
    "points' own ours does, too. The panels show the point estimates of the first run."
)


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """K, NMI and how many chains end with two clusters; the points and what was found."""
    rows: list[Cell] = []
    panels: list[Panel] = []
    scatter = "a share"
    for experiment, method in EXPERIMENTS.items():
        rows += cells(collected, experiment, exhibit, method, quantities=("clusters", "nmi"))
        for run in collected.finished(experiment)[:1]:
            found = number_of_clusters(run)
            share = f"{method}, chains that end with K = 2, of {len(found)}"
            rows.append(
                Cell(share, "clusters", ours=summarise([float((found == 2).sum())], [run.seed]),
                     deviations=protocol_of([run], exhibit, with_answers=False))
            )  # fmt: skip
            options = {key: value for key, value in run.config["data"].items() if key != "name"}
            data = load_dataset("benchmark", DATA, run.seed, **options)
            assert data.labels is not None
            panels = panels or [Panel("the two chains", data.features, data.labels)]
            clusters = read_clusters(Path(run.directory))
            panels.append(Panel(f"{method}: {len(np.unique(clusters))} clusters", data.features, clusters))
            scatter = f"{run.config['model']['scatter']:g}"
    if panels:
        draw("Two chains of Gaussians: clusters found", panels, folder / IMAGE)
    return Result(
        cells=tuple(rows), text=TEXT.format(scatter=scatter),
        images=(Image(IMAGE, f"Two chains: {'; '.join(panel.title for panel in panels)}."),) if panels else (),
        commands=collected.commands_of(*EXPERIMENTS),
    )  # fmt: skip


def number_of_clusters(run: Run) -> np.ndarray:
    """K of each chain after its last sweep."""
    samples = read_partitions(Path(run.directory))
    last = samples.sweep == samples.sweep.max()
    return samples.partitions[last].max(1) + 1
