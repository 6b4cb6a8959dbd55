"""Weights of columns: how well differences in each of them predict the answers.

A diagonal metric is learned from pairs (Xing et al. 2003) by logistic regression (Guillaumin et al. 2009). Tables often
have columns that have nothing to do with what people were asked, and with equal weights these columns hide the others.
"""

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize
from scipy.special import expit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.random import stream

#: Answers that are used, at most.
_MAX_ANSWERS = 10_000
#: Answers × columns, at most: 128 MiB.
_MAX_VALUES = 2**24


def column_weights(
    x: Float[np.ndarray, "n D"], answers: PairAnnotations, first: Int[np.ndarray, "G"]
) -> Float[np.ndarray, "D"]:
    """Weights r of the columns by the answers.

    p(same) = logit⁻¹(b − s/G Σ_g r_g Σ_d∈g ½ (x_id − x_jd)²), r_g >= 0, with the prior r_g ~ N(1, 1): with few answers,
    or many columns, weights stay near 1. Answers about the same items are not independent: all together count as no
    more than one for each item. b and s >= 0 have the highest likelihood under equal weights, then b and r
    the highest posterior density. If people's answers do not depend on the distance, s is 0 and r is 1.

    Parameters
    ----------
    x : the annotated items, columns on one scale
    first : first column of each of G groups of adjacent columns that have the same weight, such as a category
    """
    number = min(answers.num_pairs, _MAX_ANSWERS, max(_MAX_VALUES // x.shape[1], 1))
    some = stream(0, "weighting/answers").permutation(answers.num_pairs)[:number]
    same = answers.label[some].astype(np.float64)
    i, j = (np.searchsorted(answers.annotated, ends[some]) for ends in (answers.i, answers.j))
    distance = 0.5 * np.square(x[i] - x[j], dtype=np.float64)
    distance = np.add.reduceat(distance, first, axis=1)
    mean = distance.mean(1, keepdims=True)
    offset, scale = _regression(mean, same, np.array([0.0, 1.0]), precision=0.0)
    distance *= scale / len(first)
    precision = max(1.0, number / len(x))
    weights = _regression(distance, same, np.r_[offset, np.ones(len(first))], precision)[1:]
    return np.repeat(weights, np.diff(np.r_[first, x.shape[1]]))


def _regression(
    distance: Float[np.ndarray, "P D"], same: Float[np.ndarray, "P"], first: Float[np.ndarray, "D+1"], precision: float
) -> Float[np.ndarray, "D+1"]:
    """Offset b and weights r >= 0 with the prior N(1, 1 / precision) of the weights; ``first``: initial values."""

    def loss(b_and_r: np.ndarray) -> tuple[float, np.ndarray]:
        logit, off = b_and_r[0] - distance @ b_and_r[1:], b_and_r[1:] - 1
        error = expit(logit) - same
        value = np.logaddexp(0, logit).sum() - same @ logit + 0.5 * precision * (off @ off)
        return value, np.r_[error.sum(), precision * off - error @ distance]

    bounds = [(None, None), *[(0, None)] * distance.shape[1]]
    found: np.ndarray = minimize(loss, first, jac=True, bounds=bounds, method="L-BFGS-B").x
    return found
