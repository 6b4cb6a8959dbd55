"""The conjugate Gaussian mixture of a hard partition: its posterior, its evidence, and what a union of clusters loses.

F = d + d² + 2 statistics of a cluster are the sums of (t(x), 1, 1) over its items (SCDC paper, App. A).
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from semicrowd.expfam import dirichlet, normal_inverse_wishart

#: Of p(μ, Σ) = NIW(0, κ, (d + c) I, d + c) (App. B: S = (d + κ) I, ν = d + κ): κ and c.
PRIOR_KAPPA, PRIOR_DEGREES = 0.5, 0.5
#: Readings of "α₀ = 0.05/K" (docs/DEVIATIONS.md). ``corrected``: it is the natural parameter, as in SVAE, which the
#: paper follows; ``released``: of the authors' MNIST code; ``paper``: as printed, a sparse prior.
CONCENTRATIONS = {"corrected": lambda K: 1 + 0.05 / K, "released": lambda _: 1.05, "paper": lambda K: 0.05 / K}


class Mixture(NamedTuple):
    """Natural parameters of π and of (μ, Σ), prior or posterior, in float64.

    Attributes
    ----------
    pi : [R, K]
    components : [R, K, F]
    """

    pi: Tensor
    components: Tensor

    def log_partition(self) -> Float[Tensor, "R"]:
        """ln Z of all of it: up to a constant the log evidence of the partition that it is the posterior of."""
        components = normal_inverse_wishart.log_partition(self.components)
        return dirichlet.log_partition(self.pi) + components.sum(-1)


def niw_natural(location: Float[Tensor, "*batch d"], kappa: float, degrees: float) -> Float[Tensor, "*batch F"]:
    """Natural parameter of NIW(m, κ, (d + c) I, d + c), c = ``degrees``."""
    batch, d = location.shape[:-1], location.shape[-1]
    nu = torch.full(batch, d + degrees, dtype=location.dtype)
    scale = nu[..., None, None] * torch.eye(d, dtype=location.dtype)
    return normal_inverse_wishart.to_natural(location, torch.full(batch, kappa, dtype=location.dtype), scale, nu)


def mixture_prior(concentration: str, num_clusters: int, latent_dim: int) -> Mixture:
    """p(π), [1, K], by one of :data:`CONCENTRATIONS`, and p(μ, Σ), [1, 1, F]."""
    alpha = torch.full((1, num_clusters), CONCENTRATIONS[concentration](num_clusters), dtype=torch.float64)
    location = torch.zeros(1, 1, latent_dim, dtype=torch.float64)
    return Mixture(dirichlet.to_natural(alpha), niw_natural(location, PRIOR_KAPPA, PRIOR_DEGREES))


def partition_posterior(prior: Mixture, t_x: Float[Tensor, "R N S"], clusters: Int[Tensor, "R N"]) -> Mixture:
    """The exact conjugate posterior of π and (μ, Σ) given assignments (eqs. 26 and 27 at ρ = 1), from E t(x)."""
    num_clusters = prior.pi.shape[-1]
    one_hot = torch.nn.functional.one_hot(clusters.long().to(t_x.device), num_clusters).to(torch.float64)
    statistics = torch.cat([t_x, t_x.new_ones(*t_x.shape[:2], 2)], -1).double()
    pi, components = (eta.to(t_x.device) for eta in prior)
    return Mixture(pi + one_hot.sum(1), components + one_hot.mT @ statistics)


def union_gains(eta: Float[Tensor, "C F"], prior: Float[Tensor, "F"]) -> Float[Tensor, "C C"]:
    """What ln p(x) gains where two clusters become one, from their posteriors: mostly less than 0."""
    single = normal_inverse_wishart.log_partition(eta)
    union = normal_inverse_wishart.log_partition(eta[:, None] + eta[None] - prior)
    return union + normal_inverse_wishart.log_partition(prior) - single[:, None] - single[None]


def count_links(clusters: np.ndarray, of_views: np.ndarray, num_clusters: int) -> np.ndarray:
    """Items of one cluster with a view in another, in either order: [K, K], symmetric, from [N] and [N]."""
    links = np.zeros((num_clusters, num_clusters))
    np.add.at(links, (clusters, of_views), 1)
    return links + links.T


def evidence_of_clusters(statistics: Float[Tensor, "*batch F"], prior: Float[Tensor, "F"]) -> Float[Tensor, "*batch"]:
    """Of each cluster's items and of their share in ln p(z) at the most likely π, up to a constant."""
    constant = normal_inverse_wishart.log_partition(prior)
    shares = torch.special.xlogy(statistics[..., -1], statistics[..., -1])
    return normal_inverse_wishart.log_partition(prior + statistics) - constant + shares


def join_by_links(
    statistics: Float[Tensor, "K F"],
    prior: Float[Tensor, "F"],
    links: np.ndarray,
    weight: float,
    odds: np.ndarray | None = None,
) -> tuple[np.ndarray, float]:
    """Join clusters pair by pair, that first which pays least evidence for a link, while it pays less than ``weight``.

    A link is an item with its view (models/views.py). Links inside a cluster cost nothing; one between two clusters
    speaks for their union with the log odds ``weight``, and so do answers with theirs, for it or against it.

    Parameters
    ----------
    links : [K, K], from :func:`count_links`
    weight : nats that a link between two clusters is worth
    odds : [K, K], log odds of the answers between clusters (crowd/cells.py), or None

    Returns
    -------
    name : [K] int, the cluster that each belongs to now
    evidence : log evidence of the mixture, of the links and of the answers within its clusters, up to a constant
    """
    statistics, links = statistics.clone(), links.copy()
    odds = np.zeros_like(links) if odds is None else odds.copy()
    name, left = np.arange(len(statistics)), [int(k) for k in torch.nonzero(statistics[:, -1] > 0)]
    while len(left) > 1:
        single = evidence_of_clusters(statistics[left], prior)
        union = evidence_of_clusters(statistics[left][:, None] + statistics[left], prior)
        loss = (single[:, None] + single - union).numpy() - odds[np.ix_(left, left)]
        number = links[np.ix_(left, left)]
        price = np.where(number > 0, loss / np.maximum(number, 1), np.where(loss < 0, loss, np.inf))
        np.fill_diagonal(price, np.inf)
        a, b = np.unravel_index(price.argmin(), price.shape)
        if price[a, b] >= weight:
            break
        keep, gone = left[a], left.pop(b)
        statistics[keep] += statistics[gone]
        statistics[gone] = 0
        for between in (links, odds):
            between[keep] += between[gone]
            between[:, keep] += between[:, gone]
            between[gone], between[:, gone] = 0, 0
        name[name == gone] = keep
    mixture = evidence_of_clusters(statistics[statistics[:, -1] > 0], prior).sum()
    return name, float(mixture) + (weight * links + odds).trace() / 2
