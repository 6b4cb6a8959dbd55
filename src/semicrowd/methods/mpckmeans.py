"""Metric pairwise constrained k-means: Bilenko, Basu & Mooney 2004 (ICML).

k-means that learns a metric, one for all clusters or one for each, from the items and from the links that are violated.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import Links
from semicrowd.errors import UserError
from semicrowd.estimators import persistence
from semicrowd.fitting.result import Result
from semicrowd.methods.constrained_kmeans import ConstrainedKMeans, ConstrainedKMeansParameters, mean_item_cost
from semicrowd.methods.link_graph import LinkGraph
from semicrowd.settings.fields import choice, flag, number, setting, whole
from semicrowd.settings.parameters import STARTS

#: No eigenvalue of a cluster's inverse metric gets smaller than this share of the mean variance of the features:
#: the metric of a cluster of few items would be singular.
SMALLEST_VARIANCE = 1e-3

#: Distances are looked at for so many pairs at a time.
CHUNK = 4_000_000
#: Items far out that are compared with each other, at most.
_MOST_FAR_OUT = 5000


@dataclass(frozen=True)
class Metric:
    """Metrics of K clusters.

    Attributes
    ----------
    root : L with squared distance |L (x − y)|²; A = LᵀL
    log_determinant : ln |A|
    widest : the largest squared distance between two items
    apart : the difference of these two
    """

    root: Float[np.ndarray, "K D D"]
    log_determinant: Float[np.ndarray, "K"]
    widest: Float[np.ndarray, "K"]
    apart: Float[np.ndarray, "K D"]


persistence.CLASSES["Metric"] = Metric


@dataclass(eq=False, repr=False, kw_only=True)
class MPCKMeansParameters(ConstrainedKMeansParameters):
    """Parameters of :class:`MPCKMeans`."""

    metric: str = setting("full", "full | diagonal", choice("full", "diagonal"))
    shared: bool = setting(True, "one metric for all clusters", flag())
    penalty: float = setting(1.0, "of a violated majority vote, in units of `unit`", number(0))
    unit: str = setting("item", "item (an average item's cost) | paper (1)", choice("item", "paper"))
    n_init: int = setting(5, STARTS, whole(1, 100_000))


class MPCKMeans(MPCKMeansParameters, ConstrainedKMeans):
    """Majority vote over the annotators, then MPCK-means.

    Minimises, over assignments z, centres μ and metrics A (paper, eq. 5; |·|_k is the distance of cluster k)::

        Σ_i (|x_i − μ_{z_i}|²_{z_i} − ln |A_{z_i}|)
          + Σ_{must-links, z_i ≠ z_j} w_ij (½ |x_i − x_j|²_{z_i} + ½ |x_i − x_j|²_{z_j})
          + Σ_{cannot-links, z_i = z_j} w_ij (|x' − x''|²_{z_i} − |x_i − x_j|²_{z_i})

    with x', x'' the two items furthest apart in the cluster's metric. Assignments, centres and metrics take turns and
    the objective never rises: a metric of which it would is mixed with the old one, or left out.

    The paper has all four combinations of ``metric`` and ``shared``; on Face the default agrees best with answers that
    were held out. With ``unit=item`` a violated link costs, before the metric is learned, as much as an average item,
    as in ConstrainedKMeans (no labels needed). With ``unit=paper`` cannot-links cost many times as much as an item,
    which is right for answers without errors. Starts are those of ConstrainedKMeans.

    Attributes
    ----------
    cluster_centers_ : [K, D]
    metrics_ : [K, D, D], A
    objective_ : of the best start; ``objective_history_`` after each of its ``n_iter_`` rounds
    """

    def _cluster(self, features: np.ndarray, answers: PairAnnotations) -> Result:
        found = super()._cluster(features, answers)
        self.metrics_ = self._metric.root.mT @ self._metric.root
        return found

    def _prepare(self, features: np.ndarray, links: Links) -> None:
        variance = features.var(axis=0).mean()
        if not 0 < variance < np.inf:
            raise UserError(f"X: mean variance {variance:g} of the features; expected items that differ")
        self._smallest = SMALLEST_VARIANCE * variance
        self._unit = self.penalty
        if self.unit == "item":
            costs = self._link_costs(features, links, self._initial_metric(features))
            # Links that cost nothing, or none: any unit will do.
            average = costs.mean() if costs.any() else 1.0
            self._unit *= mean_item_cost(features, self.n_clusters, self.seed_) / average

    def _initial_metric(self, features: np.ndarray) -> Metric:
        num_features = features.shape[1]
        return _metric(features, np.tile(np.eye(num_features), (self.n_clusters, 1, 1)))

    def _item_costs(self, features: np.ndarray, centers: np.ndarray, metric: Any) -> np.ndarray:
        squared = [_squared_norm((features - c) @ root.T) for c, root in zip(centers, metric.root, strict=True)]
        return np.stack(squared, axis=1) - metric.log_determinant

    def _link_costs(self, features: np.ndarray, links: Links, metric: Any) -> np.ndarray:
        difference = features[links.i] - features[links.j]
        distance = np.stack([_squared_norm(difference @ root.T) for root in metric.root], axis=1)
        # Never below 0 but for rounding: no two items are further apart than the widest two.
        return np.where(links.must[:, None], distance, np.maximum(metric.widest - distance, 0.0))

    def _learn_metric(
        self, features: np.ndarray, graph: LinkGraph, labels: np.ndarray, centers: np.ndarray, metric: Any
    ) -> Metric:
        """Best metrics for all else fixed, as far as they lower the objective."""
        links = graph.links
        inverse = np.linalg.inv(metric.root.mT @ metric.root)
        target = self._inverse_metrics(features, links, labels, centers, metric)
        if not self.shared:
            target[np.bincount(labels, minlength=self.n_clusters) == 0] = np.eye(features.shape[1])
        lowest = graph.objective(self._costs(features, links, centers, metric), labels)
        # With its two widest items fixed the target is the minimum; that they change with the metric is why the step
        # may have to be shorter.
        for share in (1.0, 0.5, 0.25, 0.125):
            candidate = _metric(features, np.linalg.inv(share * target + (1 - share) * inverse))
            if graph.objective(self._costs(features, links, centers, candidate), labels) < lowest:
                return candidate
        return metric

    def _inverse_metrics(
        self, features: np.ndarray, links: Links, labels: np.ndarray, centers: np.ndarray, metric: Metric
    ) -> np.ndarray:
        """A⁻¹ of each cluster at the minimum, [K, D, D] (paper, eqs. 7 and 8), made positive definite."""
        first, second = labels[links.i], labels[links.j]
        difference = features[links.i] - features[links.j]
        weight = self._unit * links.weight
        inverse = np.empty_like(metric.root)
        for cluster in range(self.n_clusters):
            inside = features[labels == cluster] - centers[cluster]
            touches = links.must & (first != second) & ((first == cluster) | (second == cluster))
            broken = ~links.must & (first == second) & (first == cluster)
            scatter = inside.T @ inside
            scatter += (0.5 * weight[touches, None] * difference[touches]).T @ difference[touches]
            scatter -= (weight[broken, None] * difference[broken]).T @ difference[broken]
            scatter += weight[broken].sum() * np.outer(metric.apart[cluster], metric.apart[cluster])
            inverse[cluster] = scatter / max(len(inside), 1)
        if self.shared:
            # ln |A| counts once for each item: the mean over items, not over clusters, is the minimum.
            share = np.bincount(labels, minlength=self.n_clusters) / len(labels)
            inverse[:] = np.tensordot(share, inverse, axes=1)
        if self.metric == "diagonal":
            inverse *= np.eye(inverse.shape[-1])
        values, vectors = np.linalg.eigh(inverse)
        return (vectors * np.maximum(values, self._smallest)[:, None, :]) @ vectors.mT


def _squared_norm(rows: np.ndarray) -> np.ndarray:
    return np.einsum("nd,nd->n", rows, rows)


def _metric(features: np.ndarray, matrices: np.ndarray) -> Metric:
    """Metric of matrices A [K, D, D]."""
    root = np.linalg.cholesky(matrices).mT
    log_determinant = np.linalg.slogdet(matrices).logabsdet
    # The search over all items is most of the work: once where all clusters have one metric.
    shared = np.array_equal(matrices, np.broadcast_to(matrices[0], matrices.shape))
    ends = [farthest_pair(features @ r.T) for r in (root[:1] if shared else root)]
    ends *= len(root) // len(ends)
    apart = np.array([features[a] - features[b] for a, b in ends])
    widest = _squared_norm((root @ apart[..., None])[..., 0])
    return Metric(root, log_determinant, widest, apart)


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
