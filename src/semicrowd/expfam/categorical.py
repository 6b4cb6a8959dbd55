"""Categorical distribution over K clusters (SCDC paper, App. A.1–A.3).

The natural parameter is unnormalised, as in the paper: log Z vanishes only after subtracting it (ERRATA of App. A.3).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def to_natural(probabilities: Float[Tensor, "*batch K"]) -> Float[Tensor, "*batch K"]:
    """η = ln π."""
    return probabilities.log()


def to_standard(eta: Float[Tensor, "*batch K"]) -> Float[Tensor, "*batch K"]:
    """Probabilities, softmax(η)."""
    return eta.softmax(-1)


def log_partition(eta: Float[Tensor, "*batch K"]) -> Float[Tensor, "*batch"]:
    """log Z = ln Σ exp η_k."""
    return eta.logsumexp(-1)


def expected_statistics(eta: Float[Tensor, "*batch K"]) -> Float[Tensor, "*batch K"]:
    """E[z_k] = π_k."""
    return to_standard(eta)


def sample(eta: Float[Tensor, "*batch K"], generator: torch.Generator) -> Int[Tensor, "*batch"]:
    """One cluster index for each batch element."""
    flat = to_standard(eta).reshape(-1, eta.shape[-1])
    return torch.multinomial(flat, 1, generator=generator).reshape(eta.shape[:-1])
