"""Splits and merges of clusters of a Dirichlet process mixture, by sequential allocation (Dahl 2005).

A sweep moves one item at a time. If items have many columns it rarely splits a cluster, so chains keep the number of
clusters that they begin with. Here two items are drawn. If they are in one cluster, a split is proposed: its other
items are assigned one by one, in random order, to one of the two by their predictive densities. If the two items are in
different clusters, a merge is proposed. The Metropolis–Hastings rule keeps the posterior invariant.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from semicrowd.inference.compiled import compiled
from semicrowd.inference.gibbs.parts import add, log_predictive, log_weight, meet, remove, weight_of_new


class Proposal(NamedTuple):
    """A split or merge, already made in the clusters' statistics; :func:`settle` keeps it or takes it back.

    Attributes
    ----------
    log_ratio : log Metropolis–Hastings ratio, without the part of hyperplanes
    splits : True: the first cluster is split in two; False: the second is merged into the first
    first, second : slots of the two clusters
    items : all items of both clusters
    found : cluster of each of these items before a merge, or after a split
    """

    log_ratio: float
    splits: bool
    first: int
    second: int
    items: Int[np.ndarray, "n"]
    found: Int[np.ndarray, "n"]


@compiled
def split_or_merge(prior: Any, family: Any, seating: Any, rng: Any) -> bool:
    """Propose a split or merge without hyperplanes, see :func:`propose`; returns whether it was accepted."""
    proposal = propose(prior, family, seating, rng)
    accepted = math.log(rng.random()) < proposal.log_ratio
    settle(family, seating, proposal, accepted)
    return accepted


@compiled
def propose(prior: Any, family: Any, seating: Any, rng: Any) -> Any:
    """A :class:`Proposal`. All items must have clusters, and a slot must be empty.

    The prior must be exchangeable: the product of its weights, item after item, is the same for any order of the items.
    """
    z, size = seating.z, seating.size
    one = int(rng.random() * len(z))
    other = int(rng.random() * (len(z) - 1))
    other += other >= one
    first, second = z[one], z[other]
    splits = first == second
    if splits:
        second = np.argmin(size)
    items, count = np.empty(size[first] + size[second], np.int64), 0
    for item in range(len(z)):
        if (z[item] == first or z[item] == second) and item != one and item != other:
            place = int(rng.random() * (count + 1))  # in random order
            items[count] = items[place]
            items[place] = item
            count += 1
    items[count], items[count + 1] = one, other
    # The joint density is the product of predictive densities: here as items leave, below as they are added.
    gain = 0.0
    for item in items:
        remove(family, item, z[item])
        gain -= log_predictive(family, item, z[item])
    found = z[items]
    found[count], found[count + 1] = first, second
    z[items], size[first], size[second] = -1, 0, 0
    weight, chance = math.log(weight_of_new(prior, z, other)), 0.0  # log prior odds of two clusters against one
    for place in (count, count + 1):
        item = items[place]
        meet(prior, z, item)
        if item == other:
            weight -= log_weight(prior, z, size, item, first)
        gain += log_predictive(family, item, found[place])
        _take(family, z, size, item, found[place])
    for place in range(count):
        item = items[place]
        meet(prior, z, item)
        prior_of_first = log_weight(prior, z, size, item, first)
        prior_of_second = log_weight(prior, z, size, item, second)
        to_first, to_second = log_predictive(family, item, first), log_predictive(family, item, second)
        odds = prior_of_second + to_second - prior_of_first - to_first
        if splits:
            found[place] = second if rng.random() * (1 + math.exp(-abs(odds))) < (
                1.0 if odds > 0 else math.exp(odds)
            ) else first  # fmt: skip
        goes_second = found[place] == second
        chance -= _softplus(-odds if goes_second else odds)
        gain += to_second if goes_second else to_first
        # A merged cluster would have the sum of both sizes, and of both log-weights of the answers.
        in_first, in_second = size[first], size[second]
        weight += math.log(in_first * in_second / (in_first + in_second))
        weight -= prior_of_first if goes_second else prior_of_second
        _take(family, z, size, item, found[place])
    if splits:
        return Proposal(gain + weight - chance, splits, first, second, items, found)
    # All items are back in their clusters; ``gain`` is 0 except for rounding errors.
    joint = _move(family, items, found, second, first)
    return Proposal(joint - weight + chance, splits, first, second, items, found)


@compiled
def settle(family: Any, seating: Any, proposal: Any, accepted: bool) -> None:
    """Set z, sizes and statistics to those of the proposed partition if ``accepted``, else of the old partition."""
    _, splits, first, second, items, found = proposal
    if splits and not accepted:
        _move(family, items, found, second, first)
    if not (splits or accepted):
        for place in range(len(items)):
            if found[place] == second:
                remove(family, items[place], first)
                add(family, items[place], second)
    apart = splits == accepted
    for place in range(len(items)):
        seating.z[items[place]] = found[place] if apart else first
    seating.size[second] = (found == second).sum() if apart else 0
    seating.size[first] = len(items) - seating.size[second]


@compiled
def _take(family: Any, z: Any, size: Any, item: int, cluster: int) -> None:
    z[item] = cluster
    size[cluster] += 1
    add(family, item, cluster)


@compiled
def _move(family: Any, items: Any, found: Any, source: int, target: int) -> float:
    """Move the items of cluster ``source`` to ``target``; returns the change of ln p(x | partition)."""
    gain = 0.0
    for place in range(len(items)):
        if found[place] == source:
            remove(family, items[place], source)
            gain += log_predictive(family, items[place], target) - log_predictive(family, items[place], source)
            add(family, items[place], target)
    return gain


@compiled
def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
