"""NICE: a bijection that keeps volumes (Dinh, Krueger & Bengio 2015; Li et al. 2022, section 3.2)."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from semicrowd.nets.mlp import MLP


class NICE(nn.Module):
    """Additive coupling layers of R restarts: half of the columns stay, the other half is shifted by a network of them.

    The columns take turns, even ones and odd ones. The Jacobian of a layer is triangular with ones on its diagonal, so
    that ln |det| is exactly 0. Networks start at 0, and the flow as the identity: clusters of the items as they are
    begin it. Its parts are :class:`semicrowd.nets.mlp.MLP`; zuko's coupling flow with additive transforms is the same
    function, but draws its weights from torch's global generator, cannot start at the identity without reaching into
    its layers, and has no restarts.

    Parameters
    ----------
    dim : D >= 2
    layers, hidden : coupling layers, and units of the one hidden layer of each
    generators : one for each restart
    """

    def __init__(self, dim: int, layers: int, hidden: int, generators: Sequence[torch.Generator]) -> None:
        super().__init__()
        halves = torch.arange(0, dim, 2), torch.arange(1, dim, 2)
        self.halves = [halves[layer % 2] for layer in range(layers)], [halves[1 - layer % 2] for layer in range(layers)]
        self.nets = nn.ModuleList(
            MLP(len(stays), [hidden], [len(moves)], generators, linear_skip=False, head_gain=0.0)
            for stays, moves in zip(*self.halves, strict=True)
        )

    def forward(self, y: Float[Tensor, "*#R B D"]) -> Float[Tensor, "R B D"]:
        """z = f(y) of items [B, D], shared by all restarts, or [R, B, D]."""
        z = y.expand(self._restarts, *y.shape[-2:])
        for net, stays, moves in zip(self.nets, *self.halves, strict=True):
            z = z.index_add(-1, moves, net(z[..., stays])[0])
        return z

    def inverse(self, z: Float[Tensor, "*#R B D"]) -> Float[Tensor, "R B D"]:
        """y = f⁻¹(z)."""
        y = z.expand(self._restarts, *z.shape[-2:])
        for net, stays, moves in reversed(list(zip(self.nets, *self.halves, strict=True))):
            y = y.index_add(-1, moves, -net(y[..., stays])[0])
        return y

    @property
    def _restarts(self) -> int:
        return len(self.nets[0].heads[0].weight)  # type: ignore[index, union-attr, arg-type]
