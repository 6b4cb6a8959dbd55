"""The Beta that the rates of a crowd share, by Newton steps: the mode of the Beta-binomial likelihood."""

import numpy as np
from jaxtyping import Float, Real
from scipy.special import betaln, digamma, zeta

#: Standard deviation of ln a and ln b of the shared Beta(a, b) around their usual values.
HYPERPRIOR_SD = 2.0
#: Smallest and largest shape.
_SMALLEST, _LARGEST = 1e-3, 1e3
_STEPS, _HALVINGS = 50, 30
#: Longest step of a logarithm, and the nats that another step would gain, from which on it is taken.
_LONGEST, _TOLERANCE = 2.0, 1e-9


def common_beta(
    counts: Real[np.ndarray, "M 2"], usual: tuple[float, float], least: tuple[float, float] = (0.0, 0.0)
) -> Float[np.ndarray, "2"]:
    """Shapes (a, b) of the Beta that M annotators' right and wrong answers, ``counts``, share.

    The mode of the Beta-binomial likelihood in (ln a, ln b) under a wide hyperprior, each N(ln ``usual``, 2²): a crowd
    decides, one or two annotators hardly move it, and where nobody errs the mode stays finite.

    Parameters
    ----------
    usual : shapes that are expected beforehand
    least : lower bounds of the shapes
    """
    crowd = _Crowd(counts, np.log(usual))
    low, high = np.log(np.maximum(least, _SMALLEST)), np.full(2, np.log(_LARGEST))
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
    """Negative log likelihood of (ln a, ln b) and hyperprior, up to a constant."""

    def __init__(self, counts: Real[np.ndarray, "M 2"], centre: Float[np.ndarray, "2"]) -> None:
        counts = counts.clip(min=0)  # a difference of float64: zero may come as −1e-16
        self.counts, self.total, self.centre = counts, counts.sum(1), centre

    def loss(self, x: np.ndarray) -> float:
        a, b = np.exp(x)
        likelihood = (betaln(a + self.counts[:, 0], b + self.counts[:, 1]) - betaln(a, b)).sum()
        return float(0.5 * np.square((x - self.centre) / HYPERPRIOR_SD).sum() - likelihood)

    def slopes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient [2] and Hessian [2, 2]."""
        shape = np.exp(x)
        whole, prior = shape.sum(), 1 / HYPERPRIOR_SD**2
        slope = (digamma(shape + self.counts) - digamma(shape)).sum(0)
        slope = shape * (slope - (digamma(whole + self.total) - digamma(whole)).sum())
        # ψ'(x) = ζ(2, x)
        own = (zeta(2, shape + self.counts) - zeta(2, shape)).sum(0)
        both = (zeta(2, whole + self.total) - zeta(2, whole)).sum()
        curvature = np.outer(shape, shape) * (np.diag(own) - both) + np.diag(slope)
        return prior * (x - self.centre) - slope, prior * np.eye(2) - curvature


def _downhill(gradient: np.ndarray, hessian: np.ndarray) -> np.ndarray:
    """Newton's step by the size of the curvature, whatever its sign, and no longer than :data:`_LONGEST`."""
    sizes, axes = np.linalg.eigh(hessian)
    step: np.ndarray = -axes @ (axes.T @ gradient / np.maximum(np.abs(sizes), 1e-6))
    return step / max(float(np.linalg.norm(step)) / _LONGEST, 1.0)
