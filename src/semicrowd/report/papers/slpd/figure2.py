"""Fig. 2 of the SLPD paper: wine, held-out log-likelihood against the number of clusters, and a dendrogram."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import dendrogram, linkage
from sklearn.preprocessing import scale

from semicrowd.data import load_dataset
from semicrowd.figures.style import COLOURS, new_figure, tidy
from semicrowd.pipeline.experiments import DATA
from semicrowd.pipeline.slpd.curve import LABELLED, PATH
from semicrowd.report.cells import Cell, PaperValue, Summary, summarise
from semicrowd.report.collect import Collected
from semicrowd.report.exhibits import Exhibit, Result, drawn

IMAGE = Path("figures/slpd-wine.png")
#: Numbers of clusters at which the paper has its peaks.
PEAKS = tuple(
    PaperValue(f"peak of the mean curve, labels of {labelled}", "clusters", peak)
    for labelled, peak in (("none", 4), ("one class", 3), ("all", 3))
)
TEXT = (
    "The curve is the mean ln p of a held-out wine, over 28 of them, estimated with draws of the proportions (section "
    "6.2). The first row for each number of labels gives the peak of the mean curve over n runs. The next rows give "
    "the curve, as mean and standard deviation over runs in nats. The last row says how many runs have the peak of "
    "their own curve at which K. The dendrogram shows the last 12 joins of average linkage, with the distance 1 − "
    "correlation between standardised wines."
)


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no run of train.py
    """Peaks and curves; without the file of the curves, empty cells."""
    if not PATH.is_file():
        return Result(tuple(Cell(v.cell, v.quantity, v, remark="not run in this profile") for v in exhibit.values))
    rows = pd.read_csv(PATH)
    cells: list[Cell] = []
    for value, labelled in zip(exhibit.values, LABELLED, strict=True):
        table = rows[rows["labels"] == labelled].pivot(index="run", columns="clusters", values="log_likelihood")
        runs = [int(run) for run in table.index]
        peak = float(table.mean().idxmax())
        cells.append(Cell(value.cell, "clusters", value, Summary(peak, None, tuple(runs))))
        cells += [
            Cell(f"labels of {labelled}, K = {k}", "log-likelihood, nats", ours=summarise(column.to_list(), runs))
            for k, column in table.items()
        ]
        own = table.idxmax(axis=1).value_counts().sort_index()
        counts = ", ".join(f"K = {k}: {count}" for k, count in own.items())
        cells.append(Cell(f"labels of {labelled}, peaks of single runs", "runs", remark=counts))
    worst = rows["error"].max()
    caption = f"Wine: held-out log-likelihood against K (standard error of draws at most {worst:.2f}), and dendrogram."
    image = drawn(draw(rows), folder, IMAGE, caption)
    return Result(tuple(cells), TEXT, (image,), ("python -m semicrowd.pipeline.slpd.curve",))


def draw(rows: pd.DataFrame) -> Figure:
    """Both panels."""
    figure = new_figure(10, 4.2, "wine")
    curve, tree = figure.subplots(1, 2)
    for number, labelled in enumerate(LABELLED):
        of = rows[rows["labels"] == labelled].groupby("clusters")["log_likelihood"]
        error = of.sem().fillna(0)
        curve.errorbar(of.mean().index, of.mean(), error, marker="o", ms=4, capsize=3, color=COLOURS[number],
                       label=f"labels of {labelled}")  # fmt: skip
    tidy(curve, "", "clusters K", "mean ln p of a held-out wine, nats")
    curve.legend(fontsize=9, frameon=False)
    features = scale(load_dataset("benchmark", DATA, which="wine").features.astype(np.float64))
    dendrogram(linkage(features, "average", "correlation"), p=12, truncate_mode="lastp", ax=tree, no_labels=False,
               color_threshold=0, above_threshold_color=COLOURS[0])  # fmt: skip
    tidy(tree, "", "number of wines of a branch", "1 − correlation")
    return figure
