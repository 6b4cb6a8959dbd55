"""Recognition networks r(o; φ) that form conjugate potentials (SCDC paper, eq. 9)."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from semicrowd.errors import UserError
from semicrowd.nets.conv import ConvNet
from semicrowd.nets.mlp import MLP
from semicrowd.settings.model import GenerativeSettings, NetSettings

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


def build_recognition(
    settings: GenerativeSettings,
    nets: NetSettings,
    num_features: int,
    image_shape: tuple[int, ...] | None,
    generators: Sequence[torch.Generator],
) -> Recognition:
    """The recognition network that the settings ask for.

    Raises
    ------
    UserError
        For a convolutional network of features that are no images.
    """
    heads, skip, gain = (settings.latent_dim, settings.latent_dim), settings.linear_skip, 0.1
    if nets.kind == "mlp":
        net: nn.Module = MLP(num_features, settings.hidden, heads, generators, skip, gain)
    elif image_shape is None or math.prod(image_shape) != num_features:
        raise UserError(f"nets=conv: expected images, got {num_features} features without a shape; try nets=mlp")
    else:
        net = ConvNet(image_shape, nets.channels, nets.blocks, nets.width, heads, generators, skip, gain)
    return Recognition(net, settings.initial_variance)
