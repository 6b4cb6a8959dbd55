"""Split and merge moves of clusters with hyperplanes: partition and hyperplanes change in one step.

A split takes the last free hyperplane, which no cluster uses; a merge adds one to the free ones. Both hyperplanes are
proposed anew, from Gaussian approximations of their posteriors given the proposed partition. The Metropolis–Hastings
ratio has the proposal densities of the new and the old hyperplanes, so the posterior is invariant however rough the
approximations are. Acceptance has two stages (Christen & Fox 2005). The first takes a constant cost for a separating
hyperplane; it rejects most proposals before any Gaussian is computed.
"""

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from semicrowd.inference.gibbs.hyperplanes import Hyperplanes, log_posterior, nearest_gaussian
from semicrowd.inference.gibbs.splits import propose, settle


def split_or_merge_separated(
    prior: Any, family: Any, seating: Any, planes: Hyperplanes, price: float, eta: Float[np.ndarray, "H r"],
    free: list[int], rng: np.random.Generator,
) -> bool:  # fmt: skip
    """Propose a split or a merge, if all items have clusters and a slot is empty; returns whether it was accepted.

    Parameters
    ----------
    price : see :func:`price_of`; any number is valid, as it changes the acceptance rate but not the posterior
    eta, free : the hyperplanes, and the rows of the free ones, at least one; changed in place
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
    """Decrease of ln p(y) by the hyperplane of one cluster: half of the items, cut off across their longest axis."""
    nobody = np.full(len(planes.items), -1.0)
    half = nobody.copy()
    if planes.items.shape[1]:
        half[planes.items[:, 0] > np.median(planes.items[:, 0])] = 1

    def log_evidence(y: np.ndarray) -> float:
        mean, root = nearest_gaussian(planes, y)
        return log_posterior(planes, mean, y) - float(np.log(np.diag(root)).sum())

    return log_evidence(nobody) - log_evidence(half)


def _exchange(
    planes: Hyperplanes, eta: Float[np.ndarray, "H r"], before: Float[np.ndarray, "N H"],
    after: Float[np.ndarray, "N H"], rng: np.random.Generator,
) -> tuple[Float[np.ndarray, "H r"], float]:  # fmt: skip
    """Propose hyperplanes for the sides ``after`` (1 or −1), to replace ``eta``, whose sides are ``before``.

    Returns
    -------
    new hyperplanes, and their part of the log Metropolis–Hastings ratio
    """
    new, gain = np.empty_like(eta), 0.0
    for row, (old, of_old, of_new) in enumerate(zip(eta, before.T, after.T, strict=True)):
        mean, root = nearest_gaussian(planes, of_new)
        noise = rng.standard_normal(len(mean))
        new[row] = mean + np.linalg.solve(root.T, noise)
        gain += log_posterior(planes, new[row], of_new) + noise @ noise / 2 - np.log(np.diag(root)).sum()
        mean, root = nearest_gaussian(planes, of_old)
        noise = root.T @ (old - mean)
        gain -= log_posterior(planes, old, of_old) + noise @ noise / 2 - np.log(np.diag(root)).sum()
    return new, float(gain)
