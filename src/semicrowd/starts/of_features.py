"""A start without answers: k-means clusters if they are well separated, else communities of the neighbour graph.

The mean silhouette (Rousseeuw 1987) measures the separation of k-means clusters: above one half there is a reasonable
structure (Kaufman & Rousseeuw 1990), and its maximum determines K. Below one half clusters are not round, and
communities of the graph of nearest neighbours are used, which also determine K (starts/neighbours.py).
"""

import math
import warnings

import numpy as np
from jaxtyping import Float, Int
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import silhouette_samples
from threadpoolctl import threadpool_limits

from semicrowd.starts.neighbours import communities

#: Mean silhouette from which on k-means clusters are used.
_MIN_SILHOUETTE = 0.5
#: Items that the silhouette is measured on, at most: its time grows with their square.
_SILHOUETTE_ITEMS = 2000
#: Initialisations of k-means.
_KMEANS_STARTS = 3
#: Items that k-means is fitted to, at most.
_KMEANS_ITEMS = 5_000
#: Every K up to this is tried; beyond it steps of 20 %, since silhouettes change little there.
_TRY_EVERY_K_TO = 16


def clusters_of_features(
    features: Float[np.ndarray, "N D"], num_clusters: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, "N"], str]:
    """At most ``num_clusters`` clusters of the items, and a short description of how they were made.

    Parameters
    ----------
    features : columns on one scale
    """
    silhouette, clusters = round_clusters(features, num_clusters, rng)
    description = f"silhouette of k-means {silhouette:.2f}"
    if silhouette > _MIN_SILHOUETTE:
        return clusters, f"{description}: its {clusters.max() + 1} clusters"
    clusters = communities(features, num_clusters, rng)
    return clusters, f"{description}, too little: {clusters.max() + 1} communities of neighbours"


def round_clusters(
    features: np.ndarray, num_clusters: int, rng: np.random.Generator
) -> tuple[float, Int[np.ndarray, "N"]]:
    """The highest mean silhouette over K, and its k-means clusters.

    Centres are fitted to a sample (all items, if they are few); then all items go to the nearest centre.
    """
    drawn = rng.permutation(len(features))
    rows, fitted = drawn[:_SILHOUETTE_ITEMS], np.sort(drawn[:_KMEANS_ITEMS])
    measured, sample = features[rows], features[fitted]
    best, chosen = -1.0, None
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer than K distinct items: fewer clusters
        for K in _numbers(min(num_clusters, len(features) - 1)):
            kmeans = KMeans(K, n_init=_KMEANS_STARTS, random_state=int(rng.integers(2**31)))
            kmeans.fit(sample)
            clusters = kmeans.predict(measured)
            if 1 < len(np.unique(clusters)) < len(measured):
                silhouette = float(np.average(silhouette_samples(measured, clusters)))
                if silhouette > best:
                    best, chosen = silhouette, kmeans
        clusters = np.zeros(len(features)) if chosen is None else chosen.predict(features)
    return best, clusters.astype(np.int64)


def _numbers(most: int) -> list[int]:
    numbers = list(range(2, min(most, _TRY_EVERY_K_TO) + 1))
    while numbers and numbers[-1] < most:
        numbers.append(min(most, math.ceil(1.2 * numbers[-1])))
    return numbers
