"""Splits and merges of clusters of a Dirichlet process mixture, by sequential allocation (Dahl 2005).

A sweep moves one item at a time and rarely takes a cluster of many columns apart: its chains keep the number of
clusters that they begin with. Here two items are drawn. If one cluster has both, its others go one by one, in random
order, to the one or the other as their predictive densities say; if two clusters have them, these become one.
Metropolis and Hastings accept or not: the posterior stays as it is.
"""

import math
from typing import Any

import numpy as np

from semicrowd.inference.gibbs.compiled import compiled
from semicrowd.inference.gibbs.parts import add, log_predictive, remove


@compiled
def split_or_merge(family: Any, seating: Any, alpha: float, rng: Any) -> bool:
    """Propose one, of a partition of all items with an empty slot and without hyperplanes; whether it was accepted."""
    z, size = seating.z, seating.size
    one = int(rng.random() * len(z))
    other = int(rng.random() * (len(z) - 1))
    other += other >= one
    first, second = z[one], z[other]
    splits = first == second
    if splits:
        second = int(np.argmin(size))
    items, count = np.empty(size[first] + size[second], np.int64), 0
    for item in range(len(z)):
        if (z[item] == first or z[item] == second) and item != one and item != other:
            place = int(rng.random() * (count + 1))  # in random order
            items[count] = items[place]
            items[place] = item
            count += 1
    items[count], items[count + 1] = one, other
    # Densities one after the other make that of all: here as items leave, below as they come.
    gain = 0.0
    for item in items:
        remove(family, item, z[item])
        gain -= log_predictive(family, item, z[item])
    found = z[items]
    found[count], found[count + 1] = first, second
    for place in (count, count + 1):
        gain += log_predictive(family, items[place], found[place])
        add(family, items[place], found[place])
    in_first, in_second, chance = 1, 1, 0.0
    for place in range(count):
        item = items[place]
        to_first, to_second = log_predictive(family, item, first), log_predictive(family, item, second)
        odds = math.log(in_second / in_first) + to_second - to_first
        if splits:
            found[place] = second if rng.random() * (1 + math.exp(-abs(odds))) < (
                1.0 if odds > 0 else math.exp(odds)
            ) else first  # fmt: skip
        goes_second = found[place] == second
        chance -= _softplus(-odds if goes_second else odds)
        gain += to_second if goes_second else to_first
        in_first, in_second = in_first + (not goes_second), in_second + goes_second
        add(family, item, found[place])
    prior = math.log(alpha) + math.lgamma(in_first) + math.lgamma(in_second) - math.lgamma(in_first + in_second)
    if splits:
        accepted = math.log(rng.random()) < gain + prior - chance
        if accepted:
            z[items] = found
            size[first], size[second] = in_first, in_second
        else:
            _move(family, items, found, second, first)
        return accepted
    # All are back where they were; ``gain`` is 0 but for rounding.
    joint = _move(family, items, found, second, first)
    accepted = math.log(rng.random()) < joint - prior + chance
    if accepted:
        z[items] = first
        size[first], size[second] = in_first + in_second, 0
    else:
        for place in range(len(items)):
            if found[place] == second:
                remove(family, items[place], first)
                add(family, items[place], second)
    return accepted


@compiled
def _move(family: Any, items: Any, found: Any, source: int, target: int) -> float:
    """Items of one cluster join another: what ln p(x | partition) gains."""
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
