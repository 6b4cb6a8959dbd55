"""The graph of nearest neighbours and its communities, groups of items with many edges among themselves.

Neighbours of up to a million items are found in a time that grows with their number and not with its square. k-means
divides the items into cells, and items of a cell are compared with the items of the cells whose centres are nearest to
its own: an inverted file (Jégou, Douze & Schmid 2011), but with the same cells looked up for all items of a cell, so
that distances are matrix products. Each item is compared with :data:`MAX_COMPARED` others; with no more items than that
the search is exact, and with a few more it misses hardly any neighbour. Graphs of neighbours (HNSW) are
slower and less accurate on round clusters (docs/results.md).
"""

import math
import warnings
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import NearestCentroid, NearestNeighbors
from sknetwork.clustering import Louvain, get_modularity
from threadpoolctl import threadpool_limits

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
    ends = np.bincount(cells, minlength=number).cumsum()
    return np.split(np.argsort(cells, kind="stable"), ends[:-1])


#: Neighbours of an item in the graph of :func:`communities`.
NUM_NEIGHBOURS = 15
#: Initialisations of Louvain's method. On MNIST modularity varies by .003 between them, whatever the number of items.
_LOUVAIN_STARTS = 5
#: Items up to which all of these are run; beyond it their number falls in proportion, to one at least.
_FULL_STARTS_UP_TO = 60_000
#: The resolution is multiplied by this while there are too many communities.
_RESOLUTION_FACTOR = 0.7
#: Lower bound of the resolution.
_MIN_RESOLUTION = 0.05


def neighbour_graph(
    features: Float[np.ndarray, "N D"], number: int, views: Float[np.ndarray, "N D"] | None = None
) -> sparse.csr_matrix:
    """Symmetric [N, N]: in how many of the two directions an item is a nearest neighbour of another, or of its view.

    Parameters
    ----------
    number : neighbours of an item
    views : a view of each item (models/views.py), known to be in the item's cluster, or None
    """
    number = min(number, len(features) - 1)
    with threadpool_limits(1):
        nearest = Nearest(features)
        graph = _graph_of(nearest.others(number))
        if views is not None:
            graph = graph + _graph_of(nearest.of(views, number))
    graph = sparse.csr_matrix(graph + graph.T)
    graph.setdiag(0)
    graph.eliminate_zeros()
    return graph


def _graph_of(nearest: Int[np.ndarray, "N n"]) -> sparse.csr_matrix:
    items, number = nearest.shape
    ends = np.arange(0, items * number + 1, max(number, 1))[: items + 1]
    return sparse.csr_matrix((np.ones(nearest.size), nearest.ravel(), ends), shape=(items, items))


def communities(
    features: Float[np.ndarray, "N D"],
    num_clusters: int,
    rng: np.random.Generator,
    views: Float[np.ndarray, "N D"] | None = None,
) -> Int[np.ndarray, "N"]:
    """Communities of high modularity (Newman & Girvan 2004), the largest first, at most ``num_clusters``.

    By Louvain's method (Blondel et al. 2008). While there are too many, the resolution is lowered; if the graph has
    more connected components than ``num_clusters``, items of the smallest go to the nearest mean of the others.

    Parameters
    ----------
    views : see :func:`neighbour_graph`
    """
    graph = neighbour_graph(features, NUM_NEIGHBOURS, views)
    resolution, tries = 1.0, math.ceil(_LOUVAIN_STARTS * min(1.0, _FULL_STARTS_UP_TO / len(features)))
    while True:
        tried = [louvain(graph, resolution, rng) for _ in range(tries)]
        best = max(tried, key=lambda one: get_modularity(graph, one, resolution=resolution))
        resolution *= _RESOLUTION_FACTOR
        if len(np.unique(best)) <= num_clusters or resolution < _MIN_RESOLUTION:
            break
    return _at_most(num_clusters, features, best)


def louvain(graph: sparse.csr_matrix, resolution: float, rng: np.random.Generator) -> Int[np.ndarray, "N"]:
    """Communities by one run of Louvain's method, numbered from 0."""
    method = Louvain(resolution=resolution, shuffle_nodes=True, random_state=int(rng.integers(2**31)))
    found: np.ndarray = method.fit_predict(graph)
    return found


def largest_first(labels: Int[np.ndarray, "N"]) -> Int[np.ndarray, "N"]:
    """The same clusters, numbered by their number of items from 0, the largest."""
    _, clusters, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return np.argsort(np.argsort(-sizes, kind="stable"))[clusters].astype(np.int64)


def _at_most(num_clusters: int, features: Float[np.ndarray, "N D"], labels: np.ndarray) -> Int[np.ndarray, "N"]:
    """Clusters, the largest first; items of those beyond ``num_clusters`` go to the nearest mean of the others."""
    clusters = largest_first(labels)
    kept = clusters < num_clusters
    if not kept.all():
        clusters[~kept] = NearestCentroid().fit(features[kept], clusters[kept]).predict(features[~kept])
    return clusters
