"""Natural-gradient steps on the global natural parameters, which stay in their domain (SCDC paper, eq. 17)."""

from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from semicrowd.expfam import in_domain

#: How often a step that leads too close to the boundary is halved.
_MAX_HALVINGS = 10


class NaturalGradient(torch.optim.Optimizer):
    """The step of eq. 17, η ← η − ρ (∇̃ + correction). As ∇̃ = η − η̂, without a correction it is η ← (1 − ρ) η + ρ η̂.

    The target η̂ = η⁰ + expected counts is always in the domain, and so is the step without a correction (``svi``). A
    correction, the second term of eq. 17 (``full``), can lead out of the domain, or so close to its boundary that the
    next expected statistics are astronomical: a Beta shape of 4e-6 has E ln β = −240,000. The step of a component that
    would go more than half of the way to the boundary is halved up to ten times. If it still would, it is taken without
    the correction. With momentum the step follows a running mean of the directions −∇̃; where that would go more than
    half of the way to the boundary, it follows the last direction, and the mean begins anew.

    Parameters
    ----------
    params : groups ``{"params": [...], "family": module}``; each parameter holds natural parameters on its last axis
    step_size : ρ in (0, 1]
    scale : factor from the loss to −J, e.g. N when the loss is −J / N
    momentum : m in [0, 1), weight of earlier directions in the running mean; a step of ρ is then the one of
        :class:`torch.optim.SGD` with learning rate (1 − m) ρ and this momentum
    """

    def __init__(
        self, params: Iterable[dict[str, Any]], step_size: float, scale: float = 1.0, momentum: float = 0.0
    ) -> None:
        if not 0 < step_size <= 1:
            raise ValueError(f"step_size must be in (0, 1], got {step_size}")
        groups = [dict(group) for group in params]
        #: Family of each group; not in the groups, because modules cannot be saved in a checkpoint.
        self.families: list[ModuleType] = [group.pop("family") for group in groups]
        super().__init__(groups, {"lr": step_size, "scale": scale, "momentum": momentum})

    @torch.no_grad()
    def step(
        self, closure: Any = None, corrections: Mapping[Tensor, Tensor] | None = None
    ) -> Any:
        """One step; ``corrections`` maps parameters to the gradient of the loss that flows through local inference."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group, family in zip(self.param_groups, self.families, strict=True):
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                direction = -group["scale"] * parameter.grad
                if group["momentum"]:
                    direction = self._averaged(parameter, direction, group, family)
                correction = None if corrections is None else corrections.get(parameter)
                if correction is not None:
                    correction = -group["scale"] * correction
                parameter.copy_(_safe_step(family, parameter, direction, correction, group["lr"]))
        return loss

    def _averaged(self, eta: Tensor, direction: Tensor, group: dict[str, Any], family: ModuleType) -> Tensor:
        average = self.state[eta].setdefault("average", torch.zeros_like(eta))
        average.lerp_(direction, 1 - group["momentum"])
        inside = in_domain(family, eta + 2 * group["lr"] * average)[..., None]
        average.mul_(inside)
        return torch.where(inside, average, direction)


def _safe_step(
    family: ModuleType, eta: Tensor, direction: Tensor, correction: Tensor | None, step_size: float
) -> Tensor:
    plain = eta + step_size * direction
    if correction is None:
        return plain
    size = torch.full(eta.shape[:-1], step_size, dtype=eta.dtype, device=eta.device)
    proposal = plain + step_size * correction
    for _ in range(_MAX_HALVINGS):
        outside = ~in_domain(family, 2 * proposal - eta)  # where a step twice as long would lead
        if not outside.any():
            return proposal
        size = torch.where(outside, size / 2, size)
        proposal = eta + size[..., None] * (direction + correction)
    return torch.where(in_domain(family, 2 * proposal - eta)[..., None], proposal, plain)
