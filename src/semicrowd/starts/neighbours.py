"""The graph of nearest neighbours and its communities, groups of items with many edges among themselves."""

import math

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from sklearn.neighbors import NearestCentroid
from sknetwork.clustering import Louvain, get_modularity
from threadpoolctl import threadpool_limits

from semicrowd.starts.nearest import Nearest

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
        methods = [
            Louvain(resolution=resolution, shuffle_nodes=True, random_state=int(rng.integers(2**31)))
            for _ in range(tries)
        ]
        tried = [method.fit_predict(graph) for method in methods]
        best = max(tried, key=lambda one: get_modularity(graph, one, resolution=resolution))
        resolution *= _RESOLUTION_FACTOR
        if len(np.unique(best)) <= num_clusters or resolution < _MIN_RESOLUTION:
            break
    return _at_most(num_clusters, features, best)


def _at_most(num_clusters: int, features: Float[np.ndarray, "N D"], labels: np.ndarray) -> Int[np.ndarray, "N"]:
    """Clusters, the largest first; items of those beyond ``num_clusters`` go to the nearest mean of the others."""
    _, clusters, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    clusters = np.argsort(np.argsort(-sizes, kind="stable"))[clusters]
    kept = clusters < num_clusters
    if not kept.all():
        clusters[~kept] = NearestCentroid().fit(features[kept], clusters[kept]).predict(features[~kept])
    return clusters.astype(np.int64)
