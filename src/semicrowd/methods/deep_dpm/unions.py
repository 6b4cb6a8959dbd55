"""Unions of clusters of a Dirichlet process mixture that raise the joint probability of items and partition.

With many items, the posterior represents a cluster that is not quite Gaussian by two overlapping ones. Their union has
a higher ln p(x, z), with means and precisions integrated out, unless the two clusters are well separated. This
criterion is ICL (Biernacki, Celeux & Govaert 2000). It selects a number of clusters, whereas the likelihood selects a
number of mixture components.
"""

import numpy as np
from jaxtyping import Float, Int
from scipy.special import gammaln

from semicrowd.inference.gibbs.isotropic import Isotropic


def united(family: Isotropic, alpha: float, links: Float[np.ndarray, "C C"] | None = None) -> Int[np.ndarray, "C"]:
    """The new slot of each slot's items, after the best union is made again and again while it increases ln p(x, z).

    Parameters
    ----------
    family : statistics of all items in their clusters
    alpha : the concentration
    links : log-weight of the answers in favour of the union of two clusters; None: no answers
    """
    into = np.arange(len(family.number))
    used = np.flatnonzero(family.number > 0)
    number, total, square = family.number[used], family.total[used], family.square[used]
    links = np.zeros((len(used), len(used))) if links is None else links[np.ix_(used, used)]
    while len(used) > 1:
        own = _log_weight(family, number, total, square)
        both = _log_weight(
            family, number[:, None] + number, total[:, None] + total, square[:, None] + square
        )  # fmt: skip
        gain = both - own[:, None] - own - np.log(alpha) + links
        np.fill_diagonal(gain, -np.inf)
        kept, gone = np.unravel_index(gain.argmax(), gain.shape)
        if gain[kept, gone] <= 0:
            break
        into[into == used[gone]] = used[kept]
        for sums in (number, total, square, links, links.T):
            sums[kept] += sums[gone]
        used, number, total, square = (np.delete(one, gone, 0) for one in (used, number, total, square))
        links = np.delete(np.delete(links, gone, 0), gone, 1)
    return into


def log_joint(family: Isotropic, alpha: float, into: Int[np.ndarray, "C"]) -> float:
    """ln p(x, z) = ln p(z) + ln p(x | z) of items and clusters, means and precisions integrated out, in nats.

    Parameters
    ----------
    family : statistics of all items in their slots
    into : the cluster of each slot, as :func:`united` returns it
    """
    used, of_cluster = np.unique(into[family.number > 0], return_inverse=True)
    sums = [np.zeros((len(used), *one.shape[1:])) for one in (family.number, family.total, family.square)]
    for total, one in zip(sums, (family.number, family.total, family.square), strict=True):
        np.add.at(total, of_cluster, one[family.number > 0])
    items = family.number.sum()
    log_prior = len(used) * np.log(alpha) + gammaln(alpha) - gammaln(alpha + items)
    return float(log_prior + _log_weight(family, *sums).sum())


def _log_weight(family: Isotropic, number: np.ndarray, total: np.ndarray, square: np.ndarray) -> np.ndarray:
    return family.evidence(number, total, square) + gammaln(number)
