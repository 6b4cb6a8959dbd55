"""Estimate, by Newton's method, the Beta or Dirichlet prior common to all annotators from their counts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Real
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


class Cells(NamedTuple):
    """A group of cells with one total pseudo-count, divided equally. Cells that are not listed have count 0.

    Attributes
    ----------
    row : row of each listed cell
    counts : its count
    size : number of cells of the group in every row
    """

    row: Int[np.ndarray, "C"]
    counts: Float[np.ndarray, "C"]
    size: int = 1


def common_beta(counts: Real[np.ndarray, "M 2"], usual: tuple[float, float]) -> Float[np.ndarray, "2"]:
    """Shapes (a, b) of the Beta prior common to M annotators, from their right and wrong answers, ``counts``.

    The mode of the Beta-binomial likelihood in (ln a, ln b) under a wide hyperprior, each N(ln ``usual``, 2²).
    Many annotators determine the result, one or two hardly change it. If nobody errs the mode is still finite.

    Parameters
    ----------
    usual : centre of the hyperprior
    """
    counts = counts.clip(min=0)  # a difference of float64: zero may come as −1e-16
    rows = np.arange(len(counts))
    cells = [Cells(rows, column.astype(np.float64)) for column in counts.T]
    return common_dirichlet(cells, np.ones(len(counts)), usual)


def common_dirichlet(
    cells: Sequence[Cells],
    weight: Float[np.ndarray, "M"],
    usual: Sequence[float],
    start: Float[np.ndarray, "G"] | None = None,
) -> Float[np.ndarray, "G"]:
    """Pseudo-counts of G groups of cells in the Dirichlet prior common to M rows of counts.

    The mode of the Dirichlet-multinomial likelihood (Polya; Minka 2000) in their logarithms, under the hyperprior of
    :func:`common_beta`.

    Parameters
    ----------
    cells : of each group
    weight : factor of each row's log-likelihood
    usual : centre of the hyperprior
    start : initial pseudo-counts; None: ``usual``
    """
    crowd = _Crowd(cells, weight, np.log(usual))
    low, high = np.log(_SMALLEST), np.log(_LARGEST)
    x = np.clip(crowd.centre if start is None else np.log(start), low, high)
    value = crowd.loss(x)
    for _ in range(_STEPS):
        gradient, hessian = crowd.slopes(x)
        held = ((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0))
        step = _downhill(np.where(held, 0, gradient), np.where(held | held[:, None], np.eye(len(x)), hessian))
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


def log_likelihood(cells: Sequence[Cells], num_rows: int, shape: Float[np.ndarray, "G"]) -> Float[np.ndarray, "M"]:
    """ln probability of a sequence of draws with each row's counts, under the Dirichlet of these pseudo-counts."""
    total = sum(np.bincount(group.row, group.counts, num_rows) for group in cells)
    found = gammaln(shape.sum()) - gammaln(shape.sum() + total)
    for each, group in zip(shape, cells, strict=True):
        own = each / group.size
        found = found + np.bincount(group.row, gammaln(own + group.counts) - gammaln(own), num_rows)
    return np.asarray(found)


class _Crowd:
    """The loss: minus the log density of counts and hyperprior, up to a constant; x is ln of the pseudo-counts."""

    def __init__(self, cells: Sequence[Cells], weight: np.ndarray, centre: np.ndarray) -> None:
        self.cells, self.weight, self.centre = cells, weight, centre
        self.total = sum(np.bincount(group.row, group.counts, len(weight)) for group in cells)

    def loss(self, x: np.ndarray) -> float:
        likelihood = self.weight @ log_likelihood(self.cells, len(self.weight), np.exp(x))
        return float(0.5 * np.square((x - self.centre) / HYPERPRIOR_SD).sum() - likelihood)

    def slopes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient [G] and Hessian [G, G]."""
        shape, slope, own = np.exp(x), np.empty(len(x)), np.empty(len(x))
        for g, group in enumerate(self.cells):
            each, weight = shape[g] / group.size, self.weight[group.row]
            slope[g] = each * (weight @ (digamma(each + group.counts) - digamma(each)))
            # ψ'(x) = ζ(2, x)
            own[g] = each**2 * (weight @ (zeta(2, each + group.counts) - zeta(2, each)))
        whole, prior = shape.sum(), 1 / HYPERPRIOR_SD**2
        slope -= shape * (self.weight @ (digamma(whole + self.total) - digamma(whole)))
        both = self.weight @ (zeta(2, whole + self.total) - zeta(2, whole))
        curvature = np.diag(own + slope) - both * np.outer(shape, shape)
        return prior * (x - self.centre) - slope, prior * np.eye(len(x)) - curvature


def _downhill(gradient: np.ndarray, hessian: np.ndarray) -> np.ndarray:
    """Newton's step with absolute eigenvalues of the Hessian, so that it descends; at most :data:`_LONGEST` long."""
    sizes, axes = np.linalg.eigh(hessian)
    step: np.ndarray = -axes @ (axes.T @ gradient / np.maximum(np.abs(sizes), 1e-6))
    return step / max(float(np.linalg.norm(step)) / _LONGEST, 1.0)
