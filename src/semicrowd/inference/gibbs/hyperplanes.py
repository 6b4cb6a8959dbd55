"""Sampling of hyperplanes that separate each cluster from all others, given the partition, by data augmentation.

Nguyen et al. 2017, eqs. 2–4. Hyperplane h has weights η_h ~ N(0, w I). For item i, f = x_i · η_h, and y = 1 if the item
is in the hyperplane's cluster, else −1. The likelihood of y is σ(y f) (logistic), or exp(−2 max(1 − y f, 0)) (svm). An
auxiliary variable for each item *and hyperplane* makes the likelihood Gaussian in η: Pólya–Gamma (logistic; Polson,
Scott & Windle 2013), or λ with 1/λ ~ InverseGaussian(1 / |1 − y f|, 1) (svm; Polson & Scott 2011).

Moves propose a hyperplane from a Gaussian approximation of its posterior. For the logistic loss it is the Laplace
approximation, by the mode and the curvature there. The svm loss has kinks, at which curvature is not informative. Its
approximation is by variational inference (Opper & Archambeau 2009), in which the loss is averaged over the distribution
of f.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from polyagamma import random_polyagamma
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular

from semicrowd.inference.compiled import compiled

#: Up to this number of columns, the preconditioner of conjugate gradients is a Cholesky factor in single precision,
#: with which one or two steps suffice. With more columns it is the diagonal, which is then cheaper.
MOST_COLUMNS = 400
#: Conjugate gradients end when the residual's length, relative to the right-hand side's, is below this. The random part
#: of a draw is about a million times as long.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Hyperplanes:
    """The N items that hyperplanes separate, and the likelihood and prior of hyperplanes.

    Attributes
    ----------
    items : [N, r] items in the basis of their singular vectors, see :func:`rotated`. The prior is the same in every
        orthonormal basis; in this one the columns are orthogonal
    loss : ``svm`` or ``logistic``; a subclass may have another
    variance : w
    """

    items: Float[np.ndarray, "N r"]
    loss: str
    variance: float

    def log_ratio(
        self, eta: Float[np.ndarray, "H r"], rivals: Int[np.ndarray, "K"]  # noqa: ARG002 - a subclass uses them
    ) -> Float[np.ndarray, "N H"]:  # fmt: skip
        """Extra log-weight of every item in a cluster with each hyperplane: ln p(y = 1) − ln p(y = −1) (eq. 3).

        Parameters
        ----------
        rivals : rows of ``eta`` of the clusters that have items
        """
        return log_ratio(self.items @ eta.T, self.loss)

    def redraw(
        self, eta: Float[np.ndarray, "H r"], y: Float[np.ndarray, "N H"], rng: np.random.Generator
    ) -> Float[np.ndarray, "H r"]:
        """Sample auxiliary variables, and then hyperplanes by eq. 4 with Σ₀ = w I, given the items' sides y.

        η solves Q η = Xᵀ (Ω z + Ω^½ ε) + w^−½ ε' with ε, ε' ~ N(0, I). Its mean is that of eq. 4, its covariance Q⁻¹.
        """
        return self.drawn(*augmented(y, self.items @ eta.T, self.loss, rng), eta, rng)

    def drawn(
        self, weight: Float[np.ndarray, "N H"], linear: Float[np.ndarray, "N H"], eta: Float[np.ndarray, "H r"],
        rng: np.random.Generator,
    ) -> Float[np.ndarray, "H r"]:  # fmt: skip
        """Sample hyperplanes given a log-likelihood −½ weight f² + linear f; ``eta`` is the solver's first guess."""
        noise = rng.standard_normal(weight.shape)
        right = self.items.T @ (linear + np.sqrt(weight) * noise)
        right += rng.standard_normal(right.shape) / np.sqrt(self.variance)
        return self._solved(weight, right, eta)

    def precision(
        self, weight: Float[np.ndarray, "N"], items: Float[np.ndarray, "N r"] | None = None
    ) -> Float[np.ndarray, "r r"]:
        """Q = Xᵀ Ω X + I / w of one hyperplane, in the floating-point precision of ``items``."""
        items = self.items if items is None else items
        scaled = np.sqrt(weight).astype(items.dtype)[:, None] * items
        precision = scaled.T @ scaled  # BLAS saves half of the work, as both factors are one array
        precision.flat[:: len(precision) + 1] += items.dtype.type(1 / self.variance)
        return precision

    @cached_property
    def _squared(self) -> Float[np.ndarray, "r"]:
        return np.square(self.items).sum(0)

    @cached_property
    def _single(self) -> Float[np.ndarray, "N r"]:
        return self.items.astype(np.float32)

    def _solved(
        self, weight: Float[np.ndarray, "N H"], right: Float[np.ndarray, "r H"], eta: Float[np.ndarray, "H r"]
    ) -> Float[np.ndarray, "H r"]:
        """Solve Q η = right for all hyperplanes at once; a step needs one product with X and one with Xᵀ."""
        x, prior = self.items, 1 / self.variance
        near = self._preconditioner(weight)
        solution = eta.T.copy()
        residual = right - x.T @ (weight * (x @ solution)) - prior * solution
        enough = TOLERANCE * np.linalg.norm(right, axis=0)
        active = np.arange(right.shape[1])
        step = near(residual, active)
        square = (residual * step).sum(0)
        for _ in range(10 * x.shape[1]):
            # Written as "not <=", because a NaN has not converged either.
            active = active[~(np.linalg.norm(residual[:, active], axis=0) <= enough[active])]
            if not len(active):
                return solution.T
            now = step[:, active]
            image = x.T @ (weight[:, active] * (x @ now)) + prior * now
            length = square[active] / (now * image).sum(0)
            solution[:, active] += length * now
            residual[:, active] -= length * image
            scaled = near(residual[:, active], active)
            new = (residual[:, active] * scaled).sum(0)
            step[:, active] = scaled + new / square[active] * now
            square[active] = new
        for one in active:  # those that have not converged
            solution[:, one] = cho_solve(cho_factor(self.precision(weight[:, one])), right[:, one])
        return solution.T

    def _preconditioner(self, weight: Float[np.ndarray, "N H"]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """A function of residuals [r, h] and their hyperplanes [h]; it returns about Q⁻¹ times each residual."""
        # If all items had the mean weight, Q would be this diagonal matrix.
        scale = 1 / self.variance + self._squared[:, None] * weight.mean(0)
        if self.items.shape[1] > MOST_COLUMNS:
            return lambda residual, active: residual / scale[:, active]
        factors = [self._factor(one) for one in weight.T]

        def eliminated(residual: np.ndarray, active: np.ndarray) -> np.ndarray:
            solution = residual / scale[:, active]
            for column, one in enumerate(active):
                if factors[one] is not None:
                    side = residual[:, column].astype(np.float32)
                    solution[:, column] = cho_solve(factors[one], side, overwrite_b=True, check_finite=False)
            return solution

        return eliminated

    def _factor(self, weight: Float[np.ndarray, "N"]) -> tuple[np.ndarray, bool] | None:
        """Cholesky factor of Q in single precision; None if Q is not positive definite, or too large, in it."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                factor = cho_factor(self.precision(weight, self._single), overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None
        return factor if np.isfinite(factor[0].diagonal()).all() else None


def log_ratio(f: Float[np.ndarray, "..."], loss: str) -> Float[np.ndarray, "..."]:
    """ln p(y = 1) − ln p(y = −1) at f = x · η: f (logistic), or 2 max(1 + f, 0) − 2 max(1 − f, 0) (svm)."""
    return f if loss == "logistic" else 2 * (np.maximum(1 + f, 0) - np.maximum(1 - f, 0))


def log_likelihood(signed: Float[np.ndarray, "..."], loss: str) -> Float[np.ndarray, "..."]:
    """ln p(y) given ``signed`` = y f (eq. 2); for svm up to a constant."""
    return -np.logaddexp(0, -signed) if loss == "logistic" else -2 * np.maximum(1 - signed, 0)


def augmented(
    y: Float[np.ndarray, "N H"], f: Float[np.ndarray, "N H"], loss: str, rng: np.random.Generator
) -> tuple[Float[np.ndarray, "N H"], Float[np.ndarray, "N H"]]:
    """Draw the auxiliary variables; the log-likelihood is then −½ weight f² + linear f, up to a constant.

    Returns
    -------
    weight, linear : [N, H] ω and y / 2 (logistic), or 1/λ and y (1 + 1/λ) (svm)
    """
    if loss == "logistic":
        return random_polyagamma(1, f, random_state=rng), y / 2
    weight = reciprocal_scales(np.abs(1 - y * f), rng)
    return weight, y * (1 + weight)


def reciprocal_scales(distance: Float[np.ndarray, "..."], rng: np.random.Generator) -> Float[np.ndarray, "..."]:
    """Draws of 1/λ ~ InverseGaussian(1 / distance, 1), for distances ≥ 0."""
    # Michael, Schucany & Haas 1976, rewritten without differences of large numbers; the distance may be 0.
    chi = np.square(rng.standard_normal(distance.shape)) + 1e-300
    weight = 1 / (distance + chi / 2 + np.sqrt(distance * chi + np.square(chi) / 4))
    other = rng.random(distance.shape) * (1 + distance * weight) > 1
    weight[other] = 1 / (np.square(distance[other]) * weight[other])
    return weight


def rotated(items: Float[np.ndarray, "N D"]) -> tuple[Float[np.ndarray, "N r"], Float[np.ndarray, "D r"]]:
    """Items in the basis of their right singular vectors, and this basis; r ≤ min(N, D)."""
    left, length, right = np.linalg.svd(items, full_matrices=False)
    kept = length > length[:1] * max(items.shape) * np.finfo(float).eps
    return left[:, kept] * length[kept], right[kept].T


#: Maximal number of Newton steps.
_STEPS = 50
#: Steps end when no item's f changes by as much.
_TOLERANCE = 0.05


def nearest_gaussian(
    planes: Hyperplanes, y: Float[np.ndarray, "N"]
) -> tuple[Float[np.ndarray, "r"], Float[np.ndarray, "r r"]]:
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
