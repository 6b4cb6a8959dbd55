"""G-means: k-means clusters are split until each is approximately Gaussian (Hamerly & Elkan 2003, NIPS).

Li et al. 2022 use this name, citing Zhao et al. 2008, for the method that determines the number of clusters of k-means.
"""

from typing import Any

import numpy as np
from scipy.special import log_ndtr
from sklearn.cluster import KMeans

from semicrowd.estimators.base import progress
from semicrowd.methods.unsupervised import NearestCentre

#: Anderson-Darling statistic above which a cluster is split: level .0001.
_CRITICAL = 1.8692
#: Clusters, and rounds of splits, at most.
_MOST_CLUSTERS, _MOST_ROUNDS = 1000, 100
#: Clusters with fewer items are not tested.
_FEWEST = 8
#: Maximal number of iterations of k-means in a round: with hundreds of clusters more are a waste, as splits move the
#: centres further. A round without splits is repeated until k-means has converged.
_PER_ROUND = 30


class GMeans(NearestCentre):
    """k-means starting with one cluster; a cluster is split in two if its items are not Gaussian between their centres.

    The two initial centres are on both sides of the cluster's centre, along its principal axis. The Anderson-Darling
    test, at level .0001, is applied to the items projected on the line between the two final centres (Hamerly & Elkan
    2003). The number of clusters is estimated; the method is deterministic; answers are ignored.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters_, n_features)
    n_iter_ : int
        Rounds of tests, of which ``history_`` has the number of clusters.
    """

    n_iter_: int

    def __init__(self, *, random_state: Any = 0, verbose: Any = False) -> None:
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, features: np.ndarray) -> None:
        centers = features.mean(0, keepdims=True)
        for number in progress(range(1, _MOST_ROUNDS + 1), "rounds", self.verbose):
            self.history_.append({"epoch": number, "clusters": len(centers)})
            model = KMeans(
                len(centers), init=centers, n_init=1, max_iter=_PER_ROUND, random_state=self.seed_
            ).fit(features)  # fmt: skip
            # Items sorted by cluster.
            order = np.argsort(model.labels_, kind="stable")
            sizes = np.bincount(model.labels_, minlength=len(centers))
            parts = np.split(features[order], np.cumsum(sizes)[:-1])
            split = [self._split(part, center) for part, center in zip(parts, model.cluster_centers_, strict=True)]
            centers = model.cluster_centers_
            same = all(len(one) == 1 for one in split)
            if (same and model.n_iter_ < _PER_ROUND) or sum(map(len, split)) > min(_MOST_CLUSTERS, len(features)):
                break
            centers = np.concatenate(split)
        self.cluster_centers_, self.n_iter_ = centers, len(self.history_)

    def _split(self, items: np.ndarray, center: np.ndarray) -> np.ndarray:
        """The centre of a cluster, or the centres of the two clusters into which it is split."""
        if len(items) < _FEWEST:
            return center[None]
        variances, axes = np.linalg.eigh(np.cov(items, rowvar=False).reshape(items.shape[1], items.shape[1]))
        if variances[-1] <= 1e-12 * max(float(np.abs(items).max()) ** 2, np.finfo(float).tiny):
            return center[None]
        step = axes[:, -1] * np.sqrt(2 * variances[-1] / np.pi)
        two = KMeans(2, init=np.stack([center + step, center - step]), n_init=1, random_state=self.seed_).fit(items)
        first, second = two.cluster_centers_
        statistic = anderson_darling(items @ (first - second))
        return two.cluster_centers_ if statistic > _CRITICAL else center[None]


def anderson_darling(values: np.ndarray) -> float:
    """Anderson-Darling statistic of normality of values [n], mean and variance unknown: A² (1 + 4/n − 25/n²)."""
    n = len(values)
    standard = np.sort(values - values.mean()) / values.std(ddof=1)
    odd = 2 * np.arange(1, n + 1) - 1
    squared = -n - float((odd * (log_ndtr(standard) + log_ndtr(-standard[::-1]))).mean())
    return squared * (1 + 4 / n - 25 / n**2)
