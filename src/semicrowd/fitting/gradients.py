"""Gradients of models with a leading restart axis: norms, clipping and checks for finite values, by restart.

Restarts are independent fits, so none of these functions lets a restart change the step of another.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


@torch.no_grad()
def norm_by_restart(gradients: Sequence[Tensor]) -> Float[Tensor, "R"]:
    """Euclidean norm of each restart's gradients, [R, ...] each; not finite if one of them is not."""
    return torch.stack([_norm(gradient) for gradient in gradients]).square().sum(0).sqrt()


@torch.no_grad()
def clip_by_restart(gradients: Sequence[Tensor], norm: Float[Tensor, "R"], most: float) -> None:
    """Scale each restart's gradients down to the norm ``most`` where theirs is larger.

    For each restart this is what ``torch.nn.utils.clip_grad_norm_`` does. A norm over all restarts would make them
    dependent, and a call of that function for each restart takes ten times as long.
    """
    factor = (most / (norm + 1e-6)).clamp(max=1)
    for gradient in gradients:
        gradient.mul_(factor.to(gradient.dtype).view(-1, *[1] * (gradient.dim() - 1)))


@torch.no_grad()
def leave_out(gradients: Sequence[Tensor], restarts: Bool[Tensor, "R"]) -> None:
    """Set the gradients of the marked restarts to 0."""
    for gradient in gradients:
        gradient[restarts] = 0


@torch.no_grad()
def finite_restarts(model: nn.Module) -> Bool[Tensor, "R"]:
    """Whether all parameters of a restart are finite numbers."""
    return torch.stack([parameter.isfinite().flatten(1).all(1) for parameter in model.parameters()]).all(0)


def _norm(gradient: Tensor) -> Float[Tensor, "R"]:
    return torch.linalg.vector_norm(gradient, dim=tuple(range(1, gradient.dim()))).double()
