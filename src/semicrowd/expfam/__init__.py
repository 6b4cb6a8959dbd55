"""Conjugate exponential families, one file each, with the same functions; and what holds for every family.

``to_natural, to_standard, log_partition, expected_statistics``, and ``sample`` where draws are needed. A family's
natural parameter is one flat last axis, so that an inner product ⟨η, t⟩ is a plain dot product and every message is a
matrix product; leading axes are batch axes.

Conventions (SCDC paper, App. A): densities are exp(⟨η, t(θ)⟩ − log Z(η)) with base measure 1, so log Z of the Gaussian
and of the normal-inverse-Wishart keep the (d/2) ln 2π that the paper leaves out; both cancel in every KL.
"""

from types import ModuleType

from jaxtyping import Bool, Float
from torch import Tensor


def in_domain(family: ModuleType, eta: Float[Tensor, "*batch F"]) -> Bool[Tensor, "*batch"]:
    """Whether η is a natural parameter of ``family`` (its log partition function is finite)."""
    return family.log_partition(eta).isfinite()


def kl_divergence(
    family: ModuleType, eta_q: Float[Tensor, "*batch F"], eta_p: Float[Tensor, "*#batch F"]
) -> Float[Tensor, "*batch"]:
    """KL(q‖p) = ⟨η_q − η_p, E_q t⟩ − log Z(η_q) + log Z(η_p) (SCDC paper, eqs. 23–25), in nats."""
    inner = ((eta_q - eta_p) * family.expected_statistics(eta_q)).sum(-1)
    return inner - family.log_partition(eta_q) + family.log_partition(eta_p)
