"""DP-means: k-means with a penalty for each cluster (Kulis & Jordan 2012, "Revisiting k-means", ICML)."""

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
        None, "λ, the penalty of a cluster, a squared distance; null: from K by farthest-first traversal",
        number(above=0),
        optional=True,
    )  # fmt: skip
    max_iter: int = setting(100, "maximal number of passes over the items", whole(1))


class DPMeans(DPMeansParameters, NearestCentre):
    """The limit of a Dirichlet process mixture of Gaussians whose variance goes to 0.

    Minimises Σ_i |x_i − μ_{z_i}|² + λ K over assignments, centres and K, starting with one cluster at the mean of all
    items. An item whose squared distance to all centres exceeds λ becomes a new centre. The method is deterministic,
    but depends on the order of the items.

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

    Starting with the mean of all items, the item furthest from all selected points is selected, ``number`` times; λ is
    the squared distance of the last one. If all items are equal, λ is the smallest positive number.

    Parameters
    ----------
    features : [N, D]
    """
    distance = ((features - features.mean(0)) ** 2).sum(1)
    for _ in range(number - 1):
        distance = np.minimum(distance, ((features - features[distance.argmax()]) ** 2).sum(1))
    return max(float(distance.max()), np.finfo(float).tiny)


def _assigned(features: np.ndarray, centers: np.ndarray, penalty: float) -> np.ndarray:
    """Assign the items in turn to the nearest centre, or make an item a new centre; no cluster is empty afterwards."""
    costs = cdist(features, centers, "sqeuclidean")
    labels, cost, number = costs.argmin(1), costs.min(1), len(centers)
    item = 0
    while (cost[item:] > penalty).any():
        item += int((cost[item:] > penalty).argmax())
        closer = ((features - features[item]) ** 2).sum(1)
        moved = closer < cost
        moved[:item] = False  # these items have already been assigned in this pass
        labels[moved], cost[moved], number = number, closer[moved], number + 1
    return np.unique(labels, return_inverse=True)[1]
