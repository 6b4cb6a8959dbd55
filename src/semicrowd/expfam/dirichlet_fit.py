"""Maximum likelihood of a Dirichlet from expected logarithms, by Newton steps (Blei et al. 2003, App. A)."""

import torch
from jaxtyping import Float
from torch import Tensor

from semicrowd.expfam import dirichlet

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
    eta = dirichlet.to_natural(concentration)
    return (eta * total).sum(-1) - count * dirichlet.log_partition(eta)


def newton(
    concentration: Float[Tensor, "F K"], count: Float[Tensor, "F"], total: Float[Tensor, "F K"], largest: float
) -> Float[Tensor, "F K"]:
    """Maximise :func:`objective`, starting from ``concentration``; it never falls, and no α_k leaves (0, ``largest``].

    The Hessian is z − diag(q) with z = C ψ'(Σ α) and q_k = C ψ'(α_k), so that its inverse times the gradient takes K
    operations. A step that leaves the domain, or lowers the objective, is halved.
    """
    value = objective(concentration, count, total)
    for _ in range(_STEPS):
        gradient = total - count[:, None] * dirichlet.expected_statistics(dirichlet.to_natural(concentration))
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
