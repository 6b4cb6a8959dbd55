"""Clusters of features alone and a posterior over their number K: communities as fine as chance allows, but no finer.

How many communities the graph of nearest neighbours has depends on a resolution γ (Reichardt & Bornholdt 2006). It is
set by data without clusters. A Gaussian cloud with the number, dimension and covariance of the items is one community
up to some γ; above, Louvain's method (Blondel et al. 2008) cuts it, although there is nothing to cut: modularity is
high in graphs without communities, too (Guimerà, Sales-Pardo & Amaral 2004). As in the gap statistic (Tibshirani,
Walther & Hastie 2001), such clouds are the reference. The window W of a cloud are those γ at which it has two or three
communities, where cuts without a reason begin. A cluster that is a share f of the items is cut at a higher γ than the
cloud, about 1 / f times it, because modularity compares edges with γ times the squared share; so clusters are still
whole in W. The votes

    v(K) = P(the items have K communities | cloud ~ N(0, covariance), log γ ~ uniform on W),  2 ≤ K ≤ max_clusters,

over clouds and orders of Louvain's method say how precisely this rule determines K. One cluster is not among the
answers. The classes that people see are less determined: some have no gap between them, some have several parts. So

    p(K) = (1 - w) v(K) + w Σ_J v(J) exp(-|log K - log J| / s) / Z_J,   w = MISSED, s = FACTOR,

where Z_J makes the kernel of J sum to 1. With these constants the probability of the most probable K is about the share
of data sets in which it is the number of classes. Of the partitions with this K that one is returned which agrees most
with the other ones, by the adjusted Rand index. A few thousand items are used; others follow their nearest neighbours.
"""

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from semicrowd.inference.neighbours import (
    NUM_NEIGHBOURS,
    communities,
    largest_first,
    louvain,
    neighbour_graph,
)

#: Items of the graphs, at most.
ITEMS = 3000
#: Clouds, and resolutions in the window of each.
CLOUDS, RESOLUTIONS = 8, 6
#: In the window a cloud has at least the first number of communities, and fewer than the second. On development data
#: windows from (1.5, 2.5) to (3, 4) give a mean NMI of .507 to .519 and the number of classes in 24 to 33 %.
WINDOW = (2, 4)
#: All resolutions are in this range, and an end of a window is found by this number of bisections.
RANGE, BISECTIONS = (0.02, 4.0), 7
#: Weight of classes that are not communities, and by which factor their number differs: exp(FACTOR) on average. Chosen
#: by the log probability of the number of classes in eight development data sets.
MISSED, FACTOR = 0.5, 0.5


def clusters_of_features(
    x: Float[np.ndarray, "N D"], max_clusters: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, "N"], dict[int, float]]:
    """Clusters, the largest first, and the probability of each number of clusters from 2 to ``max_clusters``.

    Parameters
    ----------
    x : principal components, so that their covariance is diagonal; two items at least. If all are the same, or so few
        that the graph has one community at any resolution, there may be one cluster, which counts as a vote for two.
    """
    rows = np.sort(rng.permutation(len(x))[:ITEMS])
    sample = x[rows]
    with threadpool_limits(1):
        partitions = _partitions(sample, max_clusters, rng)
        counts = np.array([_number(labels) for labels in partitions])
        posterior = posterior_of(counts, max_clusters)
        number = max(counts.tolist(), key=lambda count: posterior.get(count, 0.0))
        labels = _medoid([partitions[one] for one in np.flatnonzero(counts == number)])
        if len(rows) < len(x):
            labels = KNeighborsClassifier(NUM_NEIGHBOURS).fit(sample, labels).predict(x)
    return largest_first(labels), posterior


def posterior_of(counts: Int[np.ndarray, "n"], max_clusters: int) -> dict[int, float]:
    """p(K) of the module's docstring, where ``counts`` are draws of the number of communities."""
    numbers = np.arange(2, max_clusters + 1)
    votes = np.bincount(counts.clip(2, max_clusters), minlength=max_clusters + 1)[2:] / len(counts)
    kernel = np.exp(-np.abs(np.subtract.outer(np.log(numbers), np.log(numbers))) / FACTOR)
    probabilities = (1 - MISSED) * votes + MISSED * (kernel / kernel.sum(0)) @ votes
    return dict(zip(numbers.tolist(), probabilities.tolist(), strict=True))


def _partitions(x: np.ndarray, max_clusters: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Communities of the items at resolutions from the windows of clouds; one partition at least."""
    graph, scale = neighbour_graph(x, NUM_NEIGHBOURS), x.std(0)
    partitions = []
    for _ in range(CLOUDS):
        cloud = neighbour_graph(rng.standard_normal(x.shape) * scale, NUM_NEIGHBOURS)
        low, high = (_first_resolution(cloud, number, rng) for number in WINDOW)
        for position in (np.arange(RESOLUTIONS) + 0.5) / RESOLUTIONS:
            partitions.append(louvain(graph, low * (max(high, low) / low) ** position, rng))
    possible = [labels for labels in partitions if 2 <= _number(labels) <= max_clusters]
    return possible or [communities(x, max_clusters, rng)]


def _first_resolution(graph: sparse.csr_matrix, number: int, rng: np.random.Generator) -> float:
    """The resolution from which on the graph has ``number`` communities."""
    low, high = np.log(RANGE)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if _number(louvain(graph, float(np.exp(middle)), rng)) >= number:
            high = middle
        else:
            low = middle
    return float(np.exp((low + high) / 2))


def _number(labels: np.ndarray) -> int:
    return int(labels.max()) + 1


def _medoid(partitions: list[np.ndarray]) -> np.ndarray:
    agreement = [sum(adjusted_rand_score(one, other) for other in partitions) for one in partitions]
    return partitions[int(np.argmax(agreement))]
