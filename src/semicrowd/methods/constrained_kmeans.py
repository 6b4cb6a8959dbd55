"""Majority vote, then k-means with penalties for violated must-links and cannot-links (PCKMeans).

Basu, Banerjee & Mooney 2004, "Active semi-supervision for pairwise constrained clustering" (SDM). The initial
centres and the loop serve :mod:`semicrowd.methods.mpckmeans` too, which adds the metric.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import Links, majority_vote, neighbourhoods, shaken
from semicrowd.estimators.base import InductiveClusterer, progress
from semicrowd.random import stream
from semicrowd.result import Assignment, Result

#: Cost of a violated majority vote, in units of an average item's cost.
PENALTY = 1.0
#: Rounds of assignment and centres, at most.
_MOST_ROUNDS = 100


class Costs(NamedTuple):
    """Costs that the assignment step minimises.

    Attributes
    ----------
    item : cost of each item in each cluster, without the links
    link : cost of a violated link. A must-link between clusters k and l costs the mean of its entries k and l,
        a cannot-link within cluster k its entry k
    """

    item: Float[np.ndarray, "N K"]
    link: Float[np.ndarray, "C K"]


class LinkGraph:
    """The links of N items, split so that no two items of a block are linked.

    The items of a block can be assigned at once: each takes its best cluster given all others, as if one after the
    other, so that the objective never rises.
    """

    def __init__(self, links: Links, num_items: int, rng: np.random.Generator) -> None:
        self.links = links
        source = np.concatenate([links.i, links.j])
        target = np.concatenate([links.j, links.i])
        link = np.tile(np.arange(len(links.i)), 2)
        self._source, self._link = source, link
        self.blocks = []
        for block in _independent_sets(source, target, num_items, rng):
            position = np.full(num_items, -1)
            position[block] = np.arange(len(block))
            edges = np.flatnonzero(position[source] >= 0)
            self.blocks.append((block, position[source[edges]], target[edges], link[edges]))

    def assign(self, costs: Costs, labels: np.ndarray, max_sweeps: int = 100) -> np.ndarray:
        """Iterated conditional modes until nothing changes, [N]; −1 in ``labels`` means not assigned yet."""
        num_items, k = costs.item.shape
        must = self.links.must[:, None]
        # With w D_k the cost of a must-link: apart from a term that does not depend on its own cluster, an item pays
        # ½ w D_k, less w D_k where the other end is in k as well.
        half = np.where(must, 0.5 * costs.link, 0.0)
        fixed = costs.item.copy()
        for cluster in range(k):
            fixed[:, cluster] += np.bincount(self._source, half[self._link, cluster], minlength=num_items)
        shared = np.where(must, -costs.link, costs.link)
        labels = labels.copy()
        for _ in range(max_sweeps):
            before = labels.copy()
            for block, position, target, link in self.blocks:
                seen = labels[target] >= 0
                where, cluster = position[seen], labels[target[seen]]
                pull = np.bincount(where * k + cluster, shared[link[seen], cluster], minlength=len(block) * k)
                labels[block] = np.argmin(fixed[block] + pull.reshape(len(block), k), axis=1)
            if np.array_equal(before, labels):
                break
        return labels

    def objective(self, costs: Costs, labels: np.ndarray) -> float:
        """Cost of all items and of all violated links."""
        first, second = labels[self.links.i], labels[self.links.j]
        rows = np.arange(len(first))
        split = 0.5 * (costs.link[rows, first] + costs.link[rows, second])
        violated = np.where(self.links.must, (first != second) * split, (first == second) * costs.link[rows, first])
        return float(costs.item[np.arange(len(labels)), labels].sum() + violated.sum())


def _independent_sets(
    source: np.ndarray, target: np.ndarray, num_items: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Items in blocks without an edge inside, by greedy colouring in random order; edges in both directions."""
    order = np.argsort(source, kind="stable")
    neighbours = np.split(target[order], np.cumsum(np.bincount(source, minlength=num_items))[:-1])
    colour = np.full(num_items, -1)
    for item in rng.permutation(num_items):
        taken = np.zeros(len(neighbours[item]) + 1, bool)
        used = colour[neighbours[item]]
        taken[used[(used >= 0) & (used < len(taken))]] = True
        colour[item] = np.argmin(taken)
    return [np.flatnonzero(colour == c) for c in range(colour.max() + 1)]


class ConstrainedKMeans(InductiveClusterer):
    """PCKMeans: majority vote over the annotators, then k-means with a penalty for each violated link.

    Minimises Σ_i |x_i − μ_{z_i}|² + s² Σ_{violated links} 1 over assignments and centres (Basu, Banerjee & Mooney
    2004), where s² is the mean squared distance of an item to its k-means centre: the paper leaves the weight of a link
    open; this way it does not depend on the unit of the features, and a violated link costs as much as an average item.

    The 1st, 3rd … of ten starts is from neighbourhoods (:mod:`semicrowd.crowd.links`, with weights shaken by up to a
    half), the others are from centres drawn as by k-means++.

    Parameters
    ----------
    n_clusters : int, default=4
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    objective_ : float
        Of the best start.
    n_iter_ : int
        Its rounds of assignment and centres, of which ``history_`` has the objective.
    """

    #: Random starts, of which the one with the best objective is kept.
    _starts: ClassVar[int] = 10
    cluster_centers_: np.ndarray
    objective_: float
    n_iter_: int
    _unit: float

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(np.argmin(self._item_costs(features, self.cluster_centers_, None), axis=1))

    def _run(self, features: np.ndarray, answers: PairAnnotations) -> Result:
        links = majority_vote(answers)
        self._prepare(features, links)
        best: tuple[Any, ...] | None = None
        for start in progress(range(self._starts), "starts", self.verbose):
            rng = stream(self.seed_, "constrained_kmeans", start)
            found = self._one_start(features, links, rng, from_neighbourhoods=start % 2 == 0)
            if best is None or found[0] < best[0]:
                best = found
        assert best is not None
        self.objective_, labels, self.cluster_centers_, metric, course = best
        self.history_ = [{"epoch": number, "objective": value} for number, value in enumerate(course, 1)]
        self.n_iter_ = len(course)
        self._take_metric(metric)
        return self._result(Assignment.hard(labels), self._assign(features))

    def _one_start(
        self, features: np.ndarray, links: Links, rng: np.random.Generator, *, from_neighbourhoods: bool
    ) -> tuple[float, np.ndarray, np.ndarray, Any, list[float]]:
        graph = LinkGraph(links, len(features), rng)
        groups = neighbourhoods(shaken(links, rng), len(features)) if from_neighbourhoods else []
        centers, labels = initial_centers(features, groups, self.n_clusters, rng)
        metric = self._initial_metric(features)
        history: list[float] = []
        costs = self._costs(features, links, centers, metric)
        for _ in range(_MOST_ROUNDS):
            # Afresh, too: from the old labels alone it would often be stuck.
            afresh = graph.assign(costs, np.full(len(features), -1))
            labels = graph.assign(costs, labels)
            if graph.objective(costs, afresh) < graph.objective(costs, labels):
                labels = afresh
            centers = cluster_means(features, labels, self.n_clusters, empty=centers)
            metric = self._learn_metric(features, graph, labels, centers, metric)
            costs = self._costs(features, links, centers, metric)
            history.append(graph.objective(costs, labels))
            if len(history) > 1 and history[-2] - history[-1] <= 1e-9 * abs(history[-2]):
                break
        return history[-1], labels, centers, metric, history

    def _costs(self, features: np.ndarray, links: Links, centers: np.ndarray, metric: Any) -> Costs:
        link = self._unit * links.weight[:, None] * self._link_costs(features, links, metric)
        return Costs(self._item_costs(features, centers, metric), link)

    # What a metric changes: all that follows. Here it is the Euclidean one.

    def _prepare(self, features: np.ndarray, links: Links) -> None:  # noqa: ARG002 - MPCKMeans uses it
        self._unit = PENALTY * mean_item_cost(features, self.n_clusters, self.seed_)

    def _initial_metric(self, features: np.ndarray) -> Any:  # noqa: ARG002 - MPCKMeans uses it
        return None

    def _take_metric(self, metric: Any) -> None:
        """Set what ``predict`` needs of the metric of the best start."""

    def _learn_metric(
        self,
        features: np.ndarray,  # noqa: ARG002 - MPCKMeans uses all of them
        graph: LinkGraph,  # noqa: ARG002
        labels: np.ndarray,  # noqa: ARG002
        centers: np.ndarray,  # noqa: ARG002
        metric: Any,
    ) -> Any:
        return metric

    def _item_costs(self, features: np.ndarray, centers: np.ndarray, metric: Any) -> np.ndarray:  # noqa: ARG002
        return cdist(features, centers, "sqeuclidean")

    def _link_costs(self, features: np.ndarray, links: Links, metric: Any) -> np.ndarray:  # noqa: ARG002
        return np.ones((len(links.i), self.n_clusters))


def initial_centers(
    features: np.ndarray, groups: list[np.ndarray], num_clusters: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Centres [K, D] and labels [N] of the members of the neighbourhoods they are taken from, −1 elsewhere.

    Weighted farthest-first traversal (Basu et al. 2004): the largest group, then each time the group with the largest
    size × distance to its nearest centre. Where there are too few groups, items follow, drawn with probability
    proportional to the squared distance to the nearest centre.
    """
    labels = np.full(len(features), -1)
    centers = np.empty((0, features.shape[1]))
    means = np.array([features[group].mean(axis=0) for group in groups]).reshape(-1, features.shape[1])
    size = np.array([len(group) for group in groups], float)
    left = np.ones(len(groups), bool)
    for cluster in range(num_clusters):
        if left.any():
            distance = cdist(means, centers).min(axis=1) if len(centers) else np.ones(len(means))
            chosen = int(np.argmax(np.where(left, size * distance, -1.0)))
            left[chosen] = False
            labels[groups[chosen]] = cluster
            center = means[chosen]
        else:
            share = cdist(features, centers, "sqeuclidean").min(axis=1) if len(centers) else np.ones(len(features))
            # All items on a centre: any of them will do.
            share = share if share.sum() > 0 else np.ones(len(features))
            center = features[rng.choice(len(features), p=share / share.sum())]
        centers = np.vstack([centers, center])
    return centers, labels


def mean_item_cost(features: np.ndarray, num_clusters: int, seed: int) -> float:
    """Mean squared distance of an item to its centre under plain k-means."""
    return float(KMeans(num_clusters, n_init=10, random_state=seed).fit(features).inertia_) / len(features)


def cluster_means(
    features: np.ndarray, labels: np.ndarray, num_clusters: int, empty: np.ndarray | None = None
) -> np.ndarray:
    """Mean of each cluster, [K, D]; where one is empty, its row of ``empty`` [K, D], or the mean of all items."""
    means = np.empty((num_clusters, features.shape[1]))
    means[:] = features.mean(axis=0) if empty is None else empty
    for cluster in np.unique(labels):
        means[cluster] = features[labels == cluster].mean(axis=0)
    return means
