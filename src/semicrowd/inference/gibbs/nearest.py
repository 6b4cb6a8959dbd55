"""Gaussian approximation of the posterior of a hyperplane given the items' sides, from which hyperplanes are proposed.

For the logistic loss it is the Laplace approximation, by the mode and the curvature there. The svm loss has kinks, at
which the curvature is not informative. Its approximation is by variational inference (Opper & Archambeau 2009), in
which the loss is averaged over the distribution of f.
"""

import math
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_solve, cholesky, solve_triangular

from semicrowd.inference.compiled import compiled
from semicrowd.inference.gibbs.hyperplanes import Hyperplanes, log_likelihood

#: Maximal number of Newton steps.
_STEPS = 50
#: Steps end when no item's f changes by as much.
_TOLERANCE = 0.05


def nearest(planes: Hyperplanes, y: Float[np.ndarray, "N"]) -> tuple[Float[np.ndarray, "r"], Float[np.ndarray, "r r"]]:
    """Mean of the Gaussian given the items' sides ``y`` (1 or −1), and the Cholesky factor of its precision.

    By Newton's method. For svm, the standard deviation of each item's f is computed again after each step.
    """
    x, variance, svm = planes.items, planes.variance, planes.loss == "svm"
    mean, f = np.zeros(x.shape[1]), np.zeros(len(x))
    spread = np.sqrt(variance * np.square(x).sum(1)) + 1e-9
    bend = _losses(f, spread, svm)[2]
    change = np.inf
    for _ in range(_STEPS):
        value, slope, now = _losses(y * f, spread, svm)
        bend = (3 * bend + now) / 4 if svm else now  # a quarter of the step; the whole step overshoots
        root = cholesky(planes.precision(bend), lower=True, overwrite_a=True, check_finite=False)
        if change < _TOLERANCE:
            break
        step = cho_solve((root, True), x.T @ (y * slope) - mean / variance, check_finite=False)
        move, short = x @ step, 1.0
        value += mean @ mean / (2 * variance)
        while short > 1e-3:
            new = mean + short * step
            if _losses(y * (f + short * move), spread, svm)[0] + new @ new / (2 * variance) <= value:
                break
            short /= 2
        mean, f, change = mean + short * step, f + short * move, np.abs(move).max()
        if svm:
            before = spread
            spread = np.sqrt(np.square(solve_triangular(root, x.T, lower=True, check_finite=False)).sum(0)) + 1e-9
            change = max(change, np.abs(spread - before).max())
    return mean, root


def log_posterior(planes: Hyperplanes, eta: Float[np.ndarray, "r"], y: Float[np.ndarray, "N"]) -> float:
    """ln p(y, η) of a hyperplane, up to a constant."""
    return float(log_likelihood(y * (planes.items @ eta), planes.loss).sum() - eta @ eta / (2 * planes.variance))


@compiled
def _losses(signed: Any, spread: Any, svm: bool) -> Any:
    """Σ −ln p(y), and each item's slope and negative curvature of ln p(y) in y f; for svm, means over Gaussian f."""
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
