"""Variational EM for a latent process decomposition whose must-link blocks share proportions (SLPD, Li et al. 2009).

A block c has proportions θ_c ~ Dir(α). Each feature g of each sample d of the block has its own cluster, Z_dg ~ θ_c,
and its value is N(μ_gk, σ²_gk) for Z_dg = k. The posterior is approximated by q(θ) = Π Dir(γ_c) and q(Z) = Π Q_dg. Q
has K entries for each value of the data and is never stored; a sweep only returns the sums that the updates need.
Missing values and blocks without any value are left out. The likelihood of further samples is computed by Monte Carlo
over θ.

Axes: T tables, F fits (restarts of one table or of many), D samples, G features, C blocks, K clusters.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from semicrowd.expfam import dirichlet, kl_divergence
from semicrowd.expfam.dirichlet import newton
from semicrowd.inference.slpd_sums import add_up, block_sums

#: A cluster with a smaller expected number of values of a feature keeps its Gaussian of this feature.
_NOTHING = 1e-10
#: Upper limit of α_k, which would otherwise diverge if all blocks have the same proportions.
_LARGEST = 1e4
#: Maximal number of sweeps to infer γ of new samples.
_SWEEPS = 100
#: These sweeps end when no γ changes by more than this, relative to the number of observed values of the sample.
_STILL = 1e-4


class Samples(NamedTuple):
    """Tables of samples in blocks.

    Attributes
    ----------
    values : 0 where missing
    observed : 1 or 0; None if nothing is missing
    block : block of each sample
    present : 1 for a block that has a value, else 0
    """

    values: Float[Tensor, "T D G"]
    observed: Float[Tensor, "T D G"] | None
    block: Int[Tensor, "T D"]
    present: Float[Tensor, "T C"]

    def of(self, table: Int[Tensor, "F"]) -> "Samples":
        """One table for each fit: its index is in ``table``."""
        observed = None if self.observed is None else self.observed[table]
        return Samples(self.values[table], observed, self.block[table], self.present[table])

    def some(self, blocks: Bool[Tensor, "C"]) -> "Samples":
        """The samples of some blocks, numbered anew; of a single table, or of copies of it."""
        kept = blocks[self.block[0]]
        observed = None if self.observed is None else self.observed[:, kept]
        number = blocks.cumsum(0) - 1
        return Samples(self.values[:, kept], observed, number[self.block[:, kept]], self.present[:, blocks])


class Clusters(NamedTuple):
    """Parameters of F fits: Gaussians of every cluster and feature, concentration α of the proportions."""

    mean: Float[Tensor, "F K G"]
    variance: Float[Tensor, "F K G"]
    concentration: Float[Tensor, "F K"]


class Prior(NamedTuple):
    """Priors of μ and σ², and the lower limit of σ².

    Attributes
    ----------
    floor : least σ²; without a limit the likelihood has no maximum
    mean_variance : σ_μ² of p(μ) = N(0, σ_μ²); infinite for maximum likelihood
    scale : s of p(σ²) ∝ exp(−s/σ²); 0 for maximum likelihood
    """

    floor: float
    mean_variance: float = math.inf
    scale: float = 0.0


class Sums(NamedTuple):
    """Sums over Q: Σ_dg Q of each block; Σ_d Q, Σ_d Q E and Σ_d Q E² of each feature; Σ_dg ln normaliser."""

    block: Float[Tensor, "F C K"]
    weight: Float[Tensor, "F K G"]
    first: Float[Tensor, "F K G"]
    second: Float[Tensor, "F K G"]
    log_normaliser: Float[Tensor, "F"]


def samples_of(
    values: Float[Tensor, "T D G"], block: Int[Tensor, "T D"], observed: Bool[Tensor, "T D G"] | None = None
) -> Samples:
    """The :class:`Samples` of tables with these values and blocks; ``observed`` None: nothing is missing."""
    there = torch.ones_like(values[..., 0]) if observed is None else observed.any(-1).to(values.dtype)
    present = values.new_zeros(len(values), int(block.max()) + 1).scatter_add(1, block, there).clamp(max=1)
    if observed is None:
        return Samples(values, None, block, present)
    return Samples(values.where(observed, 0.0), observed.to(values.dtype), block, present)


def densities(clusters: Clusters) -> tuple[Tensor, Tensor, Tensor]:
    """a, b, c with ln N(x | μ, σ²) = a x² + b x + c, each [F, K, G]."""
    precision = 1 / clusters.variance
    constant = -0.5 * (precision * clusters.mean**2 + clusters.variance.log() + math.log(2 * math.pi))
    return -0.5 * precision, precision * clusters.mean, constant


def sweep(samples: Samples, clusters: Clusters, gamma: Float[Tensor, "F C K"]) -> Sums:
    """Sums over the optimal Q given γ and the clusters (eq. 6, with the correction in docs/DEVIATIONS.md).

    ``samples`` has one table for each fit.
    """
    log_theta = dirichlet.expected_statistics(dirichlet.to_natural(gamma))
    density = densities(clusters)
    observed = samples.values[:, :0] if samples.observed is None else samples.observed
    given = (samples.values, observed, samples.block, log_theta, *density)
    block, weight, first, second = (gamma.new_zeros(shape) for shape in (gamma.shape, *[clusters.mean.shape] * 3))
    found = (part.numpy() for part in (block, weight, first, second))
    log_normaliser = add_up(*(part.contiguous().numpy() for part in given), *found)
    return Sums(block, weight, first, second, torch.from_numpy(log_normaliser))


def bound(samples: Samples, clusters: Clusters, gamma: Float[Tensor, "F C K"], sums: Sums, prior: Prior) -> Tensor:
    """Lower bound of ln p(E | Θ, C) at the optimal Q, [F] in nats; with a prior, ln p(μ) + ln p(σ²) is added.

    At the optimal Q, the sum of the terms in Q is that of the log normalisers of eq. 6. The improper p(σ²) adds −s/σ².
    """
    eta = dirichlet.to_natural(gamma)
    divergence = kl_divergence(dirichlet, eta, dirichlet.to_natural(clusters.concentration)[:, None].expand_as(eta))
    value = sums.log_normaliser - (samples.present * divergence).sum(-1)
    if prior.scale:
        value = value - (prior.scale / clusters.variance).sum((1, 2))
    if math.isfinite(prior.mean_variance):
        squared = clusters.mean**2 / prior.mean_variance
        value = value - 0.5 * (squared + math.log(2 * math.pi * prior.mean_variance)).sum((1, 2))
    return value


def update(
    samples: Samples, clusters: Clusters, sums: Sums, prior: Prior
) -> tuple[Clusters, Float[Tensor, "F C K"]]:
    """Update γ (eq. 7), then μ, σ² (eq. 8; with a prior eq. 9) and α (Newton). No update lowers the bound."""
    gamma = clusters.concentration[:, None] + sums.block
    there = sums.weight > _NOTHING
    weight = sums.weight.where(there, 1.0)
    # Eq. 9; σ²/σ_μ² is 0 for maximum likelihood.
    mean = (sums.first / (weight + clusters.variance / prior.mean_variance)).where(there, clusters.mean)
    squared = sums.second - 2 * mean * sums.first + mean**2 * weight
    variance = ((squared + 2 * prior.scale) / weight).clamp(min=prior.floor).where(there, clusters.variance)
    log_theta = dirichlet.expected_statistics(dirichlet.to_natural(gamma)) * samples.present[..., None]
    concentration = newton(clusters.concentration, samples.present.sum(-1), log_theta.sum(1), _LARGEST)
    return Clusters(mean, variance, concentration), gamma


def first_gamma(
    samples: Samples, clusters: Clusters, first: Int[Tensor, "F D"] | None = None
) -> Float[Tensor, "F C K"]:
    """γ if all values of a sample are in its cluster ``first``; None or −1: evenly shared among all clusters."""
    num_values = samples.values.new_full(samples.block.shape, samples.values.shape[-1])
    if samples.observed is not None:
        num_values = samples.observed.sum(-1)
    num_clusters = clusters.concentration.shape[-1]
    share = samples.values.new_full((*samples.block.shape, num_clusters), 1 / num_clusters)
    if first is not None:
        share = one_hot(first.clamp(min=0), num_clusters).to(share.dtype).where(first[..., None] >= 0, share)
    of_block = torch.zeros_like(samples.present)[..., None].repeat(1, 1, num_clusters)
    of_block.scatter_add_(1, samples.block[..., None].expand(-1, -1, num_clusters), num_values[..., None] * share)
    return clusters.concentration[:, None] + of_block


#: Maximal number of entries of Q in :func:`posterior` at once: 8 MiB.
_ENTRIES = 2**20


def posterior(samples: Samples, clusters: Clusters) -> Float[Tensor, "F C K"]:
    """γ of the blocks of new samples with fixed clusters, by alternating eqs. 6 and 7; all fits have one table."""
    num_blocks, block = samples.present.shape[1], torch.arange(samples.present.shape[1])
    entries = samples.block.shape[1] * clusters.mean.numel()
    at_once = max(_ENTRIES * num_blocks // entries, 1)
    parts = ((low <= block) & (block < low + at_once) for low in range(0, num_blocks, at_once))
    return torch.cat([_posterior(samples.some(part), clusters) for part in parts], 1)


def _posterior(samples: Samples, clusters: Clusters) -> Float[Tensor, "F C K"]:
    density, gamma = _scaled_densities(samples.values, clusters), first_gamma(samples, clusters)
    num_values = (gamma - clusters.concentration[:, None]).sum(-1, keepdim=True).clamp(min=1)
    moving, rest, now = torch.ones_like(num_values, dtype=torch.bool), torch.arange(gamma.shape[1]), samples
    for _ in range(_SWEEPS):
        old = gamma[:, rest]
        new = clusters.concentration[:, None] + _block_sums(now, density, clusters, old)
        moving = ((new - old).abs() > _STILL * num_values[:, rest]).any(-1, keepdim=True) & moving
        # Converged blocks are not updated any more, so that the result of a block does not depend on the other blocks.
        gamma[:, rest] = new.where(moving, old)
        some = moving.any(0)[:, 0]
        if not some.any():
            break
        if 2 * some.sum() <= len(some):  # few blocks need many sweeps
            rest, moving, density = rest[some], moving[:, some], density[:, some[now.block[0]]]
            now = now.some(some)
    return gamma


def _scaled_densities(values: Float[Tensor, "F D G"], clusters: Clusters) -> Float[Tensor, "F D K G"]:
    quadratic, linear, constant = (part[:, None] for part in densities(clusters))
    x = values[:, :, None]
    density = (quadratic * x + linear) * x + constant
    return (density - density.amax(2, keepdim=True)).exp_()


def _block_sums(
    samples: Samples, density: Float[Tensor, "F D K G"], clusters: Clusters, gamma: Float[Tensor, "F C K"]
) -> Float[Tensor, "F C K"]:
    """Σ_dg Q of each block (eq. 6), as :func:`sweep` has it, from densities that were computed before."""
    log_theta = gamma.digamma()  # but for ψ(Σγ), which cancels
    theta = (log_theta - log_theta.amax(-1, keepdim=True)).exp_()
    observed = samples.values[:, :0] if samples.observed is None else samples.observed
    found = torch.zeros_like(gamma)
    block_sums(*(part.contiguous().numpy() for part in (density, observed, samples.block, theta)), found.numpy())
    lost = found.isnan().any(-1).any(0)
    if lost.any():  # a value whose probability is too small for a float in all clusters: by logarithms
        found[:, lost] = sweep(samples.some(lost), clusters, gamma[:, lost]).block
    return found


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
