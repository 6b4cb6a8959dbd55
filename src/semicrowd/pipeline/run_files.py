"""Reads clusters and annotators back from run directories."""

import csv
import json
from pathlib import Path

import numpy as np


def read_clusters(directory: Path) -> np.ndarray:
    """Cluster of every training item, [N], as in ``assignments.csv`` (annotated items with their answers)."""
    with (directory / "assignments.csv").open(newline="", encoding="utf-8") as file:
        return np.array([int(row["cluster"]) for row in csv.DictReader(file)])


def read_num_items(directory: Path) -> int:
    """Number of training items, as in ``provenance.json``."""
    return int(json.loads((directory / "provenance.json").read_text(encoding="utf-8"))["num_items"])


def read_workers(directory: Path) -> dict[str, np.ndarray]:
    """Columns of ``workers.csv``, [M] each, but for the names; NaN where a cell is empty."""
    with (directory / "workers.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = [name for name in rows[0] if name != "annotator"]
    return {name: np.array([float(row[name] or "nan") for row in rows]) for name in columns}


def read_restart_clusters(directory: Path) -> np.ndarray:
    """Cluster of every item from its features alone under each restart, [R, N]."""
    with np.load(directory / "restart_assignments.npz", allow_pickle=False) as content:
        return content["clusters"]
