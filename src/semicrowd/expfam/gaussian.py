"""Multivariate Gaussian with natural parameter [Λμ, vec(−½Λ)], Λ = Σ⁻¹ (SCDC paper, App. A.1–A.3).

t(x) = [x, vec(x xᵀ)], flat, of length F = d + d².
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def dimension(num_statistics: int) -> int:
    """d of a flat axis of length d + d²."""
    return (math.isqrt(1 + 4 * num_statistics) - 1) // 2


def to_natural(mean: Float[Tensor, "*batch d"], covariance: Float[Tensor, "*batch d d"]) -> Float[Tensor, "*batch F"]:
    """[Σ⁻¹μ, vec(−½Σ⁻¹)]."""
    precision = torch.cholesky_inverse(torch.linalg.cholesky(covariance))
    return torch.cat([(precision @ mean[..., None])[..., 0], -0.5 * precision.flatten(-2)], -1)


def precision_cholesky(eta: Float[Tensor, "*batch F"]) -> tuple[Float[Tensor, "*batch d"], Float[Tensor, "*batch d d"]]:
    """Λμ and the lower Cholesky factor of Λ (NaN where Λ is not positive definite)."""
    d = dimension(eta.shape[-1])
    factor, info = torch.linalg.cholesky_ex(-2 * eta[..., d:].unflatten(-1, (d, d)))
    return eta[..., :d], torch.where((info == 0)[..., None, None], factor, torch.nan)


def to_standard(eta: Float[Tensor, "*batch F"]) -> tuple[Float[Tensor, "*batch d"], Float[Tensor, "*batch d d"]]:
    """Mean and covariance."""
    d = dimension(eta.shape[-1])
    linear, covariance = eta[..., :d], torch.linalg.inv_ex(-2 * eta[..., d:].unflatten(-1, (d, d)))[0]
    return (covariance @ linear[..., None])[..., 0], covariance


def log_partition(eta: Float[Tensor, "*batch F"]) -> Float[Tensor, "*batch"]:
    """log Z = ½ μᵀΛμ − ½ ln|Λ| + (d/2) ln 2π; +inf where Λ is not positive definite."""
    linear, factor = precision_cholesky(eta)
    whitened = torch.linalg.solve_triangular(factor, linear[..., None], upper=False)[..., 0]
    log_determinant = factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    value = 0.5 * whitened.square().sum(-1) - log_determinant + 0.5 * linear.shape[-1] * math.log(2 * math.pi)
    return torch.where(value.isnan(), torch.inf, value)


def statistics(mean: Float[Tensor, "*batch d"], covariance: Float[Tensor, "*batch d d"]) -> Float[Tensor, "*batch F"]:
    """E t(x) = [μ, vec(Σ + μμᵀ)] of a Gaussian in its standard parameters (App. A.2)."""
    second = covariance + mean[..., :, None] * mean[..., None, :]
    return torch.cat([mean, second.flatten(-2)], -1)


def expected_statistics(eta: Float[Tensor, "*batch F"]) -> Float[Tensor, "*batch F"]:
    """E t(x) = [μ, vec(Σ + μμᵀ)] (App. A.2)."""
    return statistics(*to_standard(eta))


def sample(eta: Float[Tensor, "*batch F"], generator: torch.Generator) -> Float[Tensor, "*batch d"]:
    """One reparameterised draw x = μ + L⁻ᵀε for each batch element, Λ = LLᵀ."""
    linear, factor = precision_cholesky(eta)
    noise = torch.randn(linear.shape, generator=generator, dtype=eta.dtype, device=eta.device)
    whitened = torch.linalg.solve_triangular(factor, linear[..., None], upper=False)
    return torch.linalg.solve_triangular(factor.mT, whitened + noise[..., None], upper=True)[..., 0]
