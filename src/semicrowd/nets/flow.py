"""NICE: a bijection that keeps volumes (Dinh, Krueger & Bengio 2015; Li et al. 2022, section 3.2)."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from semicrowd.nets.mlp import MLP


class NICE(nn.Module):
    """Additive coupling layers of R restarts: half of the columns stay, a network of them shifts the other half.

    The halves take turns. The Jacobian of a layer is triangular with ones on its diagonal, so that ln |det| is exactly
    0. Networks start at 0, and so the flow as the identity. They are :class:`semicrowd.nets.mlp.MLP`; zuko's coupling
    flow with additive transforms is the same function, but draws its weights from torch's global generator, cannot be
    told to start at the identity, and has no restarts.

    Parameters
    ----------
    dim : D >= 2
    layers, hidden : coupling layers, and units of the one hidden layer of each
    generators : one for each restart
    """

    def __init__(self, dim: int, layers: int, hidden: int, generators: Sequence[torch.Generator]) -> None:
        super().__init__()
        self.first, self.restarts = dim // 2, len(generators)
        widths = (self.first, dim - self.first)
        self.nets = nn.ModuleList(
            MLP(widths[layer % 2], [hidden], [widths[1 - layer % 2]], generators, linear_skip=False, head_gain=0.0)
            for layer in range(layers)
        )

    def forward(self, y: Float[Tensor, "*#R B D"]) -> Float[Tensor, "R B D"]:
        """z = f(y) of items [B, D], shared by all restarts, or [R, B, D]."""
        halves = self._halves(y)
        for layer, net in enumerate(self.nets):
            halves[1 - layer % 2] = halves[1 - layer % 2] + net(halves[layer % 2])[0]
        return torch.cat(halves, -1)

    def inverse(self, z: Float[Tensor, "*#R B D"]) -> Float[Tensor, "R B D"]:
        """y = f⁻¹(z)."""
        halves = self._halves(z)
        for layer, net in reversed(list(enumerate(self.nets))):
            halves[1 - layer % 2] = halves[1 - layer % 2] - net(halves[layer % 2])[0]
        return torch.cat(halves, -1)

    def _halves(self, x: Tensor) -> list[Tensor]:
        whole = x.expand(self.restarts, *x.shape[-2:])
        return [whole[..., : self.first], whole[..., self.first :]]
