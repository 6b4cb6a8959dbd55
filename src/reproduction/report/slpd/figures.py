"""What the SLPD paper's tables and figure are made of: trials of other stages than src/train.py, and a curve."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import dendrogram, linkage
from sklearn.preprocessing import scale

from reproduction.report.engine import Image, drawn
from reproduction.report.tables import Row
from semicrowd.data.benchmark import load_benchmark
from semicrowd.figures.style import COLOURS, new_figure, tidy
from semicrowd.files import read_object

#: Folder of recorded trials: the index of each fold (csv) and its provenance (json).
RECORDED = Path("recorded/slpd")


def prepare(runs: pd.DataFrame, results: Path) -> pd.DataFrame:
    """Add a row for each fold of each trial (``data`` = trials), each data set's size and each run of the curve."""
    frames = []
    for path in sorted(RECORDED.glob("*.csv")):
        origin = read_object(path.with_suffix(".json"))
        about = {"recorded": True, "commit": origin["git_commit"], "command": origin["command"], "folder": ""}
        frames.append(_trials(path).assign(**about, experiment=f"../slpd/{path.stem}"))
    place = results / "slpd"
    frames += [_trials(path) for path in sorted(place.glob("*.csv")) if path.stem not in ("sizes", "curve")]
    if (place / "sizes.csv").is_file():
        sizes = pd.read_csv(place / "sizes.csv").rename(columns={"data": "data.which"})
        frames.append(sizes.assign(data="sizes", seed=0))
    if (place / "curve.csv").is_file():
        curve = pd.read_csv(place / "curve.csv").rename(columns={"run": "seed"})
        means = curve.groupby(["labels", "clusters"])["log_likelihood"].mean().unstack()
        peaks = pd.DataFrame({"labels": means.index, "peak": means.idxmax(axis=1).to_numpy(float), "seed": 0})
        own = curve.loc[curve.groupby(["labels", "seed"])["log_likelihood"].idxmax(), ["labels", "seed", "clusters"]]
        frames += [one.assign(data="curve") for one in (curve, peaks, own.rename(columns={"clusters": "own_peak"}))]
    about = {"recorded": False, "status": "finished", "commit": "", "command": "dvc repro slpd", "message": "",
             "folder": f"{place.as_posix()}/trials"}  # fmt: skip
    added = [frame.assign(**{name: value for name, value in about.items() if name not in frame}) for frame in frames]
    return pd.concat([runs, *added], ignore_index=True)


def _trials(path: Path) -> pd.DataFrame:
    rows = pd.read_csv(path).rename(columns={"trial": "seed", "fold": "data.fold", "clusters": "told"})
    return rows.assign(data="trials", **{"data.which": path.stem})


def wine(rows: Sequence[Row], folder: Path) -> list[Image]:
    """Fig. 2: held-out log-likelihood by number of clusters, and the dendrogram."""
    points = [row for row in rows if row.key == "curve" and row.has_runs]
    if not points:
        return []
    figure = new_figure(10, 4.2, "wine")
    axes, tree = figure.subplots(1, 2)
    for rank, labels in enumerate(dict.fromkeys(row.at[0] for row in points)):
        mine = {int(row.at[1]): number for row in points
                if row.at[0] == labels and (number := row.number("log-likelihood")) is not None}  # fmt: skip
        errors = [(one.sd or 0) / np.sqrt(one.n) for one in mine.values()]
        axes.errorbar(list(mine), [one.mean for one in mine.values()], errors, marker="o", ms=4, capsize=3,
                      color=COLOURS[rank], label=f"labels of {labels}")  # fmt: skip
    tidy(axes, "", "clusters K", "mean ln p of a held-out wine, nats")
    axes.legend(fontsize=9, frameon=False)
    features = scale(load_benchmark(which="wine").features.astype(np.float64))
    dendrogram(linkage(features, "average", "correlation"), p=12, truncate_mode="lastp", ax=tree, no_labels=False,
               color_threshold=0, above_threshold_color=COLOURS[0])  # fmt: skip
    tidy(tree, "", "number of wines of a branch", "1 − correlation")
    shown = pd.concat([number.runs for row in points if (number := row.number("log-likelihood")) is not None])
    worst = f"standard error of draws at most {shown['error'].max():.2f}"
    caption = f"Wine: held-out log-likelihood against K ({worst}), and dendrogram."
    return drawn(figure, folder, "slpd-wine", caption, [shown])
