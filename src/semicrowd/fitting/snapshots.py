"""What the clusters generate while a model trains (SCDC paper, Fig. 4a)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semicrowd.files import write_atomic

FILE = "snapshots.npz"


@dataclass(frozen=True)
class Snapshots:
    """Clusters after E epochs, each of the restart that was best by the ELBO at the time.

    Attributes
    ----------
    epochs : [E] in their order; 0 is the start, before the first step
    weights : [E, K] expected mixing proportions
    samples : [E, K, D] mean of one sample of every cluster, from the same draw after every epoch
    """

    epochs: np.ndarray
    weights: np.ndarray
    samples: np.ndarray


def write_snapshots(snapshots: Snapshots, directory: Path) -> None:
    """Write ``snapshots.npz`` into a run directory, whole or not at all."""

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez_compressed(file, **vars(snapshots))

    write_atomic(directory / FILE, write)


def read_snapshots(directory: Path) -> Snapshots | None:
    """Those of a run directory, None where it has none."""
    path = directory / FILE
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as content:
        return Snapshots(**content)
