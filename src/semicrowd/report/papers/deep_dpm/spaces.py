"""What the stage ``deep_spaces`` has written: scores of other methods in both spaces, and the first run's pictures."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from semicrowd.pipeline.deep_spaces import COLUMNS, FOLDER
from semicrowd.report.cells import Cell, Summary, summarise
from semicrowd.report.papers.deep_dpm.paper_values import QUANTITIES
from semicrowd.report.runs import Collected

#: Method of the stage → its name here.
NAMES = {
    "kmeans": "k-means told the K that deep DPM has found", "kmeans, oracle": "k-means told the true K (oracle)",
    "bgmm": "variational Dirichlet process mixture (scikit-learn)", "gmeans": "G-means",
}  # fmt: skip
#: Whose first run Figs. 3 and 4 are of.
PICTURED = "deep_mnist"


class Picture(NamedTuple):
    """Of the first run: its arrays, None before the stage has run; its seed, if it is there; commands."""

    arrays: dict[str, np.ndarray] | None
    seeds: list[int]
    commands: tuple[str, ...]


def read_picture(collected: Collected, name: str, folder: Path = FOLDER) -> Picture:
    """What the stage has written of the first run under a name."""
    path = folder / PICTURED / f"{name}.npz"
    commands = (*collected.commands_of(PICTURED), f"python -m semicrowd.pipeline.deep_spaces {PICTURED}")
    seeds = [run.seed for run in collected.finished(PICTURED)[:1]]
    if not path.is_file():
        return Picture(None, seeds, commands)
    with np.load(path, allow_pickle=False) as content:
        return Picture(dict(content), seeds, commands)


def read_scores(experiment: str, which: str, folder: Path = FOLDER) -> pd.DataFrame:
    """Scores on one data set; empty before the stage has run."""
    path = folder / experiment / "scores.csv"
    if not path.is_file():
        return pd.DataFrame(columns=COLUMNS)
    scores = pd.read_csv(path)
    return scores[scores["which"] == which]


def cells(scores: pd.DataFrame, data: str, space: str, method: str) -> list[Cell]:
    """A cell for each measure and for K, mean over the runs; none before the stage has run."""
    rows = scores[(scores["space"] == space) & (scores["method"] == method)]
    label = f"{data}, {NAMES[method]}, {space}'s space"
    return [Cell(label, quantity, ours=_summary(rows, quantity)) for quantity in (*QUANTITIES, "clusters") if len(rows)]


def _summary(rows: pd.DataFrame, quantity: str) -> Summary | None:
    return summarise(rows[quantity].astype(float).tolist(), rows["seed"].astype(int).tolist())
