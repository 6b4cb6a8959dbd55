"""Clusters that are multinomials of counts, under a symmetric Dirichlet base; the probabilities are integrated out.

Densities are without the multinomial coefficient, which is the same for every partition.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import gammaln

from semicrowd.inference.gibbs.parts import add, draw, ignored, log_predictive, overloads, remove


class Multinomial(NamedTuple):
    """N items with counts in D columns, and C clusters. Only counts above 0 are stored; those of item i have indices
    from ``first[i]`` to ``first[i + 1] − 1``.

    Attributes
    ----------
    column, value : column and value of every count above 0
    total : sum of each item's counts
    mass : D · a, the sum of the Dirichlet's parameters
    log_gamma : ln Γ(a + c) for c = 0, 1, … to the largest sum of a column
    counts, log_gammas : counts c of each cluster, and ln Γ(a + c)
    totals : sum of each cluster's counts
    """

    first: Int[np.ndarray, "N+1"]
    column: Int[np.ndarray, "entries"]
    value: Int[np.ndarray, "entries"]
    total: Int[np.ndarray, "N"]
    mass: float
    log_gamma: Float[np.ndarray, "sums"]
    counts: Int[np.ndarray, "C D"]
    log_gammas: Float[np.ndarray, "C D"]
    totals: Int[np.ndarray, "C"]

    def log_evidence(self) -> float:
        """ln p(x | partition) of all items without the multinomial coefficients, in nats."""
        columns = self.log_gammas.sum(-1) - self.counts.shape[1] * self.log_gamma[0]
        return float((columns + gammaln(self.mass) - gammaln(self.mass + self.totals)).sum())

    def integrated(self) -> "Multinomial":
        """This family, which integrates its parameters out."""
        return self

    def of(self, x: np.ndarray) -> "Multinomial":
        """The same clusters with other items, [N', D] whole numbers >= 0."""
        dim = self.counts.shape[1]
        other = multinomial(x, self.mass / dim, int(self.counts.max(initial=0)))(0)
        return other._replace(counts=self.counts, log_gammas=self.log_gammas, totals=self.totals)


def multinomial(x: np.ndarray, concentration: float, more: int = 0) -> Callable[[int], Multinomial]:
    """A function that makes the family with a given number of empty clusters.

    Parameters
    ----------
    x : [N, D] whole numbers >= 0
    concentration : a > 0, of the symmetric Dirichlet base
    more : the largest count of a column that clusters may have in addition to x
    """
    row, column = np.nonzero(x)
    dim = x.shape[1]
    table = gammaln(concentration + np.arange(more + int(x.sum(0).max(initial=0)) + 1))
    first, column = np.searchsorted(row, np.arange(len(x) + 1)), column.astype(np.int32)
    value, total = x[row, column].astype(np.int64), x.sum(1).astype(np.int64)

    def empty(clusters: int) -> Multinomial:
        return Multinomial(
            first, column, value, total, dim * float(concentration), table, np.zeros((clusters, dim), np.int64),
            np.full((clusters, dim), table[0]), np.zeros(clusters, np.int64),
        )  # fmt: skip

    return empty


@overloads(log_predictive, Multinomial)
def _log_predictive(family: Any, item: int, cluster: int) -> float:
    counts, before = family.counts[cluster], family.log_gammas[cluster]
    mass = family.mass + family.totals[cluster]
    found = math.lgamma(mass) - math.lgamma(mass + family.total[item])
    for entry in range(family.first[item], family.first[item + 1]):
        column = family.column[entry]
        found += family.log_gamma[counts[column] + family.value[entry]] - before[column]
    return found


@overloads(add, Multinomial)
def _add(family: Any, item: int, cluster: int) -> None:
    family.totals[cluster] += family.total[item]
    for entry in range(family.first[item], family.first[item + 1]):
        column = family.column[entry]
        family.counts[cluster, column] += family.value[entry]
        family.log_gammas[cluster, column] = family.log_gamma[family.counts[cluster, column]]


@overloads(remove, Multinomial)
def _remove(family: Any, item: int, cluster: int) -> None:
    family.totals[cluster] -= family.total[item]
    for entry in range(family.first[item], family.first[item + 1]):
        column = family.column[entry]
        family.counts[cluster, column] -= family.value[entry]
        family.log_gammas[cluster, column] = family.log_gamma[family.counts[cluster, column]]


ignored(Multinomial, draw)
