"""Multivariate Gaussian with natural parameter [Λμ, vec(−½Λ)], Λ = Σ⁻¹ (SCDC paper, App. A.1–A.3).

t(x) = [x, vec(x xᵀ)], flat, of length F = d + d².
"""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable


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


class _LocationAndRoot(torch.autograd.Function):
    """(Λμ, Λ) → (μ, R). Its backward pass needs three small products; autograd would solve through the Cholesky."""

    @staticmethod
    def forward(ctx: Any, linear: Tensor, precision: Tensor) -> tuple[Tensor, Tensor]:
        factor, info = torch.linalg.cholesky_ex(precision)
        eye = torch.eye(linear.shape[-1], dtype=linear.dtype, device=linear.device).expand_as(factor)
        solved = torch.linalg.solve_triangular(factor, torch.cat([eye, linear[..., None]], -1), upper=False)
        solved = torch.where((info == 0)[..., None, None], solved, torch.nan)
        inverse = solved[..., :-1]
        mean = (inverse.mT @ solved[..., -1:])[..., 0]
        ctx.save_for_backward(mean, inverse)
        return mean, inverse.mT

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_mean: Tensor, grad_root: Tensor) -> tuple[Tensor, Tensor]:
        mean, inverse = ctx.saved_tensors
        # Λ = LLᵀ and R = L⁻ᵀ: with P the lower triangle of LᵀL̄ = −R̄ᵀR, its diagonal halved, Λ̄ is the symmetric part
        # of R P Rᵀ.
        lower = (inverse @ grad_root.triu()).mT.tril()
        lower.diagonal(dim1=-2, dim2=-1).mul_(0.5)
        grad_linear = (inverse.mT @ (inverse @ grad_mean[..., None]))[..., 0]
        half = inverse.mT @ (lower @ inverse) + grad_linear[..., :, None] * mean[..., None, :]
        return grad_linear, -0.5 * (half + half.mT)


def location_and_root(
    eta: Float[Tensor, "*batch F"],
) -> tuple[Float[Tensor, "*batch d"], Float[Tensor, "*batch d d"]]:
    """Mean μ and upper triangular R with Σ = R Rᵀ, so that μ + R ε is a draw where ε is one of N(0, I).

    NaN where Λ is not positive definite; differentiable once.
    """
    d = dimension(eta.shape[-1])
    mean, root = _LocationAndRoot.apply(eta[..., :d], -2 * eta[..., d:].unflatten(-1, (d, d)))
    return mean, root


def to_standard(eta: Float[Tensor, "*batch F"]) -> tuple[Float[Tensor, "*batch d"], Float[Tensor, "*batch d d"]]:
    """Mean and covariance."""
    mean, root = location_and_root(eta)
    return mean, root @ root.mT


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
    """One reparameterised draw for each batch element."""
    return draw(*location_and_root(eta), generator)


def draw(
    mean: Float[Tensor, "*batch d"], root: Float[Tensor, "*batch d d"], generator: torch.Generator
) -> Float[Tensor, "*batch d"]:
    """x = μ + R ε, from what :func:`location_and_root` gives."""
    noise = torch.randn(mean.shape, generator=generator, dtype=mean.dtype, device=mean.device)
    return mean + (root @ noise[..., None])[..., 0]
