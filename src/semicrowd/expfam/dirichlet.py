"""Dirichlet distribution over mixing proportions (SCDC paper, eq. 5, App. A.1–A.3).

With two columns it is the Beta distribution of (θ, 1 − θ), that of an annotator's sensitivity or specificity (eq. 6).
:func:`newton` fits one by maximum likelihood from expected logarithms (Blei et al. 2003, App. A).
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


#: Newton's steps, at most.
_STEPS = 10
#: Halvings of a step that would not raise the objective, at most.
_HALVINGS = 20
#: Nats that another step would gain, from which on it is taken.
_TOLERANCE = 1e-10


def objective(
    concentration: Float[Tensor, "F K"], count: Float[Tensor, "F"], total: Float[Tensor, "F K"]
) -> Float[Tensor, "F"]:
    """Σ_c E ln Dir(θ_c | α) of ``count`` proportions with Σ_c E ln θ_c = ``total``, in nats; concave in α."""
    eta = to_natural(concentration)
    return (eta * total).sum(-1) - count * log_partition(eta)


def newton(
    concentration: Float[Tensor, "F K"], count: Float[Tensor, "F"], total: Float[Tensor, "F K"], largest: float
) -> Float[Tensor, "F K"]:
    """Maximise :func:`objective`, starting from ``concentration``; it never falls, and no α_k leaves (0, ``largest``].

    The Hessian is z − diag(q) with z = C ψ'(Σ α) and q_k = C ψ'(α_k), so that its inverse times the gradient takes K
    operations. A step that leaves the domain, or lowers the objective, is halved.
    """
    value = objective(concentration, count, total)
    for _ in range(_STEPS):
        gradient = total - count[:, None] * expected_statistics(to_natural(concentration))
        q = count[:, None] * torch.polygamma(1, concentration)
        z = count * torch.polygamma(1, concentration.sum(-1))
        shift = (gradient / q).sum(-1) / (1 / z - (1 / q).sum(-1))
        step = (gradient + shift[:, None]) / q
        waiting = (gradient * step).sum(-1) > _TOLERANCE
        if not waiting.any():
            break
        for _ in range(_HALVINGS):
            tried = concentration + step
            inside = ((tried > 0) & (tried <= largest)).all(-1)
            new = objective(tried.where(inside[:, None], concentration), count, total)
            better = waiting & inside & (new > value)
            concentration = tried.where(better[:, None], concentration)
            value = new.where(better, value)
            waiting = waiting & ~better
            if not waiting.any():
                break
            step = step / 2
    return concentration
