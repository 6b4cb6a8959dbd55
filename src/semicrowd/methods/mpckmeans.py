"""Metric pairwise constrained k-means: Bilenko, Basu & Mooney 2004 (ICML).

k-means that learns a metric from the items and from the links that are violated.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from semicrowd.crowd.links import Links
from semicrowd.errors import UserError
from semicrowd.methods.constrained_kmeans import ConstrainedKMeans, LinkGraph, mean_item_cost
from semicrowd.result import Assignment

#: No eigenvalue of the inverse metric gets smaller than this share of the mean variance of the features.
SMALLEST_VARIANCE = 1e-3

#: Distances are looked at for so many pairs at a time.
CHUNK = 4_000_000
#: Items far out that are compared with each other, at most.
_MOST_FAR_OUT = 5000


class Metric(NamedTuple):
    """A metric, the same for all clusters.

    Attributes
    ----------
    root : L with squared distance |L (x − y)|²; A = LᵀL
    log_determinant : ln |A|
    widest : the largest squared distance between two items
    apart : the difference of these two
    """

    root: Float[np.ndarray, "D D"]
    log_determinant: float
    widest: float
    apart: Float[np.ndarray, "D"]


class MPCKMeans(ConstrainedKMeans):
    """Majority vote over the annotators, then MPCK-means.

    Minimises, over assignments z, centres μ and a metric A (Bilenko, Basu & Mooney 2004, eq. 5, with one metric for all
    clusters; |·| is its distance)::

        Σ_i (|x_i − μ_{z_i}|² − ln |A|) + Σ_{must-links, z_i ≠ z_j} w |x_i − x_j|²
          + Σ_{cannot-links, z_i = z_j} w (|x' − x''|² − |x_i − x_j|²)

    with x', x'' the two items furthest apart in the metric. Assignments, centres and metric take turns and the
    objective never rises: a metric of which it would is mixed with the old one, or left out.

    Of the paper's metrics, one or one a cluster, full or diagonal, one full matrix agrees best with answers that were
    held out on Face. w is such that a violated link costs, before the metric is learned, as much as an average item, as
    in ConstrainedKMeans; with the paper's w = 1 cannot-links cost many times as much as an item, which is right for
    answers without errors. Starts are those of ConstrainedKMeans, five of them.

    Parameters
    ----------
    n_clusters : int, default=4
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    metric_ : ndarray of shape (n_features, n_features)
        A.
    objective_ : float
        Of the best start.
    n_iter_ : int
        Its rounds, of which ``history_`` has the objective.
    """

    _starts = 5
    metric_: np.ndarray
    _root: np.ndarray
    _smallest: float

    def _assign(self, features: np.ndarray) -> Assignment:
        metric = Metric(self._root, 0.0, 0.0, np.zeros(0))
        return Assignment.hard(np.argmin(self._item_costs(features, self.cluster_centers_, metric), axis=1))

    def _take_metric(self, metric: Metric) -> None:
        self._root, self.metric_ = metric.root, metric.root.T @ metric.root

    def _prepare(self, features: np.ndarray, links: Links) -> None:
        variance = float(features.var(axis=0).mean())
        if not 0 < variance < np.inf:
            raise UserError(f"X: mean variance {variance:g} of the features; expected items that differ")
        self._smallest = SMALLEST_VARIANCE * variance
        costs = self._link_costs(features, links, self._initial_metric(features))
        # Links that cost nothing, or none: any unit will do.
        average = float(costs.mean()) if costs.any() else 1.0
        self._unit = mean_item_cost(features, self.n_clusters, self.seed_) / average

    def _initial_metric(self, features: np.ndarray) -> Metric:
        return _metric(features, np.eye(features.shape[1]))

    def _item_costs(self, features: np.ndarray, centers: np.ndarray, metric: Any) -> np.ndarray:
        squared = [_squared_norm((features - center) @ metric.root.T) for center in centers]
        return np.stack(squared, axis=1) - metric.log_determinant

    def _link_costs(self, features: np.ndarray, links: Links, metric: Any) -> np.ndarray:
        distance = _squared_norm((features[links.i] - features[links.j]) @ metric.root.T)
        # Never below 0 but for rounding: no two items are further apart than the widest two.
        costs = np.where(links.must, distance, np.maximum(metric.widest - distance, 0.0))
        return np.repeat(costs[:, None], self.n_clusters, axis=1)

    def _learn_metric(
        self, features: np.ndarray, graph: LinkGraph, labels: np.ndarray, centers: np.ndarray, metric: Any
    ) -> Metric:
        """Best metric for all else fixed, as far as it lowers the objective."""
        links = graph.links
        inverse = np.linalg.inv(metric.root.T @ metric.root)
        target = self._inverse_metric(features, links, labels, centers, metric)
        lowest = graph.objective(self._costs(features, links, centers, metric), labels)
        # With its two widest items fixed the target is the minimum; that they change with the metric is why the step
        # may have to be shorter.
        for share in (1.0, 0.5, 0.25, 0.125):
            candidate = _metric(features, np.linalg.inv(share * target + (1 - share) * inverse))
            if graph.objective(self._costs(features, links, centers, candidate), labels) < lowest:
                return candidate
        return metric

    def _inverse_metric(
        self, features: np.ndarray, links: Links, labels: np.ndarray, centers: np.ndarray, metric: Metric
    ) -> np.ndarray:
        """A⁻¹ at the minimum, [D, D] (paper, eq. 7), made positive definite."""
        first, second = labels[links.i], labels[links.j]
        difference = features[links.i] - features[links.j]
        weight = self._unit * links.weight
        each = np.empty((self.n_clusters, *metric.root.shape))
        for cluster in range(self.n_clusters):
            inside = features[labels == cluster] - centers[cluster]
            touches = links.must & (first != second) & ((first == cluster) | (second == cluster))
            broken = ~links.must & (first == second) & (first == cluster)
            scatter = inside.T @ inside
            scatter += (0.5 * weight[touches, None] * difference[touches]).T @ difference[touches]
            scatter -= (weight[broken, None] * difference[broken]).T @ difference[broken]
            scatter += weight[broken].sum() * np.outer(metric.apart, metric.apart)
            each[cluster] = scatter / max(len(inside), 1)
        # ln |A| counts once for each item: the mean over items, not over clusters, is the minimum.
        share = np.bincount(labels, minlength=self.n_clusters) / len(labels)
        values, vectors = np.linalg.eigh(np.tensordot(share, each, axes=1))
        return np.asarray((vectors * np.maximum(values, self._smallest)) @ vectors.T)


def _squared_norm(rows: np.ndarray) -> np.ndarray:
    return np.einsum("nd,nd->n", rows, rows)


def _metric(features: np.ndarray, matrix: np.ndarray) -> Metric:
    """Metric of a matrix A [D, D]."""
    root = np.linalg.cholesky(matrix).T
    first, second = farthest_pair(features @ root.T)
    apart = features[first] - features[second]
    log_determinant = float(np.linalg.slogdet(matrix).logabsdet)
    return Metric(root, log_determinant, float(_squared_norm((root @ apart)[None])[0]), apart)


def farthest_pair(points: np.ndarray) -> tuple[int, int]:
    """The two rows of points [N, D] that are furthest apart; of more than some 5,000 items nearly so.

    With r the distance to the mean, no pair is further apart than r_i + r_j, so that only the items far out are
    compared: all of them, or the :data:`_MOST_FAR_OUT` that are furthest and the best pair of a first search.
    """
    points = points - points.mean(axis=0)
    radius = np.linalg.norm(points, axis=1)
    first, known = int(np.argmax(radius)), 0.0
    while True:
        distance = np.linalg.norm(points - points[first], axis=1)
        second = int(np.argmax(distance))
        if not distance[second] > known:  # nor where it is not a number
            break
        first, known = second, float(distance[second])
    outer = np.flatnonzero(radius >= (1 - 1e-9) * known - radius.max())
    if len(outer) > _MOST_FAR_OUT:  # in many dimensions all items are about as far out
        outer = np.union1d(outer[np.argsort(-radius[outer])[:_MOST_FAR_OUT]], [first, second])
    far, square = points[outer], radius[outer] ** 2
    best, pair = -1.0, (0, 0)
    rows = max(1, CHUNK // len(outer))
    for begin in range(0, len(outer), rows):
        part = slice(begin, begin + rows)
        squared = square[part, None] + square - 2 * far[part] @ far.T
        row, column = np.unravel_index(np.argmax(squared), squared.shape)
        if squared[row, column] > best:
            best, pair = float(squared[row, column]), (int(outer[begin + row]), int(outer[column]))
    return pair
