"""Hyperplanes that separate each cluster from all others, given the partition: data augmentation.

Nguyen et al. 2017, eqs. 2–4. Hyperplane h has weights η_h ~ N(0, w I) and meets item i with f = x_i · η_h and
y = 1 where the item is in its cluster, −1 elsewhere. The likelihood of y is σ(y f) (logistic), or exp(−2 max(1 − y f,
0)) (svm). An auxiliary variable for each item *and hyperplane* makes it Gaussian in η: Pólya–Gamma (Polson, Scott &
Windle 2013), or λ with 1/λ ~ InverseGaussian(1 / |1 − y f|, 1) (Polson & Scott 2011).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from polyagamma import random_polyagamma
from scipy.linalg import cho_factor, cho_solve

#: Up to so many columns the normal equations are solved by elimination, beyond by conjugate gradients, which need more
#: steps where weights are as far apart as the SVM's.
MOST_COLUMNS = {"svm": 400, "margin": 400, "logistic": 200}
#: Length of the residual, as a share of the right-hand side's, at which conjugate gradients end; a draw's own noise is
#: about a million times as long.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Hyperplanes:
    """What hyperplanes see of N items.

    Attributes
    ----------
    items : [N, r] items in the basis of their singular vectors, of which :func:`rotated` makes them: the prior is the
        same in every basis, and the products of their columns are 0
    loss : ``svm``, ``logistic``, or ``margin`` of :mod:`semicrowd.inference.gibbs.margins`
    variance : w
    """

    items: Float[np.ndarray, "N r"]
    loss: str
    variance: float

    def log_ratio(self, eta: Float[np.ndarray, "H r"]) -> Float[np.ndarray, "N H"]:
        """ln p(y = 1) − ln p(y = −1) of every item (eq. 3)."""
        return log_ratio(self.items @ eta.T, self.loss)

    def redraw(
        self, eta: Float[np.ndarray, "H r"], y: Float[np.ndarray, "N H"], rng: np.random.Generator
    ) -> Float[np.ndarray, "H r"]:
        """New hyperplanes given which items are in their clusters: auxiliary variables, then eq. 4 with Σ₀ = w I.

        η is the solution of Q η = Xᵀ (Ω z + Ω^½ ε) + w^−½ ε', whose mean is that of eq. 4 and whose covariance is Q⁻¹.
        """
        return self.drawn(*augmented(y, self.items @ eta.T, self.loss, rng), eta, rng)

    def drawn(
        self, weight: Float[np.ndarray, "N H"], linear: Float[np.ndarray, "N H"], eta: Float[np.ndarray, "H r"],
        rng: np.random.Generator,
    ) -> Float[np.ndarray, "H r"]:  # fmt: skip
        """Hyperplanes from their conditional, whose log-likelihood is −½ weight f² + linear f; ``eta`` is a guess."""
        noise = rng.standard_normal(weight.shape)
        right = self.items.T @ (linear + np.sqrt(weight) * noise)
        right += rng.standard_normal(right.shape) / np.sqrt(self.variance)
        if self.items.shape[1] <= MOST_COLUMNS[self.loss]:
            return self._eliminated(weight, right)
        return self._by_gradients(weight, right, eta)

    def precision(self, weight: Float[np.ndarray, "N"]) -> Float[np.ndarray, "r r"]:
        """Q = Xᵀ Ω X + I / w of one hyperplane."""
        scaled = np.sqrt(weight)[:, None] * self.items
        precision = scaled.T @ scaled  # of one array with itself: half of the work
        precision.flat[:: len(precision) + 1] += 1 / self.variance
        return precision

    def _eliminated(self, weight: Float[np.ndarray, "N H"], right: Float[np.ndarray, "r H"]) -> np.ndarray:
        found = np.empty_like(right.T)
        for one, side, eta in zip(weight.T, right.T, found, strict=True):
            factor = cho_factor(self.precision(one), overwrite_a=True, check_finite=False)
            eta[:] = cho_solve(factor, side, check_finite=False)
        return found

    def _by_gradients(
        self, weight: Float[np.ndarray, "N H"], right: Float[np.ndarray, "r H"], eta: Float[np.ndarray, "H r"]
    ) -> np.ndarray:
        """All hyperplanes at once: a product with X and one with Xᵀ a step."""
        x, prior = self.items, 1 / self.variance
        # XᵀX is diagonal in this basis: so is Q, where all weights of a hyperplane are alike.
        scale = prior + np.square(x).sum(0)[:, None] * weight.mean(0)
        found = eta.T.copy()
        residual = right - x.T @ (weight * (x @ found)) - prior * found
        enough = TOLERANCE * np.linalg.norm(right, axis=0)
        step = residual / scale
        square, active = (residual * step).sum(0), np.arange(right.shape[1])
        for _ in range(10 * x.shape[1]):
            active = active[np.linalg.norm(residual[:, active], axis=0) > enough[active]]
            if not len(active):
                return found.T
            now = step[:, active]
            image = x.T @ (weight[:, active] * (x @ now)) + prior * now
            length = square[active] / (now * image).sum(0)
            found[:, active] += length * now
            residual[:, active] -= length * image
            scaled = residual[:, active] / scale[:, active]
            new = (residual[:, active] * scaled).sum(0)
            step[:, active] = scaled + new / square[active] * now
            square[active] = new
        if len(active):  # those that did not settle
            found[:, active] = self._eliminated(weight[:, active], right[:, active]).T
        return found.T


def log_ratio(f: Float[np.ndarray, "..."], loss: str) -> Float[np.ndarray, "..."]:
    """ln p(y = 1) − ln p(y = −1) at f = x · η: f, or 2 max(1 + f, 0) − 2 max(1 − f, 0) of the SVM."""
    return f if loss == "logistic" else 2 * (np.maximum(1 + f, 0) - np.maximum(1 - f, 0))


def log_likelihood(signed: Float[np.ndarray, "..."], loss: str) -> Float[np.ndarray, "..."]:
    """ln p(y) at y f (eq. 2), that of the SVM up to a constant."""
    return -np.logaddexp(0, -signed) if loss == "logistic" else -2 * np.maximum(1 - signed, 0)


def augmented(
    y: Float[np.ndarray, "N H"], f: Float[np.ndarray, "N H"], loss: str, rng: np.random.Generator
) -> tuple[Float[np.ndarray, "N H"], Float[np.ndarray, "N H"]]:
    """Draw the auxiliary variables; the log-likelihood is then −½ weight f² + linear f, up to a constant.

    Returns
    -------
    weight, linear : [N, H] ω and y / 2, or 1/λ and y (1 + 1/λ) of the SVM
    """
    if loss == "logistic":
        return random_polyagamma(1, f, random_state=rng), y / 2
    weight = reciprocal_scales(np.abs(1 - y * f), rng)
    return weight, y * (1 + weight)


def reciprocal_scales(distance: Float[np.ndarray, "..."], rng: np.random.Generator) -> Float[np.ndarray, "..."]:
    """Draws of 1/λ ~ InverseGaussian(1 / distance, 1), for distances ≥ 0."""
    # Michael, Schucany & Haas 1976, without the difference of large numbers; it takes a distance of 0, too.
    chi = np.square(rng.standard_normal(distance.shape)) + 1e-300
    weight = 1 / (distance + chi / 2 + np.sqrt(distance * chi + np.square(chi) / 4))
    other = rng.random(distance.shape) * (1 + distance * weight) > 1
    weight[other] = 1 / (np.square(distance[other]) * weight[other])
    return weight


def rotated(items: Float[np.ndarray, "N D"]) -> tuple[Float[np.ndarray, "N r"], Float[np.ndarray, "D r"]]:
    """Items in the basis of their right singular vectors, r ≤ min(N, D), and that basis."""
    left, length, right = np.linalg.svd(items, full_matrices=False)
    kept = length > length[:1] * max(items.shape) * np.finfo(float).eps
    return left[:, kept] * length[kept], right[kept].T
