"""The conjugate Gaussian mixture given a hard partition: its posterior and its evidence.

The F = d + d² + 2 statistics of a cluster are the sums of (t(x), 1, 1) over its items (SCDC paper, App. A).
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from semicrowd.expfam import dirichlet, normal_inverse_wishart

#: κ of p(μ, Σ) = NIW(0, κ, (d + c) I, d + c) (App. B: S = (d + κ) I, ν = d + κ).
PRIOR_KAPPA = 0.5
#: c of this prior.
PRIOR_DEGREES = 0.5
#: Interpretations of "α₀ = 0.05/K" (docs/DEVIATIONS.md). ``corrected``: as the natural parameter, as in SVAE, which
#: the paper follows; ``released``: the value in the authors' MNIST code; ``paper``: as printed, a sparse prior.
CONCENTRATIONS = {"corrected": lambda K: 1 + 0.05 / K, "released": lambda _: 1.05, "paper": lambda K: 0.05 / K}


class Mixture(NamedTuple):
    """Natural parameters of π and of (μ, Σ), prior or posterior, in float64; a common prior has axes of size 1."""

    pi: Float[Tensor, "#R K"]
    components: Float[Tensor, "#R #K F"]


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


def partition_posterior(
    prior: Mixture, t_x: Float[Tensor, "R N S"], clusters: Int[Tensor, "R N"]
) -> Mixture:
    """The exact conjugate posterior of π and (μ, Σ) given assignments (eqs. 26 and 27 at ρ = 1), from E t(x)."""
    num_clusters = prior.pi.shape[-1]
    one_hot = torch.nn.functional.one_hot(clusters.long().to(t_x.device), num_clusters).to(torch.float64)
    statistics = torch.cat([t_x, t_x.new_ones(*t_x.shape[:2], 2)], -1).double()
    pi, components = (eta.to(t_x.device) for eta in prior)
    return Mixture(pi + one_hot.sum(1), components + one_hot.mT @ statistics)
