"""The engine: one sweep of Gibbs moves of all items, for any prior and family.

An item leaves its cluster, and enters a cluster with items or one of the infinitely many without, with probability
proportional to prior weight × predictive density × exp(extra weight). This is eq. 5 of Nguyen et al. 2017; without
extra weights it is algorithm 3 of Neal 2000, or algorithm 2 if the family draws its parameters. The hyperplanes of
clusters without items, called free, are independent draws from one distribution. The last ``candidates`` of the list of
free hyperplanes represent all of them. If a cluster loses its last item, its hyperplane is inserted among these at a
random place. This is the "ReUse" algorithm of Favaro & Teh 2013, except that unused draws are kept. It leaves the
posterior invariant for any number of candidates, and mixes faster with more.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

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
    """The clusters of N items, in C slots, of which at least one is empty.

    Attributes
    ----------
    z : cluster of each item; −1 if it has none yet
    size : number of items of each cluster
    extra : [N, H], extra log-weight of each item in a cluster with hyperplane h, in nats; [0, 0] without hyperplanes
    plane : hyperplane of each cluster that has items
    free : free hyperplanes; only the first ``num_free[0]`` entries are valid
    candidates : number of free hyperplanes, the last valid ones, that represent all; 1 without hyperplanes
    """

    z: Int[np.ndarray, "N"]
    size: Int[np.ndarray, "C"]
    extra: Float[np.ndarray, "_ _"]
    plane: Int[np.ndarray, "C"]
    free: Int[np.ndarray, "H"]
    num_free: Int[np.ndarray, "1"]
    candidates: int


@compiled
def sweep(prior: Any, family: Any, seating: Any, rng: Any, first: int) -> int:
    """Move the items from ``first`` on.

    Returns
    -------
    int
        N; or the item to go on with, once there are an empty slot and enough free hyperplanes (``candidates``) again.
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
    """Add all items that have a cluster to a family of empty clusters, and to sizes that are 0."""
    for item in range(len(z)):
        if z[item] >= 0:
            size[z[item]] += 1
            add(family, item, z[item])


@compiled
def draw_all(family: Any, size: Any, rng: Any) -> None:
    """Draw the parameters of all clusters that have items, if the family does not integrate them out."""
    for cluster in range(len(size)):
        if size[cluster] > 0:
            draw(family, cluster, rng)


@compiled
def predictive(family: Any, items: int, clusters: int) -> Any:
    """ln p(x_i | items of cluster k), [N, K], for items that are in no cluster."""
    found = np.empty((items, clusters))
    for item in range(items):
        for cluster in range(clusters):
            found[item, cluster] = log_predictive(family, item, cluster)
    return found
