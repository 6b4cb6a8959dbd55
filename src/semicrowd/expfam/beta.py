"""Beta distribution over a worker's sensitivity or specificity (SCDC paper, eq. 6, App. A.1–A.3).

It is the two-dimensional Dirichlet of (θ, 1 − θ): t(θ) = [ln θ, ln(1 − θ)].
"""

import torch
from jaxtyping import Float
from torch import Tensor

from semicrowd.expfam import dirichlet


def to_natural(shape: Float[Tensor, "*batch 2"]) -> Float[Tensor, "*batch 2"]:
    """η = [τ¹ − 1, τ² − 1]."""
    return dirichlet.to_natural(shape)


def to_standard(eta: Float[Tensor, "*batch 2"]) -> Float[Tensor, "*batch 2"]:
    """Shape parameters [τ¹, τ²]."""
    return dirichlet.to_standard(eta)


def log_partition(eta: Float[Tensor, "*batch 2"]) -> Float[Tensor, "*batch"]:
    """log Z = ln B(τ¹, τ²); +inf outside the domain."""
    return dirichlet.log_partition(eta)


def expected_statistics(eta: Float[Tensor, "*batch 2"]) -> Float[Tensor, "*batch 2"]:
    """[E ln θ, E ln(1 − θ)] (App. A.2)."""
    return dirichlet.expected_statistics(eta)


def sample(eta: Float[Tensor, "*batch 2"], generator: torch.Generator) -> Float[Tensor, "*batch"]:
    """One draw of θ for each batch element."""
    return dirichlet.sample(eta, generator)[..., 0]
