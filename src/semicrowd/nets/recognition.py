"""Recognition networks r(o; φ) that form conjugate potentials (SCDC paper, eq. 9)."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from semicrowd.nets.mlp import MLP

#: Smallest variance of a potential: keeps its precision finite in float32.
MIN_VARIANCE = 1e-4


#: Variance of an untrained network's Gaussians.
INITIAL_VARIANCE = 0.1


def positive(raw: Tensor, initial: float = INITIAL_VARIANCE) -> Tensor:
    """A variance from an unconstrained value: softplus, shifted so that 0 gives ``initial``."""
    return nn.functional.softplus(raw + math.log(math.expm1(initial))) + MIN_VARIANCE


class Recognition(nn.Module):
    """o → mean and diagonal variance of a Gaussian potential over x."""

    def __init__(
        self,
        num_features: int,
        hidden: Sequence[int],
        latent_dim: int,
        generators: Sequence[torch.Generator],
        linear_skip: bool = True,
        initial_variance: float = INITIAL_VARIANCE,
    ) -> None:
        super().__init__()
        self.initial_variance = initial_variance
        self.net = MLP(num_features, hidden, (latent_dim, latent_dim), generators, linear_skip, head_gain=0.1)

    def forward(self, features: Float[Tensor, "*#R B D"]) -> tuple[Float[Tensor, "R B d"], Float[Tensor, "R B d"]]:
        """Mean and variance."""
        mean, raw = self.net(features)
        return mean, positive(raw, self.initial_variance)

    def potentials(self, features: Float[Tensor, "*#R B D"]) -> Float[Tensor, "R B S"]:
        """The potentials as natural parameters r = [μ/σ², vec(−½ diag(1/σ²))], flat, S = d + d²."""
        mean, variance = self(features)
        precision = variance.reciprocal()
        return torch.cat([mean * precision, (-0.5 * precision).diag_embed().flatten(-2)], -1)
