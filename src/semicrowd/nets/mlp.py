"""Multilayer perceptrons of R restarts at once, and the flow of deep DPM, which is made of them."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn


class RestartLayer(nn.Module):
    """A layer of R restarts; products are computed in ``compute_dtype`` (see :func:`set_precision`)."""

    weight: nn.Parameter
    reduced: torch.dtype | None = None

    @property
    def compute_dtype(self) -> torch.dtype:
        """That of the parameters, unless reduced."""
        return self.reduced or self.weight.dtype


class RestartLinear(RestartLayer):
    """R affine maps at once, x W_r + b_r; weight [R, in, out], bias [R, out].

    Weights start from N(0, gain²/in), biases at zero. Each restart draws from a generator of its own, so that restart r
    starts the same whatever R is.
    """

    def __init__(
        self, in_features: int, out_features: int, generators: Sequence[torch.Generator], gain: float = 2**0.5
    ) -> None:
        super().__init__()
        draws = [torch.randn(in_features, out_features, generator=g) for g in generators]
        self.weight = nn.Parameter(torch.stack(draws) * gain / in_features**0.5)
        self.bias = nn.Parameter(torch.zeros(len(generators), out_features))

    def forward(self, x: Float[Tensor, "*#R B i"]) -> Float[Tensor, "R B o"]:
        """Map items [B, in] (shared by all restarts) or [R, B, in] to [R, B, out]."""
        x, weight, bias = (tensor.to(self.compute_dtype) for tensor in (x, self.weight, self.bias))
        restarts = weight.shape[0]
        if restarts == 1:  # as cheap as an ordinary layer; the gradient of squeeze, unlike that of [0], is free
            return torch.addmm(bias.squeeze(0), x.reshape(x.shape[-2:]), weight.squeeze(0))[None]
        return torch.baddbmm(bias[:, None], x.expand(restarts, *x.shape[-2:]), weight)


#: Instructions that multiply bfloat16, of processors: without one its products take thirty times as long as float32's.
_NATIVE = ("avx512_bf16", "amx_bf16", "bf16", "sve_bf16")


def native_bfloat16() -> bool:
    """Whether this machine multiplies bfloat16 by itself: a GPU, or a processor with instructions for it."""
    capabilities = torch.cpu.get_capabilities()
    return torch.cuda.is_available() or any(capabilities.get(name, False) for name in _NATIVE)


def set_precision(net: nn.Module, precision: str) -> None:
    """Compute layers in float32 or bfloat16; ``auto``: the latter where it is fast.

    Parameters and the outputs of whole networks stay as they are.
    """
    reduced = precision == "bfloat16" or (precision == "auto" and native_bfloat16())
    for module in net.modules():
        if isinstance(module, RestartLayer):
            module.reduced = torch.bfloat16 if reduced else None


def set_glorot(net: nn.Module) -> None:
    """Rescale the untrained affine layers to the variance of Glorot & Bengio 2010, 2 / (in + out)."""
    for module in net.modules():
        if isinstance(module, RestartLinear):
            spread = module.weight.flatten(1).std(1)[:, None, None]
            module.weight.data *= (2 / sum(module.weight.shape[1:])) ** 0.5 / spread


def squared_weights(net: nn.Module) -> Float[Tensor, "R"]:
    """|w|² of the network of every restart."""
    return torch.stack([parameter.square().flatten(1).sum(1) for parameter in net.parameters()]).sum(0)


def choose_restarts(net: nn.Module, index: Tensor) -> nn.Module:
    """The networks ``index`` of a stack of restarts; ``net`` itself is changed."""
    for module in net.modules():
        for name, parameter in list(module.named_parameters(recurse=False)):
            setattr(module, name, nn.Parameter(parameter.detach()[index].clone()))
    return net


class MLP(nn.Module):
    """ReLU hidden layers and one or more linear heads; the first head may have a linear skip from the input.

    The skip is what the networks of SVAE have, whose setting the paper follows (docs/DEVIATIONS.md, row 15).

    Parameters
    ----------
    in_features, hidden, heads : widths of the input, of each hidden layer and of each head
    linear_skip : add x W_skip to the first head; W_skip starts as a partial isometry
    head_gain : scale of the heads' initial weights
    """

    def __init__(
        self,
        in_features: int,
        hidden: Sequence[int],
        heads: Sequence[int],
        generators: Sequence[torch.Generator],
        linear_skip: bool = True,
        head_gain: float = 1.0,
    ) -> None:
        super().__init__()
        widths = [in_features, *hidden]
        self.hidden = nn.ModuleList(RestartLinear(a, b, generators) for a, b in pairwise(widths))
        self.heads = nn.ModuleList(RestartLinear(widths[-1], out, generators, head_gain) for out in heads)
        self.skip: nn.Parameter | None = None
        if linear_skip:
            draws = [torch.randn(in_features, heads[0], generator=g) for g in generators]
            ends = (torch.linalg.svd(draw, full_matrices=False) for draw in draws)
            self.skip = nn.Parameter(torch.stack([u @ vh for u, _, vh in ends]))

    def forward(self, x: Float[Tensor, "*#R B i"]) -> list[Float[Tensor, "R B o"]]:
        """The heads' outputs for items [B, in] or [R, B, in]."""
        h = x
        for layer in self.hidden:
            h = layer(h).relu()
        outputs = [head(h).to(self.heads[0].weight.dtype) for head in self.heads]
        if self.skip is not None:
            outputs[0] = outputs[0] + x @ self.skip
        return outputs


class NICE(nn.Module):
    """A bijection that keeps volumes (Dinh, Krueger & Bengio 2015; Li et al. 2022, section 3.2), in R restarts.

    In a coupling layer half of the columns stay, and a network of them shifts the other half.

    The halves take turns. The Jacobian of a layer is triangular with ones on its diagonal, so that ln |det| is exactly
    0. Networks start at 0, and so the flow as the identity. They are :class:`MLP`; zuko's coupling
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
