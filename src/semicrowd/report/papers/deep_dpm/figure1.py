"""Fig. 1: two synthetic sets, their images under the flow, and the clusters found."""

from pathlib import Path

import numpy as np

from semicrowd.estimators.persistence import load
from semicrowd.figures.plane import Panel, draw_panels
from semicrowd.files import MODEL
from semicrowd.report.cells import Cell, Summary
from semicrowd.report.exhibits import Exhibit, Image, Result
from semicrowd.report.experiments import Measure, Row, cells_of_rows, data_of, metric, paired, protocol_of, remarks_on
from semicrowd.report.runs import Collected, Run

SETS = {"gaussians": "three long Gaussians", "moons": "two moons"}
EXPERIMENTS = {"deep_{}_deep_dpm": "deep DPM", "deep_{}_dpm": "DPM, as many sweeps"}
_MEASURES: dict[str, Measure] = {
    "acc": metric("train/acc"), "nmi": metric("train/nmi"), "clusters": metric("clusters/occupied")
}
#: ACC from which on the clusters count as correct.
FOUND = 0.95
#: Radius of the circles, in standard deviations of the Gaussians.
_DEVIATIONS = 2.0
TEXT = (
    "Two-dimensional points, standardised. Both sets have the same settings, and the number of clusters is not given. "
    "The paper does not give its points, priors and training. The panels show the run of the first seed: the points "
    "after the flow, coloured by class, and the clusters found. Circles around the Gaussians have a radius of two "
    "standard deviations. DPM is deep DPM with a flow that takes no step; it has the same prior, start, moves and "
    "number of sweeps."
)


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """ACC, NMI and K over the seeds, and in how many of them the clusters are found."""
    rows: list[Cell] = []
    images: list[Image] = []
    for kind, name in SETS.items():
        for pattern, method in EXPERIMENTS.items():
            experiment = pattern.format(kind)
            row = Row(experiment, f"{name}, {method}", with_answers=False)
            rows += cells_of_rows(collected, exhibit, [row], _MEASURES)
            runs = collected.finished(experiment)
            if runs:
                found = sum(run.metrics["train/acc"] >= FOUND for run in runs)
                seeds = [run.seed for run in runs]
                rows.append(
                    Cell(f"{name}, {method}, number of seeds of {len(runs)} with ACC >= {FOUND}", "count",
                         ours=Summary(float(found), None, tuple(seeds)),
                         remark="; ".join(remarks_on(collected, experiment)),
                         deviations=protocol_of(runs, exhibit, with_answers=False))
                )  # fmt: skip
        first, second = (pattern.format(kind) for pattern in EXPERIMENTS)
        rows += paired(collected, f"{name}, deep DPM minus DPM", first, second, _MEASURES)
        for run in collected.finished(f"deep_{kind}_deep_dpm")[:1]:
            images.append(draw_run(run, name, folder, Path(f"figures/deep-dpm-{kind}.png")))
    commands = collected.commands_of(*(pattern.format(kind) for kind in SETS for pattern in EXPERIMENTS))
    return Result(cells=tuple(rows), text=TEXT, images=tuple(images), commands=commands)


def draw_run(run: Run, name: str, folder: Path, path: Path) -> Image:
    """The flow's space after each epoch that was saved, and the clusters at the end."""
    x, labels = data_of(run)
    model = load(Path(run.directory) / MODEL)
    panels = [Panel(f"{name}: the points", model.scaler_.transform(x), labels)]
    panels += [Panel(f"after {epoch} epochs", model.transform(x, epoch), labels) for epoch in model.epochs_]
    circles = np.column_stack([model.means_, _DEVIATIONS / np.sqrt(model.precisions_)])
    panels.append(Panel(f"{model.n_clusters_} clusters found", model.transform(x), model.predict(x), circles))
    draw_panels(f"{name}: the flow's space", panels, folder / path)
    return Image(path, f"{name}, seed {run.seed}: {'; '.join(panel.title for panel in panels)}.")
