"""A start without answers: round clusters where the features lie in such, else communities of neighbours.

How well K-means' clusters lie apart their mean silhouette says (Rousseeuw 1987): above one half there is a structure
(Kaufman & Rousseeuw 1990), and its maximum gives K. Below that clusters have no such simple shape, and what hangs
together in the graph of nearest neighbours is one, which says their number too (starts/neighbours.py).
"""

import math
import warnings

import numpy as np
from jaxtyping import Float, Int
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import silhouette_score
from threadpoolctl import threadpool_limits

from semicrowd.starts.neighbours import communities

#: Mean silhouette of a clustering that has found something.
_APART = 0.5
#: Items that it is measured on: its cost is quadratic.
_MEASURED = 2000
#: Starts of k-means.
_TRIES = 3
#: Items that k-means finds its centres on.
_SEEN = 5_000
#: Numbers of clusters up to which each is tried; of larger ones every fifth part more: silhouettes change little there.
_EACH = 16


def clusters_of_features(
    features: Float[np.ndarray, "N D"], num_clusters: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, "N"], str]:
    """At most ``num_clusters`` clusters of the items, and what they are in a few words.

    Parameters
    ----------
    features : columns on one scale
    """
    silhouette, clusters = round_clusters(features, num_clusters, rng)
    said = f"silhouette of k-means {silhouette:.2f}"
    if silhouette > _APART:
        return clusters, f"{said}: its {clusters.max() + 1} clusters"
    clusters = communities(features, num_clusters, rng)
    return clusters, f"{said}, too little: {clusters.max() + 1} communities of neighbours"


def round_clusters(
    features: np.ndarray, num_clusters: int, rng: np.random.Generator
) -> tuple[float, Int[np.ndarray, "N"]]:
    """The k-means clusters of the highest mean silhouette, and that.

    Centres are found on a sample, which is all items until there are many; then all items go to the nearest.
    """
    drawn = rng.permutation(len(features))
    measured, seen = features[drawn[:_MEASURED]], features[np.sort(drawn[:_SEEN])]
    best, chosen = -1.0, None
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # items in fewer than K places: fewer clusters
        for K in _numbers(min(num_clusters, len(features) - 1)):
            found = KMeans(K, n_init=_TRIES, random_state=int(rng.integers(2**31))).fit(seen)
            clusters = found.predict(measured)
            if 1 < len(np.unique(clusters)) < len(measured):
                silhouette = float(silhouette_score(measured, clusters))
                if silhouette > best:
                    best, chosen = silhouette, found
        clusters = np.zeros(len(features)) if chosen is None else chosen.predict(features)
    return best, clusters.astype(np.int64)


def _numbers(most: int) -> list[int]:
    """Numbers of clusters that are tried."""
    found = list(range(2, min(most, _EACH) + 1))
    while found and found[-1] < most:
        found.append(min(most, math.ceil(1.2 * found[-1])))
    return found
