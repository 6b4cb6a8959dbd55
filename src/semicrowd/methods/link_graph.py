"""Assignment of linked items to clusters, with penalties for violated links."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from semicrowd.crowd.links import Links


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
