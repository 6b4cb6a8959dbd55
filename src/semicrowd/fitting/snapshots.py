"""Samples that the clusters generate while a model trains (SCDC paper, Fig. 4a)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from semicrowd.data.arrays import read_npz
from semicrowd.files import write_arrays

FILE = "snapshots.npz"


@dataclass(frozen=True)
class Snapshots:
    """Clusters after each of E epochs, in the restart that had the highest ELBO after this epoch.

    Attributes
    ----------
    epochs : ascending; 0 is the state before the first step
    weights : expected mixing proportions
    samples : mean E[o | x] for one x drawn from every cluster, with the same random stream after every epoch
    """

    epochs: Int[np.ndarray, "E"]
    weights: Float[np.ndarray, "E K"]
    samples: Float[np.ndarray, "E K D"]


def write_snapshots(snapshots: Snapshots, directory: Path) -> None:
    """Write ``snapshots.npz`` into a run directory, atomically."""
    write_arrays(directory / FILE, vars(snapshots))


def read_snapshots(directory: Path) -> Snapshots | None:
    """The snapshots of a run directory; None if it has none."""
    path = directory / FILE
    if not path.is_file():
        return None
    return Snapshots(**read_npz(path))
