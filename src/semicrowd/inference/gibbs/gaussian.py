"""Clusters that are Gaussians with full covariances, under a normal-inverse-Wishart base distribution.

Murphy 2007, section 9: μ | Σ ~ N(μ₀, Σ / κ₀), Σ ~ IW(Ψ₀, ν₀), both integrated out. The Cholesky factor of a cluster's
scatter Ψ_n is stored; adding or removing an item updates it in O(D²).
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import gammaln

from semicrowd.inference.compiled import compiled
from semicrowd.inference.gibbs.parts import add, draw, ignored, log_predictive, overloads, remove


class Gaussian(NamedTuple):
    """N items and C clusters.

    Attributes
    ----------
    x : items
    kappa, degrees : κ₀ and ν₀
    log_constant : the part of the log predictive density of a cluster of n items that depends on n alone
    number : number of items of each cluster
    location : μ_n
    factor : lower Cholesky factor of Ψ_n
    log_det : ln |Ψ_n|
    log_det_base : ln |Ψ₀|; NaN in files of an earlier version, where it is not needed
    """

    x: Float[np.ndarray, "N D"]
    kappa: float
    degrees: float
    log_constant: Float[np.ndarray, "N+1"]
    number: Float[np.ndarray, "C"]
    location: Float[np.ndarray, "C D"]
    factor: Float[np.ndarray, "C D D"]
    log_det: Float[np.ndarray, "C"]
    log_det_base: float = math.nan

    def log_evidence(self) -> float:
        """ln p(x | partition) of all items, in nats."""
        log_det, n = self.log_det[self.number > 0], self.number[self.number > 0]
        # Sum of the predictive constants of a cluster's items; the other factors of Γ_D cancel.
        constant = np.append(0, np.cumsum(self.log_constant))[n.astype(int)]
        return float((constant + self.degrees / 2 * self.log_det_base - (self.degrees + n) / 2 * log_det).sum())

    def integrated(self) -> "Gaussian":
        """This family, which integrates its parameters out."""
        return self

    def of(self, x: np.ndarray) -> "Gaussian":
        """The same clusters with other items [N', D]."""
        return self._replace(x=np.ascontiguousarray(x, float))


def gaussian(
    x: np.ndarray, location: np.ndarray, kappa: float, degrees: float, scatter: np.ndarray
) -> Callable[[int], Gaussian]:
    """A function that makes the family with a given number of empty clusters.

    Parameters
    ----------
    x : [N, D] items
    location, kappa, degrees, scatter : μ₀ [D], κ₀ > 0, ν₀ > D − 1, Ψ₀ [D, D]
    """
    items, dim = x.shape
    x, location = np.ascontiguousarray(x, float), np.asarray(location, float)
    n = np.arange(items + 1)
    constant = gammaln((degrees + n + 1) / 2) - gammaln((degrees + n + 1 - dim) / 2)
    constant += dim / 2 * (np.log((kappa + n) / (kappa + n + 1)) - np.log(np.pi))
    factor = np.linalg.cholesky(scatter)
    log_det = 2 * np.log(np.diag(factor)).sum()

    def empty(clusters: int) -> Gaussian:
        locations, factors = np.empty((clusters, dim)), np.empty((clusters, dim, dim))
        locations[:], factors[:] = location, factor
        return Gaussian(
            x, float(kappa), float(degrees), constant, np.zeros(clusters), locations, factors,
            np.full(clusters, log_det), float(log_det),
        )  # fmt: skip

    return empty


@overloads(log_predictive, Gaussian)
def _log_predictive(family: Any, item: int, cluster: int) -> float:
    # A Student density with ν_n − D + 1 degrees of freedom; x enters by the squared length of L⁻¹(x − μ_n).
    dim, factor, location = family.x.shape[1], family.factor[cluster], family.location[cluster]
    n = family.number[cluster]
    solved = np.empty(dim)
    square = 0.0
    for d in range(dim):
        rest = family.x[item, d] - location[d]
        for e in range(d):
            rest -= factor[d, e] * solved[e]
        solved[d] = rest / factor[d, d]
        square += solved[d] * solved[d]
    kappa = family.kappa + n
    half = (family.degrees + n + 1) / 2
    return family.log_constant[int(n)] - family.log_det[cluster] / 2 - half * math.log1p(
        square * kappa / (kappa + 1)
    )


@overloads(add, Gaussian)
def _add(family: Any, item: int, cluster: int) -> None:
    kappa = family.kappa + family.number[cluster]
    _change(family, item, cluster, math.sqrt(kappa / (kappa + 1)), 1.0)
    family.location[cluster] += (family.x[item] - family.location[cluster]) / (kappa + 1)
    family.number[cluster] += 1


@overloads(remove, Gaussian)
def _remove(family: Any, item: int, cluster: int) -> None:
    kappa = family.kappa + family.number[cluster]
    _change(family, item, cluster, math.sqrt(kappa / (kappa - 1)), -1.0)
    family.location[cluster] -= (family.x[item] - family.location[cluster]) / (kappa - 1)
    family.number[cluster] -= 1


@compiled
def _change(family: Any, item: int, cluster: int, length: float, sign: float) -> None:
    """Add ± v vᵀ to Ψ, v = ``length`` (x − μ), by a rank-one update of its Cholesky factor (Golub & Van Loan)."""
    dim, factor = family.x.shape[1], family.factor[cluster]
    v = length * (family.x[item] - family.location[cluster])
    log_det = 0.0
    for d in range(dim):
        # Every scatter contains Ψ₀, so that a negative value is a rounding error.
        radius = math.sqrt(max(factor[d, d] ** 2 + sign * v[d] ** 2, 1e-300))
        cosine, sine = radius / factor[d, d], v[d] / factor[d, d]
        factor[d, d] = radius
        for e in range(d + 1, dim):
            factor[e, d] = (factor[e, d] + sign * sine * v[e]) / cosine
            v[e] = cosine * v[e] - sine * factor[e, d]
        log_det += 2 * math.log(radius)
    family.log_det[cluster] = log_det


ignored(Gaussian, draw)
