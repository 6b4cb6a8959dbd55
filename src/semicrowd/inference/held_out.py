"""Likelihood of samples under SLPD's clusters, by Monte Carlo over the proportions θ (Li et al. 2009, section 6.2)."""

import torch
from jaxtyping import Float
from torch import Tensor

from semicrowd.expfam import dirichlet
from semicrowd.inference.slpd import Clusters, Samples, densities

#: Maximal number of values times draws in memory at once, so that they fit into a core's cache.
_PIECE = 2**16


def log_likelihood(
    samples: Samples, clusters: Clusters, num_draws: int, generator: torch.Generator
) -> tuple[Float[Tensor, "F C"], Float[Tensor, "F C"]]:
    """ln p of every block from N draws θ_n ~ Dir(α), and its standard error due to the draws; 0 for an empty block.

    A block's likelihood is the mean over n of Π_{d, g} Σ_k θ_nk N(E_dg | μ_gk, σ²_gk). The standard error of ln p is
    that of this mean, divided by the mean. All blocks of a fit use the same draws.
    """
    fits, num_blocks = samples.present.shape
    value, error = samples.values.new_empty(2, fits, num_blocks)
    for fit in range(fits):
        eta = dirichlet.to_natural(clusters.concentration[fit]).expand(num_draws, -1)
        theta = dirichlet.sample(eta, generator)
        logs = theta.new_zeros(num_draws, num_blocks)
        logs.index_add_(1, samples.block[fit], _sample_logs(samples, clusters, fit, theta))
        top = logs.amax(0)
        weight = (logs - top).exp()
        value[fit] = top + weight.mean(0).log()
        error[fit] = weight.std(0) / weight.mean(0) / num_draws**0.5
    return value, error


def _sample_logs(samples: Samples, clusters: Clusters, fit: int, theta: Float[Tensor, "N K"]) -> Float[Tensor, "N D"]:
    """Σ_g ln Σ_k θ_nk N(E_dg | k) of every draw and sample, computed for a few samples at a time."""
    quadratic, linear, constant = (part[fit] for part in densities(clusters))
    values = samples.values[fit]
    pieces = []
    size = max(_PIECE // (values.shape[-1] * len(theta)), 1)
    for start, piece in zip(range(0, len(values), size), values.split(size), strict=True):
        x = piece[:, None]
        density = (quadratic * x + linear) * x + constant  # [d, K, G]
        top = density.amax(1)
        mixed = torch.einsum("nk,dkg->ndg", theta, (density - top[:, None]).exp()).log() + top
        if samples.observed is not None:
            mixed = mixed * samples.observed[fit, start : start + len(piece)]
        pieces.append(mixed.sum(-1))
    return torch.cat(pieces, 1)
