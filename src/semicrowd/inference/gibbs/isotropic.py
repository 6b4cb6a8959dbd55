"""Clusters that are Gaussians with the same variance in all directions; their means and precisions are sampled.

Li et al. 2022, eqs. 1 and 17–19: x | μ, λ ~ N(μ, I/λ) with base λ ~ Gamma(α₀, rate β₀), μ | λ ~ N(μ₀, I/(κ₀ λ)). The
density of an item in a cluster is given the cluster's parameters. In a cluster without items it is the marginal density
of the base (eq. 19), which is computed once. So a sweep takes O(N K D) time and O(N D) memory.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import gammaln

from semicrowd.inference.gibbs.parts import add, draw, log_predictive, overloads, remove


class Isotropic(NamedTuple):
    """N items and C clusters.

    Attributes
    ----------
    x : items minus μ₀
    log_new : ln p(x_i) in a cluster without other items, eq. 19
    location, kappa, shape, rate : μ₀, κ₀, α₀, β₀
    eq19 : exponent of κ₀ / κ' in eq. 19
    number : number of items of each cluster
    total, square : sums of each cluster's items and of their squared lengths
    mean, precision : of each cluster; the mean minus μ₀
    log_scale : D/2 ln(λ / 2π)
    """

    x: Float[np.ndarray, "N D"]
    log_new: Float[np.ndarray, "N"]
    location: Float[np.ndarray, "D"]
    kappa: float
    shape: float
    rate: float
    eq19: float
    number: Float[np.ndarray, "C"]
    total: Float[np.ndarray, "C D"]
    square: Float[np.ndarray, "C"]
    mean: Float[np.ndarray, "C D"]
    precision: Float[np.ndarray, "C"]
    log_scale: Float[np.ndarray, "C"]

    def log_evidence(self) -> float:
        """ln p(x | partition) of all items, means and precisions integrated out, in nats."""
        used = self.number > 0
        return float(self.evidence(self.number[used], self.total[used], self.square[used]).sum())

    def evidence(self, number: np.ndarray, total: np.ndarray, square: np.ndarray) -> np.ndarray:
        """ln p(x) of clusters with ``number`` [...] items and the sums ``total`` [..., D] and ``square`` [...]."""
        dim = self.x.shape[1]
        kappa, shape = self.kappa + number, self.shape + number * dim / 2
        rate = self.rate + (square - np.square(total).sum(-1) / kappa) / 2
        terms = gammaln(shape) - gammaln(self.shape) + self.shape * np.log(self.rate) - shape * np.log(rate)
        return np.asarray(terms + dim / 2 * (np.log(self.kappa / kappa) - number * np.log(2 * np.pi)))

    def expected(self) -> "Isotropic":
        """The same clusters with means and precisions expected given their items; given the base if they have none."""
        kappa, dim = self.kappa + self.number, self.x.shape[1]
        rate = self.rate + np.maximum(self.square - np.square(self.total).sum(1) / kappa, 0) / 2
        precision = (self.shape + self.number * dim / 2) / rate
        log_scale = dim / 2 * np.log(precision / (2 * np.pi))
        return self._replace(mean=self.total / kappa[:, None], precision=precision, log_scale=log_scale)

    def integrated(self) -> "Integrated":
        """The same clusters with parameters integrated out, for moves of many items; both share their statistics."""
        return Integrated(
            self.x, self.log_new, self.kappa, self.shape, self.rate, self.number, self.total, self.square
        )  # fmt: skip

    def of(self, x: np.ndarray) -> "Isotropic":
        """The same clusters with other items [N', D]."""
        x = np.ascontiguousarray(x - self.location, float)
        return self._replace(x=x, log_new=log_marginal(x, self.kappa, self.shape, self.rate, self.eq19))


class Integrated(NamedTuple):
    """Clusters whose means and precisions are integrated out; attributes are those of :class:`Isotropic`."""

    x: Float[np.ndarray, "N D"]
    log_new: Float[np.ndarray, "N"]
    kappa: float
    shape: float
    rate: float
    number: Float[np.ndarray, "C"]
    total: Float[np.ndarray, "C D"]
    square: Float[np.ndarray, "C"]


def isotropic(
    x: np.ndarray, location: np.ndarray, kappa: float, shape: float, rate: float, eq19: str = "corrected"
) -> Callable[[int], Isotropic]:
    """A function that makes the family with a given number of empty clusters.

    Parameters
    ----------
    x : [N, D] items
    location, kappa, shape, rate : μ₀ [D], κ₀ > 0, α₀ > 0, β₀ > 0
    eq19 : ``corrected``, with D/2 (ln κ₀ − ln κ'), or ``printed``, with ½ (ln κ₀ − ln κ'), which is not normalised
    """
    location = np.asarray(location, float)
    x = np.ascontiguousarray(x - location, float)
    power = 0.5 if eq19 == "printed" else x.shape[1] / 2
    log_new = log_marginal(x, kappa, shape, rate, power)

    def empty(clusters: int) -> Isotropic:
        one, many = np.zeros(clusters), np.zeros((clusters, x.shape[1]))
        return Isotropic(
            x, log_new, location, float(kappa), float(shape), float(rate), power, one, many, one.copy(), many.copy(),
            one.copy(), one.copy(),
        )  # fmt: skip

    return empty


def base_of(
    x: np.ndarray, scatter: float, mean_strength: float, variance_strength: float
) -> tuple[np.ndarray, float, float, float]:
    """μ₀ [D], κ₀, α₀, β₀ from items [N, D]: their mean, and ``scatter`` times their variance within a cluster.

    Parameters
    ----------
    mean_strength, variance_strength : number of items that the prior mean and variance count as
    """
    shape = variance_strength * x.shape[1] / 2
    return x.mean(0), mean_strength, shape, shape * scatter * max(float(x.var(0).mean()), 1e-30)


def log_marginal(x: np.ndarray, kappa: float, shape: float, rate: float, power: float) -> np.ndarray:
    """ln ∫ N(x | μ, I/λ) NG(μ, λ) dμ dλ, [N], of items minus μ₀ [N, D]: eq. 19, if ``power`` is D/2."""
    dim = x.shape[1]
    new_rate, new_shape = rate + kappa * np.square(x).sum(1) / (2 * (kappa + 1)), shape + dim / 2
    terms = gammaln(new_shape) - gammaln(shape) + shape * math.log(rate) - new_shape * np.log(new_rate)
    return np.asarray(terms + power * math.log(kappa / (kappa + 1)) - dim / 2 * math.log(2 * math.pi))


@overloads(log_predictive, Isotropic)
def _log_predictive(family: Any, item: int, cluster: int) -> float:
    if family.number[cluster] == 0:
        return family.log_new[item]
    square = 0.0
    for d in range(family.x.shape[1]):
        rest = family.x[item, d] - family.mean[cluster, d]
        square += rest * rest
    return family.log_scale[cluster] - family.precision[cluster] / 2 * square


@overloads(log_predictive, Integrated)
def _log_predictive_integrated(family: Any, item: int, cluster: int) -> float:
    # Eq. 19 with the posterior given the cluster's items in place of the base.
    dim, n = family.x.shape[1], family.number[cluster]
    if n == 0:
        return family.log_new[item]
    kappa, shape = family.kappa + n, family.shape + n * dim / 2
    length = square = 0.0
    for d in range(dim):
        mean = family.total[cluster, d] / kappa
        rest = family.x[item, d] - mean
        length += mean * mean
        square += rest * rest
    rate = family.rate + max(family.square[cluster] - kappa * length, 0.0) / 2
    terms = math.lgamma(shape + dim / 2) - math.lgamma(shape)
    terms += dim / 2 * math.log(kappa / ((kappa + 1) * rate * 2 * math.pi))
    return terms - (shape + dim / 2) * math.log1p(kappa / (kappa + 1) * square / (2 * rate))


@overloads(add, Integrated)
@overloads(add, Isotropic)
def _add(family: Any, item: int, cluster: int) -> None:
    family.number[cluster] += 1
    for d in range(family.x.shape[1]):
        family.total[cluster, d] += family.x[item, d]
        family.square[cluster] += family.x[item, d] * family.x[item, d]


@overloads(remove, Integrated)
@overloads(remove, Isotropic)
def _remove(family: Any, item: int, cluster: int) -> None:
    family.number[cluster] -= 1
    for d in range(family.x.shape[1]):
        family.total[cluster, d] -= family.x[item, d]
        family.square[cluster] -= family.x[item, d] * family.x[item, d]
    if family.number[cluster] == 0:  # removes rounding errors
        family.total[cluster] = 0.0
        family.square[cluster] = 0.0


@overloads(draw, Isotropic)
def _draw(family: Any, cluster: int, rng: Any) -> None:
    # Eq. 17. This formula of β_n from sums gives the same number as the paper's, from deviations from the mean.
    dim, n = family.x.shape[1], family.number[cluster]
    kappa, square = family.kappa + n, 0.0
    for d in range(dim):
        square += family.total[cluster, d] ** 2
    rate = family.rate + max(family.square[cluster] - square / kappa, 0.0) / 2
    precision = rng.standard_gamma(family.shape + n * dim / 2) / rate
    family.precision[cluster] = precision
    family.log_scale[cluster] = dim / 2 * math.log(precision / (2 * math.pi))
    for d in range(dim):
        noise = rng.standard_normal() / math.sqrt(kappa * precision)
        family.mean[cluster, d] = family.total[cluster, d] / kappa + noise
