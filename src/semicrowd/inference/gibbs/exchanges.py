"""Splits and merges of clusters that hyperplanes separate: partition and hyperplanes change in one step.

A split takes the uppermost hyperplane of nobody, a merge puts one there; both that are concerned are drawn anew, each
from a Gaussian like its posterior given the items that it is to separate: of the logistic loss that of Laplace, of the
svm, whose density has edges, the one nearest by variational inference (Opper & Archambeau 2009). Those that they take
the place of are weighed by the Gaussians that would propose them: Metropolis and Hastings need no more, however good
these are. They decide in two stages (Christen & Fox 2005). The first takes any cluster for as costly as one that is
simple to separate, and spares most proposals the Gaussians.
"""

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from semicrowd.inference.gibbs.compiled import compiled
from semicrowd.inference.gibbs.hyperplanes import Hyperplanes, log_likelihood
from semicrowd.inference.gibbs.splits import propose, settle

#: Most steps to a Gaussian, and the change of any item's f at which they end.
_STEPS, _TOLERANCE = 50, 1e-2


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
        mean, root = around(planes, y)
        return _log_posterior(planes, mean, y) - float(np.log(np.diag(root)).sum())

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
        mean, root = around(planes, of_new)
        noise = rng.standard_normal(len(mean))
        new[row] = mean + np.linalg.solve(root.T, noise)
        gain += _log_posterior(planes, new[row], of_new) + noise @ noise / 2 - np.log(np.diag(root)).sum()
        mean, root = around(planes, of_old)
        noise = root.T @ (old - mean)
        gain -= _log_posterior(planes, old, of_old) + noise @ noise / 2 - np.log(np.diag(root)).sum()
    return new, float(gain)


def around(
    planes: Hyperplanes, y: Float[np.ndarray, "N"]
) -> tuple[Float[np.ndarray, "r"], Float[np.ndarray, "r r"]]:
    """Mean of the Gaussian of a hyperplane with these sides, and the Cholesky factor of its precision."""
    return _around(planes.items, np.ascontiguousarray(y), planes.variance, planes.loss == "svm")


def _log_posterior(planes: Hyperplanes, eta: Float[np.ndarray, "r"], y: Float[np.ndarray, "N"]) -> float:
    return float(log_likelihood(y * (planes.items @ eta), planes.loss).sum() - eta @ eta / (2 * planes.variance))


@compiled
def _around(x: Any, y: Any, variance: float, svm: bool) -> Any:
    """Newton's method, after each of whose steps the spread of the items' f is what the precision says."""
    mean, f = np.zeros(x.shape[1]), np.zeros(len(x))
    spread = np.sqrt(variance * (x * x).sum(1)) + 1e-9
    bend = _losses(f, spread, svm)[2]
    short, change, root = 1.0, np.inf, np.eye(x.shape[1])
    for _ in range(_STEPS):
        value, slope, now = _losses(y * f, spread, svm)
        bend = (3 * bend + now) / 4 if svm else now  # a quarter of the way: the whole one overshoots
        precision = x.T @ (bend.reshape(-1, 1) * x) + np.eye(x.shape[1]) / variance
        root = np.linalg.cholesky(precision)
        if change < _TOLERANCE:
            break
        step = np.linalg.solve(precision, x.T @ (y * slope) - mean / variance)
        move, short = x @ step, 1.0
        value += mean @ mean / (2 * variance)
        while short > 1e-3:
            new = mean + short * step
            if _losses(y * (f + short * move), spread, svm)[0] + new @ new / (2 * variance) <= value:
                break
            short /= 2
        mean, f, change = mean + short * step, f + short * move, np.abs(move).max()
        if svm:
            before, spread = spread, np.sqrt(np.square(np.linalg.solve(root, x.T)).sum(0)) + 1e-9
            change = max(change, np.abs(spread - before).max())
    return mean, root


@compiled
def _losses(signed: Any, spread: Any, svm: bool) -> Any:
    """−ln p(y) of all items, its slope against y f, and how that bends; of the svm their means over a Gaussian of f."""
    value, slope, bend = 0.0, np.empty_like(signed), np.empty_like(signed)
    for item in range(len(signed)):
        if svm:
            short = (1 - signed[item]) / spread[item]
            below = 0.5 * math.erfc(-short / math.sqrt(2.0))
            density = math.exp(-short * short / 2) / math.sqrt(2 * math.pi)
            value += 2 * spread[item] * (short * below + density)
            slope[item], bend[item] = 2 * below, 2 * density / spread[item]
        else:
            below = 1 / (1 + math.exp(min(signed[item], 700.0)))
            value += max(-signed[item], 0.0) + math.log1p(math.exp(-abs(signed[item])))
            slope[item], bend[item] = below, below * (1 - below)
    return value, slope, bend
