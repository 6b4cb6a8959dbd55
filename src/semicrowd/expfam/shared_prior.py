"""Estimate, by Newton's method, the Beta prior common to all annotators from their counts."""

import numpy as np
from jaxtyping import Float, Real
from scipy.special import digamma, gammaln, zeta

#: Standard deviation of the logarithm of each pseudo-count around its usual value.
HYPERPRIOR_SD = 2.0
#: Smallest pseudo-count (nearly no prior).
_SMALLEST = 1e-3
#: Largest pseudo-count (all annotators have nearly the same rates).
_LARGEST = 1e3
#: Maximal number of Newton's steps.
_STEPS = 50
#: Maximal number of halvings of a step that would not lower the loss.
_HALVINGS = 30
#: Longest step of the logarithms: a pseudo-count changes at most by a factor of e².
_LONGEST = 2.0
#: Iteration ends when a step would gain fewer nats.
_TOLERANCE = 1e-9


def common_beta(counts: Real[np.ndarray, "M 2"], usual: tuple[float, float]) -> Float[np.ndarray, "2"]:
    """Shapes (a, b) of the Beta prior common to M annotators, from their right and wrong answers, ``counts``.

    The mode of the Beta-binomial likelihood in (ln a, ln b) under a wide hyperprior, each N(ln ``usual``, 2²).
    Many annotators determine the result, one or two hardly change it. If nobody errs the mode is still finite.

    Parameters
    ----------
    usual : centre of the hyperprior
    """
    crowd = _Crowd(counts.clip(min=0).astype(np.float64), usual)  # a difference of float64: zero may come as −1e-16
    low, high = np.log(_SMALLEST), np.log(_LARGEST)
    x = np.clip(crowd.centre, low, high)
    value = crowd.loss(x)
    for _ in range(_STEPS):
        gradient, hessian = crowd.slopes(x)
        held = ((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0))
        step = _downhill(np.where(held, 0, gradient), np.where(held | held[:, None], np.eye(2), hessian))
        if -gradient @ step < _TOLERANCE:
            break
        for _ in range(_HALVINGS):
            tried = np.clip(x + step, low, high)
            if (new := crowd.loss(tried)) < value:
                x, value = tried, new
                break
            step /= 2
        else:
            break
    return np.exp(x)


class _Crowd:
    """The loss: minus the log density of counts and hyperprior, up to a constant; x is (ln a, ln b)."""

    def __init__(self, counts: Float[np.ndarray, "M 2"], usual: tuple[float, float]) -> None:
        self.counts, self.total, self.centre = counts, counts.sum(1), np.log(usual)
        self.each = np.ones(len(counts))

    def loss(self, x: np.ndarray) -> float:
        shape = np.exp(x)
        likelihood = gammaln(shape.sum()) - gammaln(shape.sum() + self.total)
        for g in (0, 1):
            likelihood = likelihood + (gammaln(shape[g] + self.counts[:, g]) - gammaln(shape[g]))
        return float(0.5 * np.square((x - self.centre) / HYPERPRIOR_SD).sum() - self.each @ likelihood)

    def slopes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient [2] and Hessian [2, 2]."""
        shape, slope, own = np.exp(x), np.empty(2), np.empty(2)
        for g, (a, counts) in enumerate(zip(shape, self.counts.T, strict=True)):
            slope[g] = a * (self.each @ (digamma(a + counts) - digamma(a)))
            # ψ'(x) = ζ(2, x)
            own[g] = a**2 * (self.each @ (zeta(2, a + counts) - zeta(2, a)))
        whole, prior = shape.sum(), 1 / HYPERPRIOR_SD**2
        slope -= shape * (self.each @ (digamma(whole + self.total) - digamma(whole)))
        both = self.each @ (zeta(2, whole + self.total) - zeta(2, whole))
        curvature = np.diag(own + slope) - both * np.outer(shape, shape)
        return prior * (x - self.centre) - slope, prior * np.eye(2) - curvature


def _downhill(gradient: np.ndarray, hessian: np.ndarray) -> np.ndarray:
    sizes, axes = np.linalg.eigh(hessian)
    step: np.ndarray = -axes @ (axes.T @ gradient / np.maximum(np.abs(sizes), 1e-6))
    return step / max(float(np.linalg.norm(step)) / _LONGEST, 1.0)
