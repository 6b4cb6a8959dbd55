"""What other methods find in the autoencoder's space and in the flow's, as the stage ``deep_spaces`` has written it."""

from pathlib import Path

import pandas as pd

from semicrowd.pipeline.deep_spaces import COLUMNS, FOLDER
from semicrowd.report.cells import Cell, Summary, summarise
from semicrowd.report.papers.deep_dpm.paper_values import QUANTITIES

#: Method of the stage → its name here.
NAMES = {
    "kmeans": "k-means told the K that deep DPM has found", "kmeans, oracle": "k-means told the true K (oracle)",
    "bgmm": "variational Dirichlet process mixture (scikit-learn)", "gmeans": "G-means",
}  # fmt: skip


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
