"""G-means: k-means clusters are split until each is approximately Gaussian (Hamerly & Elkan 2003, NIPS).

Li et al. 2022 use this name, citing Zhao et al. 2008, for the method that determines the number of clusters of k-means.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr
from sklearn.cluster import KMeans

from semicrowd.methods.unsupervised import NearestCentre
from semicrowd.settings.fields import number, setting, whole
from semicrowd.settings.parameters import Parameters

#: Clusters with fewer items are not tested.
_FEWEST = 8
#: Maximal number of iterations of k-means in a round: with hundreds of clusters more are a waste, as splits move the
#: centres further. A round without splits is repeated until k-means has converged.
_PER_ROUND = 30


@dataclass(eq=False, repr=False, kw_only=True)
class GMeansParameters(Parameters):
    """Parameters of :class:`GMeans`."""

    critical: float = setting(
        1.8692, "Anderson-Darling statistic above which a cluster is split; 1.8692: level .0001", number(above=0)
    )
    most: int = setting(1000, "maximal number of clusters", whole(1))
    max_iter: int = setting(100, "maximal number of rounds of splits", whole(1))


class GMeans(GMeansParameters, NearestCentre):
    """k-means starting with one cluster; a cluster is split in two if its items are not Gaussian between their centres.

    The two initial centres are on both sides of the cluster's centre, along its principal axis. The test is applied to
    the items projected on the line between the two final centres. The method is deterministic.

    Attributes
    ----------
    cluster_centers_ : [K, D]
    n_iter_ : rounds of tests
    """

    def _learn(self, features: np.ndarray) -> None:
        centers = features.mean(0, keepdims=True)
        self.n_iter_ = 0
        for _ in range(self.max_iter):
            self.n_iter_ += 1
            model = KMeans(
                len(centers), init=centers, n_init=1, max_iter=_PER_ROUND, random_state=self.seed_
            ).fit(features)  # fmt: skip
            # Items sorted by cluster.
            order = np.argsort(model.labels_, kind="stable")
            sizes = np.bincount(model.labels_, minlength=len(centers))
            parts = np.split(features[order], np.cumsum(sizes)[:-1])
            split = [
                self._split(part, center) for part, center in zip(parts, model.cluster_centers_, strict=True)
            ]
            centers = model.cluster_centers_
            same = all(len(one) == 1 for one in split)
            if (same and model.n_iter_ < _PER_ROUND) or sum(map(len, split)) > min(self.most, len(features)):
                break
            centers = np.concatenate(split)
        self.cluster_centers_ = centers

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
        return two.cluster_centers_ if statistic > self.critical else center[None]


def anderson_darling(values: np.ndarray) -> float:
    """Anderson-Darling statistic of normality of values [n], mean and variance unknown: A² (1 + 4/n − 25/n²)."""
    n = len(values)
    standard = np.sort(values - values.mean()) / values.std(ddof=1)
    odd = 2 * np.arange(1, n + 1) - 1
    squared = -n - float((odd * (log_ndtr(standard) + log_ndtr(-standard[::-1]))).mean())
    return squared * (1 + 4 / n - 25 / n**2)
