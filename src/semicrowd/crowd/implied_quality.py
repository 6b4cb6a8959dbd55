"""What an annotator who slips is worth in answers about pairs.

The two-coin model speaks of what the annotator perceives; a slip changes whether two items are perceived as one kind.
Axes: R restarts, M annotators, K kinds.
"""

from typing import NamedTuple

import numpy as np


class Agreement(NamedTuple):
    """Chances that two items are perceived as one kind, [R] each.

    Attributes
    ----------
    one_same, one_different : after a slip on one of two items of one kind, or of two kinds
    both : after slips on both
    """

    one_same: np.ndarray
    one_different: np.ndarray
    both: np.ndarray


def agreement_after_slips(weights: np.ndarray, slip_kinds: np.ndarray) -> Agreement:
    """From the kinds of the items and those that slips lead to.

    Parameters
    ----------
    weights : [R, K], shares of the kinds
    slip_kinds : [R, K + 1], ρ; the last is a kind of its own
    """
    rho, square = slip_kinds[:, :-1], weights**2
    same = square.sum(-1)
    different = np.maximum(1 - same, np.finfo(float).tiny)
    return Agreement((square * rho).sum(-1) / same, ((weights - square) * rho).sum(-1) / different, (rho**2).sum(-1))


def implied_quality(
    sensitivity: np.ndarray, specificity: np.ndarray, slips: np.ndarray, chances: Agreement
) -> tuple[np.ndarray, np.ndarray]:
    """Beta shapes [R, M, 2] of P(answer 1 | same kind) and P(answer 0 | different kinds), slips included.

    With a(ε) = (1 − ε)² a₀ + 2 ε (1 − ε) a₁ + ε² a₂ the chance that a pair is perceived as one kind, the sensitivity is
    a α + (1 − a) (1 − β), where a₀ = 1, and the specificity (1 − a) β + a (1 − α), where a₀ = 0. The shapes are those
    of the Beta with the exact mean and variance under q(α), q(β), q(ε).

    Parameters
    ----------
    sensitivity, specificity, slips : [R, M, 2], Beta shapes of α, β and ε
    """
    right, wrong = _moments(sensitivity, 2), _moments(specificity[..., ::-1], 2)
    found = []
    for always, once in ((1.0, chances.one_same), (0.0, chances.one_different)):
        # Coefficients of a(ε) by the power of ε, [R, 1, 3].
        a = np.stack([np.full_like(once, always), 2 * (once - always), always - 2 * once + chances.both], -1)[:, None]
        power = _moments(slips, 4)
        mean = (a * power[..., :3]).sum(-1)
        square = sum(a[..., i] * a[..., j] * power[..., i + j] for i in range(3) for j in range(3))
        # P(answer 1) = a α + (1 − a) (1 − β)
        first = mean * right[..., 1] + (1 - mean) * wrong[..., 1]
        second = square * right[..., 2] + 2 * (mean - square) * right[..., 1] * wrong[..., 1]
        second = second + (1 - 2 * mean + square) * wrong[..., 2]
        shape = _beta_of(first, second - first**2)
        found.append(shape if always else shape[..., ::-1])
    return found[0], found[1]


def _moments(shape: np.ndarray, highest: int) -> np.ndarray:
    """E θ^0 … E θ^highest of Betas [R, M, 2], last axis."""
    a, total = shape[..., 0], shape.sum(-1)
    factors = [np.ones_like(a)] + [(a + i) / (total + i) for i in range(highest)]
    return np.cumprod(np.stack(factors, -1), -1)


def _beta_of(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Shapes of the Beta with this mean and variance."""
    mean = mean.clip(1e-12, 1 - 1e-12)
    concentration = np.maximum(mean * (1 - mean) / np.maximum(variance, 1e-30) - 1, 1e-6)
    return np.stack([mean * concentration, (1 - mean) * concentration], -1)
