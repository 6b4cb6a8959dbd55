"""G-means: k-means whose clusters are split until each looks Gaussian (Hamerly & Elkan 2003, NIPS).

Li et al. 2022 call by this name, citing Zhao et al. 2008, the method that k-means' number of clusters is found by.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr
from sklearn.cluster import KMeans

from semicrowd.methods.unsupervised import NearestCentre
from semicrowd.settings.fields import number, setting, whole
from semicrowd.settings.parameters import Parameters

#: Fewest items of a cluster that is tested at all.
_FEWEST = 8


@dataclass(eq=False, repr=False, kw_only=True)
class GMeansParameters(Parameters):
    """Parameters of :class:`GMeans`."""

    critical: float = setting(
        1.8692, "Anderson-Darling statistic from which a cluster is split; 1.8692: significance .0001", number(above=0)
    )
    most: int = setting(1000, "clusters; no round of splits goes beyond it", whole(1))
    max_iter: int = setting(100, "rounds of splits, fewer where no cluster is split", whole(1))


class GMeans(GMeansParameters, NearestCentre):
    """k-means from one cluster on: a cluster becomes two while its items are not Gaussian along the line between them.

    The two begin on both sides of the cluster's centre along its principal axis. Nothing is drawn at random.

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
            model = KMeans(len(centers), init=centers, n_init=1, random_state=self.seed_).fit(features)
            # In the order of the clusters, a cluster's items side by side.
            order = np.argsort(model.labels_, kind="stable")
            sizes = np.bincount(model.labels_, minlength=len(centers))
            parts = np.split(features[order], np.cumsum(sizes)[:-1])
            found = [
                self._split(part, center) for part, center in zip(parts, model.cluster_centers_, strict=True)
            ]
            centers = model.cluster_centers_
            if all(len(one) == 1 for one in found) or sum(map(len, found)) > min(self.most, len(features)):
                break
            centers = np.concatenate(found)
        self.cluster_centers_ = centers

    def _split(self, items: np.ndarray, center: np.ndarray) -> np.ndarray:
        """The centre of a cluster, or those of the two that it becomes."""
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
    """A² of "values [n] are Gaussian, mean and variance unknown", for finite n: A² (1 + 4/n − 25/n²)."""
    n = len(values)
    standard = np.sort(values - values.mean()) / values.std(ddof=1)
    odd = 2 * np.arange(1, n + 1) - 1
    squared = -n - float((odd * (log_ndtr(standard) + log_ndtr(-standard[::-1]))).mean())
    return squared * (1 + 4 / n - 25 / n**2)
