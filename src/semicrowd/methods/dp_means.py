"""DP-means: k-means in which a cluster has a price (Kulis & Jordan 2012, "Revisiting k-means", ICML)."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from semicrowd.methods.ckm import block_means
from semicrowd.methods.unsupervised import NearestCentre
from semicrowd.settings.fields import number, setting, whole
from semicrowd.settings.parameters import CountedParameters


@dataclass(eq=False, repr=False, kw_only=True)
class DPMeansParameters(CountedParameters):
    """Parameters of :class:`DPMeans`."""

    penalty: float | None = setting(
        None, "of a cluster, a squared distance (their lambda); null: by farthest-first from K", number(above=0),
        optional=True,
    )  # fmt: skip
    max_iter: int = setting(100, "passes over the items, fewer where the clusters have settled", whole(1))


class DPMeans(DPMeansParameters, NearestCentre):
    """The limit of a Dirichlet process mixture of Gaussians whose variance goes to 0.

    Minimises Σ_i |x_i − μ_{z_i}|² + λ K over assignments, centres and K, from one cluster around the mean of all items.
    An item that is further than λ (a squared distance) from all centres becomes one. Nothing is drawn at random, but
    the items are taken in their order.

    Attributes
    ----------
    cluster_centers_ : [K, D]
    penalty_ : λ, given or by farthest-first
    objective_history_ : after each of its ``n_iter_`` passes
    """

    def _learn(self, features: np.ndarray) -> None:
        self.penalty_ = farthest_first(features, self.n_clusters) if self.penalty is None else self.penalty
        centers, labels = features.mean(0, keepdims=True), np.full(len(features), -1)
        self.objective_history_: list[float] = []
        for _ in range(self.max_iter):
            before, labels = labels, _assigned(features, centers, self.penalty_)
            centers, _ = block_means(features, labels)
            within = ((features - centers[labels]) ** 2).sum()
            self.objective_history_.append(float(within + self.penalty_ * len(centers)))
            if np.array_equal(before, labels):
                break
        self.cluster_centers_, self.n_iter_ = centers, len(self.objective_history_)


def farthest_first(features: np.ndarray, number: int) -> float:
    """λ for an expected number of clusters (Kulis & Jordan 2012, section 5).

    From the mean of all items on, the item furthest from what has been taken is taken, ``number`` times; λ is the
    squared distance of the last one. Where all items are alike, it is the smallest positive number.

    Parameters
    ----------
    features : [N, D]
    """
    distance = ((features - features.mean(0)) ** 2).sum(1)
    for _ in range(number - 1):
        distance = np.minimum(distance, ((features - features[distance.argmax()]) ** 2).sum(1))
    return max(float(distance.max()), np.finfo(float).tiny)


def _assigned(features: np.ndarray, centers: np.ndarray, penalty: float) -> np.ndarray:
    """The nearest centre of each item in turn, which is an item itself where all others are too far; none is empty."""
    costs = cdist(features, centers, "sqeuclidean")
    labels, cost, number = costs.argmin(1), costs.min(1), len(centers)
    item = 0
    while (cost[item:] > penalty).any():
        item += int((cost[item:] > penalty).argmax())
        closer = ((features - features[item]) ** 2).sum(1)
        moved = closer < cost
        moved[:item] = False  # their turn is over
        labels[moved], cost[moved], number = number, closer[moved], number + 1
    return np.unique(labels, return_inverse=True)[1]
