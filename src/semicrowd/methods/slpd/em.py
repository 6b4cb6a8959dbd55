"""Variational EM for a latent process decomposition whose must-link blocks share proportions (SLPD, Li et al. 2009).

A block c has proportions θ_c ~ Dir(α). Each feature g of each sample d of the block has its own cluster, Z_dg ~ θ_c,
and its value is N(μ_gk, σ²_gk) for Z_dg = k. The posterior is approximated by q(θ) = Π Dir(γ_c) and q(Z) = Π Q_dg. Q
has K entries for each value of the data and is never stored; a sweep only returns the sums that the updates need.
Missing values and blocks without any value are left out. The likelihood of further samples is computed by Monte Carlo
over θ.

Axes: R restarts, D samples, G features, C blocks, K clusters.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from semicrowd.expfam import dirichlet, kl_divergence
from semicrowd.expfam.dirichlet import newton
from semicrowd.methods.slpd.sums import add_up, block_sums

#: A cluster with a smaller expected number of values of a feature keeps its Gaussian of this feature.
_NOTHING = 1e-10
#: Upper limit of α_k, which would otherwise diverge if all blocks have the same proportions.
_LARGEST = 1e4
#: Maximal number of sweeps to infer γ of new samples.
_SWEEPS = 100
#: These sweeps end when no γ changes by more than this, relative to the number of observed values of the sample.
_STILL = 1e-4
#: Maximal number of entries of Q in :func:`posterior` at once: 8 MiB.
_ENTRIES = 2**20
#: Of values times draws in :func:`log_likelihood` at once, so that they fit into a core's cache.
_PIECE = 2**16
#: A restart has converged if an iteration raises its bound by no more than this, relative to the bound.
_TOLERANCE = 1e-6


class Samples(NamedTuple):
    """Samples in blocks.

    Attributes
    ----------
    values : 0 where missing
    observed : 1 or 0; None if nothing is missing
    block : block of each sample
    present : 1 for a block that has a value, else 0
    """

    values: Float[Tensor, "D G"]
    observed: Float[Tensor, "D G"] | None
    block: Int[Tensor, "D"]
    present: Float[Tensor, "C"]

    def some(self, blocks: Bool[Tensor, "C"]) -> "Samples":
        """The samples of some blocks, numbered anew."""
        kept = blocks[self.block]
        observed = None if self.observed is None else self.observed[kept]
        return Samples(self.values[kept], observed, (blocks.cumsum(0) - 1)[self.block[kept]], self.present[blocks])


class Clusters(NamedTuple):
    """Gaussians of every cluster and feature, concentration α of the proportions."""

    mean: Float[Tensor, "R K G"]
    variance: Float[Tensor, "R K G"]
    concentration: Float[Tensor, "R K"]


class Sums(NamedTuple):
    """Sums over Q: Σ_dg Q of each block; Σ_d Q, Σ_d Q E and Σ_d Q E² of each feature; Σ_dg ln normaliser."""

    block: Float[Tensor, "R C K"]
    weight: Float[Tensor, "R K G"]
    first: Float[Tensor, "R K G"]
    second: Float[Tensor, "R K G"]
    log_normaliser: Float[Tensor, "R"]


def samples_of(values: Float[np.ndarray, "D G"], blocks: Int[np.ndarray, "D"] | None = None) -> Samples:
    """Samples with these values, NaN where missing, and blocks; None: each sample is a block of its own."""
    missing = np.isnan(values)
    block = torch.arange(len(values)) if blocks is None else torch.from_numpy(blocks)
    there = torch.from_numpy((~missing).any(-1).astype(np.float64))
    present = torch.zeros(int(block.max()) + 1, dtype=torch.float64).scatter_add(0, block, there).clamp(max=1)
    observed = torch.from_numpy((~missing).astype(np.float64)) if missing.any() else None
    return Samples(torch.from_numpy(np.nan_to_num(values)), observed, block, present)


def densities(clusters: Clusters) -> tuple[Tensor, Tensor, Tensor]:
    """a, b, c with ln N(x | μ, σ²) = a x² + b x + c, each [R, K, G]."""
    precision = 1 / clusters.variance
    constant = -0.5 * (precision * clusters.mean**2 + clusters.variance.log() + math.log(2 * math.pi))
    return -0.5 * precision, precision * clusters.mean, constant


def sweep(samples: Samples, clusters: Clusters, gamma: Float[Tensor, "R C K"]) -> Sums:
    """Sums over the optimal Q given γ and the clusters (eq. 6, with the correction in docs/DEVIATIONS.md)."""
    log_theta = dirichlet.expected_statistics(dirichlet.to_natural(gamma))
    density = densities(clusters)
    observed = samples.values[:0] if samples.observed is None else samples.observed
    given = (samples.values, observed, samples.block, log_theta, *density)
    block, weight, first, second = (gamma.new_zeros(shape) for shape in (gamma.shape, *[clusters.mean.shape] * 3))
    found = (part.numpy() for part in (block, weight, first, second))
    log_normaliser = add_up(*(part.contiguous().numpy() for part in given), *found)
    return Sums(block, weight, first, second, torch.from_numpy(log_normaliser))


def bound(samples: Samples, clusters: Clusters, gamma: Float[Tensor, "R C K"], sums: Sums) -> Float[Tensor, "R"]:
    """Lower bound of ln p(E | Θ, C) at the optimal Q, in nats.

    At the optimal Q, the sum of the terms in Q is that of the log normalisers of eq. 6.
    """
    eta = dirichlet.to_natural(gamma)
    divergence = kl_divergence(dirichlet, eta, dirichlet.to_natural(clusters.concentration)[:, None].expand_as(eta))
    return sums.log_normaliser - (samples.present * divergence).sum(-1)


def update(samples: Samples, clusters: Clusters, sums: Sums, floor: float) -> tuple[Clusters, Float[Tensor, "R C K"]]:
    """Update γ (eq. 7), then μ, σ² ≥ ``floor`` (eq. 8) and α (Newton). No update lowers the bound."""
    gamma = clusters.concentration[:, None] + sums.block
    there = sums.weight > _NOTHING
    weight = sums.weight.where(there, 1.0)
    mean = (sums.first / weight).where(there, clusters.mean)
    squared = sums.second - 2 * mean * sums.first + mean**2 * weight
    variance = (squared / weight).clamp(min=floor).where(there, clusters.variance)
    log_theta = dirichlet.expected_statistics(dirichlet.to_natural(gamma)) * samples.present[..., None]
    concentration = newton(clusters.concentration, samples.present.sum().expand(len(gamma)), log_theta.sum(1), _LARGEST)
    return Clusters(mean, variance, concentration), gamma


def first_gamma(
    samples: Samples, clusters: Clusters, first: Int[Tensor, "R D"] | None = None
) -> Float[Tensor, "R C K"]:
    """γ if all values of a sample are in its cluster ``first``; None: evenly shared among all clusters."""
    restarts, num_clusters = clusters.concentration.shape
    there = torch.ones_like(samples.values) if samples.observed is None else samples.observed
    if first is None:
        share = there.new_full((restarts, len(there), num_clusters), 1 / num_clusters)
    else:
        share = one_hot(first, num_clusters).to(there.dtype)
    of_block = there.new_zeros(restarts, len(samples.present), num_clusters)
    of_block.index_add_(1, samples.block, there.sum(-1)[:, None] * share)
    return clusters.concentration[:, None] + of_block


def posterior(samples: Samples, clusters: Clusters) -> Float[Tensor, "R C K"]:
    """γ of the blocks of new samples with fixed clusters, by alternating eqs. 6 and 7."""
    num_blocks, block = len(samples.present), torch.arange(len(samples.present))
    entries = len(samples.block) * clusters.mean.numel()
    at_once = max(_ENTRIES * num_blocks // entries, 1)
    parts = ((low <= block) & (block < low + at_once) for low in range(0, num_blocks, at_once))
    return torch.cat([_posterior(samples.some(part), clusters) for part in parts], 1)


def _posterior(samples: Samples, clusters: Clusters) -> Float[Tensor, "R C K"]:
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
            rest, moving, density = rest[some], moving[:, some], density[:, some[now.block]]
            now = now.some(some)
    return gamma


def _scaled_densities(values: Float[Tensor, "D G"], clusters: Clusters) -> Float[Tensor, "R D K G"]:
    quadratic, linear, constant = (part[:, None] for part in densities(clusters))
    x = values[:, None]
    density = (quadratic * x + linear) * x + constant
    return (density - density.amax(2, keepdim=True)).exp_()


def _block_sums(
    samples: Samples, density: Float[Tensor, "R D K G"], clusters: Clusters, gamma: Float[Tensor, "R C K"]
) -> Float[Tensor, "R C K"]:
    """Σ_dg Q of each block (eq. 6), as :func:`sweep` has it, from densities that were computed before."""
    log_theta = gamma.digamma()  # but for ψ(Σγ), which cancels
    theta = (log_theta - log_theta.amax(-1, keepdim=True)).exp_()
    observed = samples.values[:0] if samples.observed is None else samples.observed
    found = torch.zeros_like(gamma)
    block_sums(*(part.contiguous().numpy() for part in (density, observed, samples.block, theta)), found.numpy())
    lost = found.isnan().any(-1).any(0)
    if lost.any():  # a value whose probability is too small for a float in all clusters: by logarithms
        found[:, lost] = sweep(samples.some(lost), clusters, gamma[:, lost]).block
    return found


def log_likelihood(
    samples: Samples, clusters: Clusters, num_draws: int, generator: torch.Generator
) -> tuple[Float[Tensor, "C"], Float[Tensor, "C"]]:
    """ln p of every block from N draws θ_n ~ Dir(α), and its standard error due to the draws; 0 for an empty block.

    A block's likelihood is the mean over n of Π_{d, g} Σ_k θ_nk N(E_dg | μ_gk, σ²_gk) (eq. 5 and section 6.2). The
    standard error of ln p is that of this mean, divided by the mean. All blocks use the same draws. ``clusters`` are
    those of one restart.
    """
    quadratic, linear, constant = (part[0] for part in densities(clusters))
    eta = dirichlet.to_natural(clusters.concentration[0]).expand(num_draws, -1)
    theta = dirichlet.sample(eta, generator)
    pieces = []  # a few samples at a time
    size = max(_PIECE // (samples.values.shape[-1] * num_draws), 1)
    for start, piece in zip(range(0, len(samples.values), size), samples.values.split(size), strict=True):
        x = piece[:, None]
        density = (quadratic * x + linear) * x + constant  # [d, K, G]
        top = density.amax(1)
        mixed = torch.einsum("nk,dkg->ndg", theta, (density - top[:, None]).exp()).log() + top
        if samples.observed is not None:
            mixed = mixed * samples.observed[start : start + len(piece)]
        pieces.append(mixed.sum(-1))
    logs = theta.new_zeros(num_draws, len(samples.present)).index_add_(1, samples.block, torch.cat(pieces, 1))
    top = logs.amax(0)
    weight = (logs - top).exp()
    return top + weight.mean(0).log(), weight.std(0) / weight.mean(0) / num_draws**0.5


class Decomposition:
    """R simultaneous restarts; one is not updated any more after it has converged.

    Attributes
    ----------
    clusters, gamma : Θ and γ of each restart
    bound : [R], −∞ before the first iteration
    active : [R], True for restarts that have not converged yet
    """

    def __init__(
        self, samples: Samples, mean: Float[Tensor, "R K G"], first: Int[Tensor, "R D"], floor: float
    ) -> None:  # fmt: skip
        """Initialise with σ² = 1, α = 1/K and all values of a sample in cluster ``first``."""
        self.samples, self.floor = samples, floor
        alpha = torch.full_like(mean[..., 0], 1 / mean.shape[1])
        self.clusters = Clusters(mean, torch.ones_like(mean), alpha)
        self.gamma = first_gamma(samples, self.clusters, first)
        self.bound = torch.full((len(mean),), -torch.inf, dtype=mean.dtype)
        self.active = torch.ones(len(mean), dtype=torch.bool)

    def step(self) -> None:
        """One EM iteration of the active restarts."""
        some = self.active.nonzero()[:, 0]
        clusters, gamma = Clusters(*(part[some] for part in self.clusters)), self.gamma[some]
        sums = sweep(self.samples, clusters, gamma)
        value = bound(self.samples, clusters, gamma, sums)
        self.active[some] = value - self.bound[some] > _TOLERANCE * value.abs()
        self.bound[some] = value
        updated, gamma = update(self.samples, clusters, sums, self.floor)
        for old, new in zip((*self.clusters, self.gamma), (*updated, gamma), strict=True):
            old[some] = new


def best_of(bound: Float[Tensor, "R"], clusters: Clusters) -> int:
    """Index of the restart with the highest bound, preferably among the restarts with Σ α ≤ G.

    If Σ α > G, the prior outweighs the G values of an item. In such a restart the clusters have become almost equal,
    and so have the proportions of all items.
    """
    alike = clusters.concentration.sum(-1) > clusters.mean.shape[-1]
    return max(range(len(bound)), key=lambda start: (not alike[start], float(bound[start])))
