"""The graph of nearest neighbours, and its communities: what hangs together is one kind."""

import math

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from sklearn.neighbors import NearestCentroid
from sknetwork.clustering import Louvain, get_modularity
from threadpoolctl import threadpool_limits

from semicrowd.starts.nearest import Nearest

#: Neighbours of an item that communities look at.
NUMBER = 15
#: Starts of Louvain's method. The modularities of ten digits differ by .003 from start to start, whatever the number of
#: items.
_TRIES = 5
#: Items up to which there are so many starts: of more items fewer in proportion, one at least.
_MANY = 60_000
#: Factor of the resolution where there are too many communities.
_COARSER = 0.7
#: Least resolution that is tried.
_COARSEST = 0.05


def neighbour_graph(
    features: Float[np.ndarray, "N D"], number: int, views: Float[np.ndarray, "N D"] | None = None
) -> sparse.csr_matrix:
    """Symmetric [N, N]: how often one of two items is among the nearest ``number`` others of the other, or of its view.

    Parameters
    ----------
    views : a row for each item that is known to be of its kind (models/views.py), or None
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
    """Communities of the highest modularity found (Newman & Girvan 2004), the largest first, at most ``num_clusters``.

    By Louvain's method (Blondel et al. 2008). Of too many the graph is asked for coarser ones; where it falls into more
    pieces than that, items of the smallest go to the nearest mean of the rest.

    Parameters
    ----------
    views : see :func:`neighbour_graph`
    """
    graph = neighbour_graph(features, NUMBER, views)
    resolution, tries = 1.0, math.ceil(_TRIES * min(1.0, _MANY / len(features)))
    while True:
        methods = [
            Louvain(resolution=resolution, shuffle_nodes=True, random_state=int(rng.integers(2**31)))
            for _ in range(tries)
        ]
        tried = [method.fit_predict(graph) for method in methods]
        found = max(tried, key=lambda one: get_modularity(graph, one, resolution=resolution))
        resolution *= _COARSER
        if len(np.unique(found)) <= num_clusters or resolution < _COARSEST:
            break
    return _at_most(num_clusters, features, found)


def _at_most(num_clusters: int, features: Float[np.ndarray, "N D"], found: np.ndarray) -> Int[np.ndarray, "N"]:
    """The largest clusters first; items of those beyond ``num_clusters`` go to the nearest mean of the rest."""
    _, clusters, sizes = np.unique(found, return_inverse=True, return_counts=True)
    clusters = np.argsort(np.argsort(-sizes, kind="stable"))[clusters]
    kept = clusters < num_clusters
    if not kept.all():
        clusters[~kept] = NearestCentroid().fit(features[kept], clusters[kept]).predict(features[~kept])
    return clusters.astype(np.int64)
