"""Normal-inverse-Wishart distribution over (μ_k, Σ_k) (SCDC paper, eq. 5, App. A.1–A.3).

Natural parameter, flat, of length F = d + d² + 2: [κm, vec(S + κmmᵀ), κ, ν + d + 2];
statistics t(μ, Σ) = [Σ⁻¹μ, vec(−½Σ⁻¹), −½μᵀΣ⁻¹μ, −½ ln|Σ|]. The first d + d² are the natural parameter of
p(x | μ, Σ), the last two are minus its log partition function (without (d/2) ln 2π): that is the conjugacy.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from semicrowd.expfam import gaussian


class NormalInverseWishart(NamedTuple):
    """Standard parameters: Σ ~ IW(S, ν), μ | Σ ~ N(m, Σ/κ)."""

    location: Float[Tensor, "*batch d"]
    kappa: Float[Tensor, "*batch"]
    scale: Float[Tensor, "*batch d d"]
    degrees_of_freedom: Float[Tensor, "*batch"]


def to_natural(
    location: Float[Tensor, "*batch d"],
    kappa: Float[Tensor, "*batch"],
    scale: Float[Tensor, "*batch d d"],
    degrees_of_freedom: Float[Tensor, "*batch"],
) -> Float[Tensor, "*batch F"]:
    """Natural parameter of NIW(m, κ, S, ν)."""
    d = location.shape[-1]
    linear = kappa[..., None] * location
    second = scale + linear[..., :, None] * location[..., None, :]
    return torch.cat([linear, second.flatten(-2), kappa[..., None], degrees_of_freedom[..., None] + d + 2], -1)


def to_standard(eta: Float[Tensor, "*batch F"]) -> NormalInverseWishart:
    """(m, κ, S, ν) of a natural parameter; not checked for validity."""
    d = gaussian.dimension(eta.shape[-1] - 2)
    linear, second, kappa = eta[..., :d], eta[..., d:-2].unflatten(-1, (d, d)), eta[..., -2]
    location = linear / kappa[..., None]
    scale = second - linear[..., :, None] * location[..., None, :]
    return NormalInverseWishart(location, kappa, scale, eta[..., -1] - d - 2)


def _degrees(nu: Tensor, d: int) -> Tensor:
    """(ν + 1 − i)/2 for i = 1 … d, the arguments of the multivariate gamma function."""
    return (nu[..., None] - torch.arange(d, dtype=nu.dtype, device=nu.device)) / 2


def log_partition(eta: Float[Tensor, "*batch F"]) -> Float[Tensor, "*batch"]:
    """log Z (App. A.3) plus the (d/2) ln 2π it omits; +inf outside κ > 0, ν > d − 1, S positive definite."""
    _, kappa, scale, nu = to_standard(eta)
    d = scale.shape[-1]
    factor, info = torch.linalg.cholesky_ex(scale)
    log_determinant = 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    log_gamma = d * (d - 1) / 4 * math.log(math.pi) + torch.lgamma(_degrees(nu, d)).sum(-1)
    value = 0.5 * nu * (d * math.log(2) - log_determinant) + log_gamma - 0.5 * d * (kappa / (2 * math.pi)).log()
    valid = (kappa > 0) & (nu > d - 1) & (info == 0) & value.isfinite()
    return torch.where(valid, value, torch.inf)


def expected_statistics(eta: Float[Tensor, "*batch F"]) -> Float[Tensor, "*batch F"]:
    """E t(μ, Σ) (App. A.2)."""
    location, kappa, scale, nu = to_standard(eta)
    d = scale.shape[-1]
    factor = torch.linalg.cholesky(scale)
    precision = nu[..., None, None] * torch.cholesky_inverse(factor)
    linear = (precision @ location[..., None])[..., 0]
    quadratic = -0.5 * (d / kappa + (linear * location).sum(-1))
    log_determinant = 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    half_log_precision = 0.5 * (torch.digamma(_degrees(nu, d)).sum(-1) + d * math.log(2) - log_determinant)
    return torch.cat([linear, -0.5 * precision.flatten(-2), quadratic[..., None], half_log_precision[..., None]], -1)
