"""Compiled sums over Q (eq. 6) in SLPD's E-step. Q has K entries for each value of the data, so only its sums are kept.

Most of the time is spent on exponentials. :func:`exponentials` uses plain arithmetic, which a compiler can turn into
vector instructions.
"""

import math
from typing import Any

import numpy as np

from semicrowd.inference.compiled import compiled

#: Maximal number of entries of Q in memory at once, so that they fit into a core's first-level cache.
_PIECE = 2**11
#: 1 / ln 2, used to write eˣ as a power of two times a remainder.
_LOG2E = 1 / math.log(2)
#: First part of ln 2: its leading bits only, so that its product with a small whole number is exact.
_HIGH = 6.93147180369123816490e-01
#: Second part of ln 2: the remainder.
_LOW = 1.90821492927058770002e-10
#: Taylor coefficients of eˣ, sufficient for |x| ≤ ½ ln 2.
_C = tuple(1 / math.factorial(n) for n in range(13))
#: About the smallest x for which eˣ is a normal number; smaller arguments are set to it.
_LEAST = -708.0
#: Sums of fewer than this may have lost digits.
_SMALL = 1e-290


@compiled
def exponentials(x: Any, power: Any) -> None:
    """Replace x ≤ 0 by eˣ = 2ⁿ e^r with |r| ≤ ½ ln 2, x < −708 by e⁻⁷⁰⁸; ``power``: work space, int64, size of x."""
    for i in range(len(x)):
        value = max(x[i], _LEAST)
        n = math.floor(value * _LOG2E + 0.5)
        r = (value - n * _HIGH) - n * _LOW
        p = _C[12] * r + _C[11]
        p = (p * r + _C[10]) * r + _C[9]
        p = (p * r + _C[8]) * r + _C[7]
        p = (p * r + _C[6]) * r + _C[5]
        p = (p * r + _C[4]) * r + _C[3]
        p = (p * r + _C[2]) * r + _C[1]
        x[i] = p * r + _C[0]
        power[i] = np.int64(np.int32(n) + 1023) << 52  # the bits of the float64 2ⁿ
    two = power.view(np.float64)
    for i in range(len(x)):
        x[i] *= two[i]


@compiled
def _sum(x: Any) -> Any:
    """Σ x, by four partial sums that the processor can compute at the same time."""
    a = b = c = d = 0.0
    whole = len(x) // 4 * 4
    for i in range(0, whole, 4):
        a += x[i]
        b += x[i + 1]
        c += x[i + 2]
        d += x[i + 3]
    for i in range(whole, len(x)):
        a += x[i]
    return (a + b) + (c + d)


@compiled
def _sum_of_logarithms(x: Any) -> Any:
    """Σ ln x of numbers from 1 to K, by the logarithms of products of eight numbers."""
    value = 0.0
    for low in range(0, len(x), 8):
        product = 1.0
        for i in range(low, min(low + 8, len(x))):
            product *= x[i]
        value += math.log(product)
    return value


@compiled
def add_up(
    values: Any, observed: Any, block: Any, log_theta: Any, quadratic: Any, linear: Any, constant: Any,
    total: Any, weight: Any, first: Any, second: Any,
) -> Any:  # fmt: skip
    """Add sums of the optimal Q of R restarts to the last four arguments, in place; returns Σ_dg ln normaliser, [R].

    Parameters
    ----------
    values : [D, G]
    observed : [D, G], 1 or 0; [0, G] if nothing is missing
    block : [D], block of each sample
    log_theta : [R, C, K], E ln θ
    quadratic, linear, constant : [R, K, G], coefficients of a value's log density as a polynomial of the value
    total : [R, C, K], Σ_dg Q over the samples of each block
    weight, first, second : [R, K, G], Σ_d Q, Σ_d Q E and Σ_d Q E² of each feature, where E are the values
    """
    samples, features = values.shape
    restarts, _, clusters = log_theta.shape
    some = max(_PIECE // (clusters * features), 1)
    q, power = np.empty((clusters, some * features)), np.empty(clusters * some * features, np.int64)
    top, norm, there = np.empty(some * features), np.empty(some * features), np.ones(some * features)
    log_normaliser = np.zeros(restarts)
    for r in range(restarts):
        for low in range(0, samples, some):
            high = min(low + some, samples)
            top[:] = -np.inf
            for k in range(clusters):
                a, b, c = quadratic[r, k], linear[r, k], constant[r, k]
                for d in range(low, high):
                    x, place = values[d], (d - low) * features
                    row, largest, shift = q[k, place:], top[place:], log_theta[r, block[d], k]
                    for g in range(features):
                        row[g] = (a[g] * x[g] + b[g]) * x[g] + (c[g] + shift)
                        largest[g] = max(largest[g], row[g])
            size = (high - low) * features
            norm[:] = 0.0
            for k in range(clusters):
                row = q[k, :size]
                row -= top[:size]
                exponentials(row, power[:size])
                norm[:size] += row
            norm[size:], top[size:] = 1.0, 0.0
            if observed.shape[0]:
                there[:size] = observed[low:high].ravel()
                top *= there
                log_normaliser[r] += _sum_of_logarithms(there * norm + (1.0 - there))
            else:
                log_normaliser[r] += _sum_of_logarithms(norm)
            log_normaliser[r] += _sum(top)
            for i in range(size):
                norm[i] = there[i] / norm[i]
            for k in range(clusters):
                q[k, :size] *= norm[:size]
                w, one, two = weight[r, k], first[r, k], second[r, k]
                for d in range(low, high):
                    x, place = values[d], (d - low) * features
                    row = q[k, place : place + features]
                    for g in range(features):
                        moment = row[g] * x[g]
                        w[g] += row[g]
                        one[g] += moment
                        two[g] += moment * x[g]
                    total[r, block[d], k] += _sum(row)
    return log_normaliser


@compiled
def block_sums(density: Any, observed: Any, block: Any, theta: Any, total: Any) -> None:
    """Add Σ_dg Q of each block to ``total``; NaN for one in which a value has likelihood 0 in floats.

    Parameters
    ----------
    density : [R, D, K, G], densities of each value, relative to the largest
    observed : [D, G], 1 or 0; [0, G] if nothing is missing
    block : [D], block of each sample
    theta : [R, C, K], exp(E ln θ), relative to the largest
    total : [R, C, K]
    """
    restarts, samples, clusters, features = density.shape
    norm, work = np.empty(features), np.empty(features)
    for r in range(restarts):
        for d in range(samples):
            share, of = theta[r, block[d]], total[r, block[d]]
            norm[:] = 0.0
            for k in range(clusters):
                row = density[r, d, k]
                for g in range(features):
                    norm[g] += share[k] * row[g]
            for g in range(features):
                norm[g] = 1.0 / norm[g] if norm[g] > _SMALL else np.nan
            if observed.shape[0]:
                for g in range(features):
                    norm[g] = norm[g] if observed[d, g] else 0.0
            for k in range(clusters):
                row = density[r, d, k]
                for g in range(features):
                    work[g] = row[g] * norm[g]
                of[k] += share[k] * _sum(work)
