"""The images with the highest cluster probabilities, for each cluster (SCDC paper, Fig. 4b)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semicrowd.data.arrays import read_npz
from semicrowd.files import write_arrays
from semicrowd.fitting.result import Assignment
from semicrowd.metrics import USED_SHARE

FILE = "likeliest.npz"
#: Number of images of each cluster.
_IMAGES = 10
#: Maximal number of clusters.
_MOST = 25


@dataclass(frozen=True)
class Likeliest:
    """k clusters in use, the largest first.

    Attributes
    ----------
    clusters : [k] numbers of the clusters
    share : [k] share of all items in each cluster
    probability : [k, 10] cluster probability of each image, the highest first; NaN if a cluster has fewer images
    images : [k, 10, D] pixels; white if a cluster has fewer images
    """

    clusters: np.ndarray
    share: np.ndarray
    probability: np.ndarray
    images: np.ndarray

    @classmethod
    def of(cls, assignment: Assignment, images: np.ndarray) -> "Likeliest":
        """Select from images [N, D] with values from 0 to 1; clusters below 0.5 % of the items are left out."""
        share = np.bincount(assignment.cluster) / len(images)
        order = [int(k) for k in np.argsort(-share, kind="stable") if share[k] >= USED_SHARE][:_MOST]
        probability = np.full((len(order), _IMAGES), np.nan)
        shown = np.ones((len(order), _IMAGES, images.shape[1]), np.float32)
        for row, k in enumerate(order):
            items = np.flatnonzero(assignment.cluster == k)
            items = items[np.argsort(-assignment.probability[items], kind="stable")[:_IMAGES]]
            probability[row, : len(items)] = assignment.probability[items]
            shown[row, : len(items)] = images[items]
        return cls(np.array(order), share[order], probability, shown)

    def write(self, directory: Path) -> None:
        """Write ``likeliest.npz`` into a run directory, whole or not at all."""
        write_arrays(directory / FILE, {**vars(self), "images": self.images.astype(np.float16)})

    @classmethod
    def read(cls, directory: Path) -> "Likeliest | None":
        """Read ``likeliest.npz`` of a run directory; None if there is none."""
        path = directory / FILE
        if not path.is_file():
            return None
        return cls(**read_npz(path))
