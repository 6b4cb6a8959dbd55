"""A start without answers: round clusters where the features lie in such, else communities of neighbours.

How well K-means' clusters lie apart their mean silhouette says (Rousseeuw 1987): above one half there is a structure
(Kaufman & Rousseeuw 1990), and its maximum gives K. Below that clusters have no such simple shape, and what hangs
together in the graph of nearest neighbours is one, which says their number too (starts/neighbours.py).
"""

import numpy as np
from jaxtyping import Float, Int
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from threadpoolctl import threadpool_limits

from semicrowd.starts.neighbours import communities

#: Mean silhouette of a clustering that has found something, and items that it is measured on.
_APART, _MEASURED = 0.5, 2000
#: Starts of k-means.
_TRIES = 3


def clusters_of_features(
    features: Float[np.ndarray, "N D"], num_clusters: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, "N"], str]:
    """At most ``num_clusters`` clusters of the items, and what they are in a few words.

    Parameters
    ----------
    features : columns on one scale
    """
    silhouette, clusters = _round_clusters(features, num_clusters, rng)
    said = f"silhouette of k-means {silhouette:.2f}"
    if silhouette > _APART:
        return clusters, f"{said}: its {clusters.max() + 1} clusters"
    clusters = communities(features, num_clusters, rng)
    return clusters, f"{said}, too little: {clusters.max() + 1} communities of neighbours"


def _round_clusters(
    features: np.ndarray, num_clusters: int, rng: np.random.Generator
) -> tuple[float, Int[np.ndarray, "N"]]:
    """The k-means clusters of the highest mean silhouette, and that."""
    best = -1.0, np.zeros(len(features), np.int64)
    measured = rng.permutation(len(features))[:_MEASURED]
    with threadpool_limits(1):
        for K in range(2, min(num_clusters, len(features) - 1) + 1):
            found = KMeans(K, n_init=_TRIES, random_state=int(rng.integers(2**31))).fit_predict(features)
            if 1 < len(np.unique(found[measured])) < len(measured):
                silhouette = float(silhouette_score(features[measured], found[measured]))
                best = max(best, (silhouette, found.astype(np.int64)), key=lambda one: one[0])
    return best
