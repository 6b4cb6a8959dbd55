"""The images that a method is surest of, cluster by cluster (SCDC paper, Fig. 4b)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semicrowd.files import write_arrays
from semicrowd.fitting.result import Assignment
from semicrowd.metrics import USED_SHARE

FILE = "likeliest.npz"
#: Images of a cluster.
_IMAGES = 10
#: Clusters, at most.
_MOST = 25


@dataclass(frozen=True)
class Likeliest:
    """k clusters in use, the largest first.

    Attributes
    ----------
    clusters : [k] their numbers
    share : [k] of the items
    probability : [k, 10] of each image's cluster, the highest first; NaN where a cluster has fewer images
    images : [k, 10, D]; white where a cluster has fewer
    """

    clusters: np.ndarray
    share: np.ndarray
    probability: np.ndarray
    images: np.ndarray

    @classmethod
    def of(cls, assignment: Assignment, images: np.ndarray) -> "Likeliest":
        """Of the clusters of images [N, D] with values from 0 to 1; clusters of less than 0.5 % are left out."""
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
        """Those of a run directory, None where it has none."""
        path = directory / FILE
        if not path.is_file():
            return None
        with np.load(path, allow_pickle=False) as content:
            return cls(**content)
