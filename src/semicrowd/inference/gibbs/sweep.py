"""The engine: one sweep of Gibbs moves of all items, whatever prior and family.

An item leaves its cluster and takes one of those that have items, or one of the infinitely many that have none, with
probability prior weight × predictive density × exp(extra weight). Eq. 5 of Nguyen et al. 2017; without extra weights
algorithm 3 of Neal 2000, or algorithm 2 where the family draws its parameters. With hyperplanes, those of the clusters
without items are independent draws of one distribution, whatever the partition. They are kept as a stack, of which the
uppermost stand for all; the hyperplane of a cluster that loses its last item goes back among these, at random. This is
the exchange of Favaro & Teh 2013 ("ReUse") with the rest of the draws kept, and leaves the posterior as it is, however
many they are; with more it mixes faster.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from semicrowd.inference.compiled import compiled
from semicrowd.inference.gibbs.parts import (
    add,
    closed,
    draw,
    enter,
    leave,
    log_predictive,
    log_weight,
    meet,
    opened,
    remove,
    weight_of_new,
)


class Seating(NamedTuple):
    """Where N items are, in C slots for clusters, at least one of them empty.

    Attributes
    ----------
    z : [N] cluster of an item, −1 of one that is in none yet
    size : [C] items of a cluster
    extra : [N, H] extra log-weight of an item in a cluster with hyperplane h; [N, 0]: there are none
    plane : [C] hyperplane of a cluster that has items
    free : [H] those of the clusters without items, the uppermost last; the first ``num_free[0]`` of them count
    candidates : how many of them stand for all, 1 without hyperplanes
    """

    z: np.ndarray
    size: np.ndarray
    extra: np.ndarray
    plane: np.ndarray
    free: np.ndarray
    num_free: np.ndarray
    candidates: int


@compiled
def sweep(prior: Any, family: Any, seating: Any, rng: Any, first: int) -> int:
    """Move the items from ``first`` on.

    Returns
    -------
    int
        N, or the item to go on with when there are an empty slot and as many free hyperplanes as candidates again.
    """
    z, size, extra = seating.z, seating.size, seating.extra
    slots, tilted = len(size), extra.shape[1] > 0
    candidates = seating.candidates
    score = np.empty(slots + candidates)
    for item in range(first, len(z)):
        if size.min() > 0 or (tilted and seating.num_free[0] < candidates):
            return item
        if z[item] >= 0:
            _take_out(prior, family, seating, rng, item)
        meet(prior, z, item)
        for cluster in range(slots):
            if size[cluster] > 0:
                score[cluster] = log_weight(prior, z, size, item, cluster) + log_predictive(family, item, cluster)
                if tilted:
                    score[cluster] += extra[item, seating.plane[cluster]]
            else:
                score[cluster] = -np.inf
        empty = int(np.argmin(size))
        alone = math.log(weight_of_new(prior, z, item) / candidates) + log_predictive(family, item, empty)
        for candidate in range(candidates):
            score[slots + candidate] = alone
            if tilted:
                score[slots + candidate] += extra[item, seating.free[seating.num_free[0] - 1 - candidate]]
        chosen = _choose(score, rng)
        new = chosen >= slots
        if new:
            if tilted:
                place = seating.num_free[0] - 1 - (chosen - slots)
                seating.plane[empty] = seating.free[place]
                seating.num_free[0] -= 1
                for above in range(place, seating.num_free[0]):
                    seating.free[above] = seating.free[above + 1]
            opened(prior, empty, rng)
            chosen = empty
        z[item] = chosen
        size[chosen] += 1
        add(family, item, chosen)
        if new:
            draw(family, chosen, rng)
        enter(prior, z, item)
    return len(z)


@compiled
def _take_out(prior: Any, family: Any, seating: Any, rng: Any, item: int) -> None:
    cluster = seating.z[item]
    leave(prior, seating.z, item)
    remove(family, item, cluster)
    seating.size[cluster] -= 1
    seating.z[item] = -1
    if seating.size[cluster] > 0:
        return
    closed(prior, cluster)
    if seating.extra.shape[1] > 0:
        place = seating.num_free[0] - int(rng.random() * seating.candidates)
        for above in range(seating.num_free[0], place, -1):
            seating.free[above] = seating.free[above - 1]
        seating.free[place] = seating.plane[cluster]
        seating.num_free[0] += 1


@compiled
def _choose(score: Any, rng: Any) -> int:
    """An index with probability proportional to exp(score)."""
    top = score.max()
    total = 0.0
    for index in range(len(score)):
        score[index] = math.exp(score[index] - top)
        total += score[index]
    left = rng.random() * total
    for index in range(len(score)):
        left -= score[index]
        if left < 0:
            return index
    return int(np.argmax(score))


@compiled
def seat(family: Any, z: Any, size: Any) -> None:
    """Let a family of empty clusters, and sizes of 0, take up all items that are in a cluster."""
    for item in range(len(z)):
        if z[item] >= 0:
            size[z[item]] += 1
            add(family, item, z[item])


@compiled
def draw_all(family: Any, size: Any, rng: Any) -> None:
    """Draw the parameters of all clusters that have items, where they are not integrated out."""
    for cluster in range(len(size)):
        if size[cluster] > 0:
            draw(family, cluster, rng)


@compiled
def predictive(family: Any, items: int, clusters: int) -> Any:
    """ln p(x_i | items of cluster k) of items that are in none, [N, K]."""
    found = np.empty((items, clusters))
    for item in range(items):
        for cluster in range(clusters):
            found[item, cluster] = log_predictive(family, item, cluster)
    return found
