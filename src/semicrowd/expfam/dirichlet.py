"""Dirichlet distribution over mixing proportions (SCDC paper, eq. 5, App. A.1–A.3).

With two columns it is the Beta distribution of (θ, 1 − θ), that of an annotator's sensitivity or specificity (eq. 6).
"""

import torch
from jaxtyping import Float
from torch import Tensor


def to_natural(concentration: Float[Tensor, "*batch K"]) -> Float[Tensor, "*batch K"]:
    """η = α − 1."""
    return concentration - 1


def to_standard(eta: Float[Tensor, "*batch K"]) -> Float[Tensor, "*batch K"]:
    """Concentration α = η + 1."""
    return eta + 1


def log_partition(eta: Float[Tensor, "*batch K"]) -> Float[Tensor, "*batch"]:
    """log Z = Σ ln Γ(α_k) − ln Γ(Σ α_k); +inf where some α_k ≤ 0."""
    concentration = to_standard(eta)
    value = torch.lgamma(concentration).sum(-1) - torch.lgamma(concentration.sum(-1))
    return torch.where((concentration > 0).all(-1), value, torch.inf)


def expected_statistics(eta: Float[Tensor, "*batch K"]) -> Float[Tensor, "*batch K"]:
    """E[ln π_k] = ψ(α_k) − ψ(Σ α_k) (App. A.2)."""
    concentration = to_standard(eta)
    return torch.digamma(concentration) - torch.digamma(concentration.sum(-1, keepdim=True))


def sample(eta: Float[Tensor, "*batch K"], generator: torch.Generator) -> Float[Tensor, "*batch K"]:
    """One draw of π for each batch element."""
    return torch._sample_dirichlet(to_standard(eta), generator=generator)
