"""Splits and merges of clusters that hyperplanes separate: partition and hyperplanes change in one step.

A split takes the uppermost hyperplane of nobody, a merge puts one there; both that are concerned are drawn anew, each
from a Gaussian like its posterior given the items that it is to separate. Those that they take the place of are weighed
by the Gaussians that would propose them: Metropolis and Hastings need no more, however good these are. They decide in
two stages (Christen & Fox 2005). The first takes every cluster for as costly as one that is simple to separate, and
spares most proposals the Gaussians.
"""

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from semicrowd.inference.gibbs.hyperplanes import Hyperplanes
from semicrowd.inference.gibbs.nearest import log_posterior, nearest
from semicrowd.inference.gibbs.splits import propose, settle


def split_or_merge_separated(
    prior: Any, family: Any, seating: Any, planes: Hyperplanes, price: float, eta: Float[np.ndarray, "H r"],
    free: list[int], rng: np.random.Generator,
) -> bool:  # fmt: skip
    """Propose one, of a partition of all items with an empty slot; whether it was accepted.

    Parameters
    ----------
    price : of :func:`price_of`, or any other number: it decides what is tried, not what is sampled
    eta, free : the hyperplanes, and which of them are of nobody, one at least; they change
    """
    proposal = propose(prior, family, seating, rng)
    more = price if proposal.splits else -price
    accepted = math.log(rng.random()) < proposal.log_ratio - more
    if accepted:
        first, second, items, found = proposal[2:]
        apart, together = np.full((2, len(seating.z), 2), -1.0)
        apart[items[found == first], 0] = apart[items[found == second], 1] = together[items, 0] = 1
        before, after = (together, apart) if proposal.splits else (apart, together)
        rows = [seating.plane[first], free[-1] if proposal.splits else seating.plane[second]]
        new, gain = _exchange(planes, eta[rows], before, after, rng)
        accepted = math.log(rng.random()) < gain + more
    settle(family, seating, proposal, accepted)
    if accepted:
        eta[rows] = new
        if proposal.splits:
            seating.plane[second] = free.pop()
        else:
            free.append(int(rows[1]))
    return accepted


def price_of(planes: Hyperplanes) -> float:
    """What ln p(y) loses by a cluster of half the items, cut off across their longest axis."""
    nobody = np.full(len(planes.items), -1.0)
    half = nobody.copy()
    if planes.items.shape[1]:
        half[planes.items[:, 0] > np.median(planes.items[:, 0])] = 1

    def log_evidence(y: np.ndarray) -> float:
        mean, root = nearest(planes, y)
        return log_posterior(planes, mean, y) - float(np.log(np.diag(root)).sum())

    return log_evidence(nobody) - log_evidence(half)


def _exchange(
    planes: Hyperplanes, eta: Float[np.ndarray, "H r"], before: Float[np.ndarray, "N H"],
    after: Float[np.ndarray, "N H"], rng: np.random.Generator,
) -> tuple[Float[np.ndarray, "H r"], float]:  # fmt: skip
    """Propose hyperplanes for the sides ``after`` (1 or −1) in the place of ``eta``, which have those of ``before``.

    Returns
    -------
    new hyperplanes, and ln of their part of the ratio that Metropolis and Hastings accept with
    """
    new, gain = np.empty_like(eta), 0.0
    for row, (old, of_old, of_new) in enumerate(zip(eta, before.T, after.T, strict=True)):
        mean, root = nearest(planes, of_new)
        noise = rng.standard_normal(len(mean))
        new[row] = mean + np.linalg.solve(root.T, noise)
        gain += log_posterior(planes, new[row], of_new) + noise @ noise / 2 - np.log(np.diag(root)).sum()
        mean, root = nearest(planes, of_old)
        noise = root.T @ (old - mean)
        gain -= log_posterior(planes, old, of_old) + noise @ noise / 2 - np.log(np.diag(root)).sum()
    return new, float(gain)
