"""DP-means: k-means with a penalty for each cluster (Kulis & Jordan 2012, "Revisiting k-means", ICML)."""

import numpy as np
from scipy.spatial.distance import cdist

from semicrowd.methods.ckm import block_means
from semicrowd.methods.unsupervised import NearestCentre

#: Passes over the items, at most.
_MOST_PASSES = 100


class DPMeans(NearestCentre):
    """The limit of a Dirichlet process mixture of Gaussians whose variance goes to 0; answers are ignored.

    Minimises Σ_i |x_i − μ_{z_i}|² + λ K over assignments, centres and K, starting with one cluster at the mean of all
    items (Kulis & Jordan 2012). An item whose squared distance to all centres exceeds λ becomes a new centre. λ is that
    of ``n_clusters`` points by farthest-first traversal. The method is deterministic, but depends on the order of the
    items.

    Parameters
    ----------
    n_clusters : int, default=4
        Number that is aimed at, and no maximum.
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters_, n_features)
    penalty_ : float
        λ.
    n_iter_ : int
        Passes over the items, of which ``history_`` has the objective.
    """

    penalty_: float
    n_iter_: int

    def _learn(self, features: np.ndarray) -> None:
        self.penalty_ = farthest_first(features, self.n_clusters)
        self.cluster_centers_, objectives = dp_means(features, self.penalty_)
        self.history_ = [{"epoch": number, "objective": value} for number, value in enumerate(objectives, 1)]
        self.n_iter_ = len(objectives)


def dp_means(features: np.ndarray, penalty: float) -> tuple[np.ndarray, list[float]]:
    """Centres [K, D] for λ = ``penalty``, and the objective after each pass."""
    centers, labels = features.mean(0, keepdims=True), np.full(len(features), -1)
    objectives: list[float] = []
    for _ in range(_MOST_PASSES):
        before, labels = labels, _assigned(features, centers, penalty)
        centers, _ = block_means(features, labels)
        within = ((features - centers[labels]) ** 2).sum()
        objectives.append(float(within + penalty * len(centers)))
        if np.array_equal(before, labels):
            break
    return centers, objectives


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
