"""Nearest neighbours among up to a million items, in a time that grows with their number and not with its square.

k-means divides the items into cells, and items of a cell are compared with the items of the cells whose centres are
nearest to its own: an inverted file (Jégou, Douze & Schmid 2011), but with the same cells looked up for all items of
a cell, so that distances are matrix products. Each item is compared with :data:`MAX_COMPARED` others; with no more
items than that the search is exact, and with a few more it misses hardly any neighbour.

The alternative, graphs of neighbours (HNSW), is slower and less accurate on round clusters (docs/BENCHMARKS.md).
"""

import warnings
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from semicrowd.random import stream

#: Items that an item is compared with, at most.
MAX_COMPARED = 10_000
#: Items of a cell on average.
_ITEMS_PER_CELL = 250
#: Items for each cell that k-means is fitted to.
_KMEANS_ITEMS_PER_CELL = 50
#: Iterations of k-means: cells need not be optimal.
_KMEANS_SWEEPS = 5


class Nearest:
    """Search among the rows of ``features``."""

    def __init__(self, features: Float[np.ndarray, "N D"]) -> None:
        self.features = features
        self.kmeans: KMeans | None = None
        if len(features) > MAX_COMPARED:
            rng = stream(0, "nearest")
            number = len(features) // _ITEMS_PER_CELL
            sample = features[np.sort(rng.permutation(len(features))[: _KMEANS_ITEMS_PER_CELL * number])]
            seed = int(rng.integers(2**31))
            self.kmeans = KMeans(number, init="random", n_init=1, max_iter=_KMEANS_SWEEPS, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # identical items: fewer cells
                self.kmeans.fit(sample)
            self.cells = self.kmeans.predict(features)

    def others(self, number: int) -> Int[np.ndarray, "N number"]:
        """Rows of each item's nearest neighbours, the item itself left out."""
        found = np.empty((len(self.features), number), np.int64)
        for candidates, rows in self._batches(self.features):
            near = self._among(candidates, self.features[rows], number + 1)
            own = near == rows[:, None]
            own[:, -1] |= ~own.any(1)  # more identical items than neighbours: drop the last
            found[rows] = near[~own].reshape(len(rows), number)
        return found

    def of(self, points: Float[np.ndarray, "n D"], number: int) -> Int[np.ndarray, "n number"]:
        """Rows of each point's nearest neighbours."""
        neighbours = np.empty((len(points), number), np.int64)
        for candidates, rows in self._batches(points):
            neighbours[rows] = self._among(candidates, points[rows], number)
        return neighbours

    def _among(self, candidates: np.ndarray, points: np.ndarray, number: int) -> np.ndarray:
        search = NearestNeighbors(n_neighbors=number, algorithm="brute").fit(self.features[candidates])
        return candidates[search.kneighbors(points, return_distance=False)]

    def _batches(self, points: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows of items to compare with, and rows of the ``points`` to compare."""
        if self.kmeans is None:
            yield np.arange(len(self.features)), np.arange(len(points))
            return
        centers = self.kmeans.cluster_centers_
        asked = _by_cell(self.cells if points is self.features else self.kmeans.predict(points), len(centers))
        there = _by_cell(self.cells, len(centers))
        sizes = np.array([len(items) for items in there])
        for cell in np.flatnonzero([len(rows) for rows in asked]):
            near = euclidean_distances(centers[[cell]], centers)[0].argsort(kind="stable")
            enough = int(np.searchsorted(sizes[near].cumsum(), MAX_COMPARED)) + 1
            yield np.concatenate([there[one] for one in near[:enough]])[:MAX_COMPARED], asked[cell]


def _by_cell(cells: Int[np.ndarray, "n"], number: int) -> list[Int[np.ndarray, "m"]]:
    """The rows of each cell."""
    ends = np.bincount(cells, minlength=number).cumsum()
    return np.split(np.argsort(cells, kind="stable"), ends[:-1])
