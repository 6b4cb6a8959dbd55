"""Reads the files of run directories back."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Int

from semicrowd.data.arrays import read_npz


def read_clusters(directory: Path) -> np.ndarray:
    """Cluster of every training item, [N], from ``assignments.csv``; those of annotated items depend on the answers."""
    return pd.read_csv(directory / "assignments.csv")["cluster"].to_numpy()


def read_num_items(directory: Path) -> int:
    """Number of training items, as in ``provenance.json``."""
    return int(json.loads((directory / "provenance.json").read_text(encoding="utf-8"))["num_items"])


def read_restart_clusters(directory: Path) -> np.ndarray:
    """Cluster of every item from its features alone under each restart, [R, N]."""
    return read_npz(directory / "restart_assignments.npz")["clusters"]


class Partitions(NamedTuple):
    """Content of ``partitions.npz``: partitions, and the chain and sweep of each partition."""

    partitions: Int[np.ndarray, "S N"]
    chain: Int[np.ndarray, "S"]
    sweep: Int[np.ndarray, "S"]


def read_partitions(directory: Path) -> Partitions:
    """The partitions that a sampler's run has kept."""
    content = read_npz(directory / "partitions.npz")
    return Partitions(*(content[name] for name in Partitions._fields))
