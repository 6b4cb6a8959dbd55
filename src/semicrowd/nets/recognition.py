"""Recognition networks r(o; φ) that form conjugate potentials (SCDC paper, eq. 9)."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

#: Smallest variance of a potential: keeps its precision finite in float32.
MIN_VARIANCE = 1e-4


#: Variance of an untrained network's Gaussians.
INITIAL_VARIANCE = 0.1


def positive(raw: Tensor, initial: float = INITIAL_VARIANCE) -> Tensor:
    """A variance from an unconstrained value: softplus, shifted so that 0 gives ``initial``."""
    return nn.functional.softplus(raw + math.log(math.expm1(initial))) + MIN_VARIANCE


class Recognition(nn.Module):
    """o → mean and diagonal variance of a Gaussian potential over x.

    Parameters
    ----------
    net : from items [B, D] or [R, B, D] to the mean and the unconstrained variance, [R, B, d] each
    initial_variance : where the unconstrained variance is 0
    """

    def __init__(self, net: nn.Module, initial_variance: float = INITIAL_VARIANCE) -> None:
        super().__init__()
        self.initial_variance = initial_variance
        self.net = net

    def forward(self, features: Float[Tensor, "*#R B D"]) -> tuple[Float[Tensor, "R B d"], Float[Tensor, "R B d"]]:
        """Mean and variance."""
        mean, raw = self.net(features)
        return mean, positive(raw, self.initial_variance)

    def potentials(self, features: Float[Tensor, "*#R B D"]) -> Float[Tensor, "R B S"]:
        """The potentials as natural parameters r = [μ/σ², vec(−½ diag(1/σ²))], flat, S = d + d²."""
        mean, variance = self(features)
        precision = variance.reciprocal()
        return torch.cat([mean * precision, (-0.5 * precision).diag_embed().flatten(-2)], -1)
