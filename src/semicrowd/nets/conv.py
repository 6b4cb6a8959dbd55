"""Convolutional networks of R restarts at once."""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import conv2d

from semicrowd.nets.mlp import MLP, RestartLayer, RestartLinear

#: Kernel size of the first layer, in pixels.
FIRST_KERNEL = 5
#: Kernel size of all other layers.
KERNEL = 3


class RestartConv(RestartLayer):
    """R convolutions at once; weight [R, out, in, k, k], bias [R, out], zeros outside the image, odd k.

    Weights start from N(0, gain²/(in k²)), biases at zero, each restart from a generator of its own. Computed in
    ``compute_dtype`` (see :func:`semicrowd.nets.mlp.set_precision`), which the maps are returned in.

    Maps are kept with the channels of all restarts innermost in memory: on a CPU that is up to twice as fast as the
    usual order, and from one layer to the next the restart axis is a view.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel: int,
        generators: Sequence[torch.Generator],
        stride: int = 1,
        gain: float = 2**0.5,
    ) -> None:
        super().__init__()
        shape = (out_channels, in_channels, kernel, kernel)
        draws = [torch.randn(shape, generator=g) for g in generators]
        self.weight = nn.Parameter(torch.stack(draws) * gain / math.prod(shape[1:]) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(len(generators), out_channels))
        self.stride = stride

    def forward(self, maps: Float[Tensor, "*#R B i H W"]) -> Float[Tensor, "R B o h w"]:
        """Map images [B, in, H, W] (shared by all restarts) or [R, B, in, H, W]; h = ⌈H/stride⌉, w = ⌈W/stride⌉."""
        restarts, out_channels, *_, kernel = self.weight.shape
        maps, bias = maps.to(self.compute_dtype), self.bias.to(self.compute_dtype)
        weight = self.weight.flatten(0, 1).to(self.compute_dtype, memory_format=torch.channels_last)
        groups, stride = 1, self.stride
        if kernel == 1:
            # The same result. The backward pass of a 1 × 1 convolution with a stride writes beyond its memory for few
            # channels on some processors (oneDNN issue 6035).
            maps, stride = maps[..., ::stride, ::stride], 1
        if maps.dim() == 4 or maps.shape[0] == 1:  # the same images for every restart: one ordinary convolution
            maps = maps.reshape(maps.shape[-4:])
        else:
            maps = maps.transpose(0, 1).flatten(1, 2)
            groups = restarts
        out = conv2d(maps, weight, bias.flatten(), stride, kernel // 2, groups=groups)
        return out.unflatten(1, (restarts, out_channels)).transpose(0, 1)


class ResidualBlock(nn.Module):
    """relu(x' + conv(relu(conv(x)))) on maps [R, B, C, H, W] (He, Zhang, Ren & Sun 2016).

    x' is x, or a 1 × 1 convolution of it where channels or the resolution change.
    """

    def __init__(
        self, channels: int, generators: Sequence[torch.Generator], *, out: int | None = None, stride: int = 1
    ) -> None:
        super().__init__()
        out = out or channels
        self.first = RestartConv(channels, out, KERNEL, generators, stride)
        # A branch that starts small keeps the sum at the scale of x, so that no normalisation is needed.
        self.second = RestartConv(out, out, KERNEL, generators, gain=0.5)
        same = out == channels and stride == 1
        self.project = None if same else RestartConv(channels, out, 1, generators, stride)

    def forward(self, maps: Float[Tensor, "R B i H W"]) -> Float[Tensor, "R B o h w"]:
        """Maps of ⌈H/stride⌉ × ⌈W/stride⌉ pixels."""
        shortcut = maps if self.project is None else self.project(maps)
        return (shortcut + self.second(self.first(maps).relu())).relu()


class Body(nn.Module):
    """Flattened images → flattened feature maps, of any image size.

    Parameters
    ----------
    image_shape : (height, width) or (image channels, height, width)

    Attributes
    ----------
    image_shape : (image channels, height, width)
    num_features : width of the output
    """

    num_features: int

    def __init__(self, image_shape: Sequence[int]) -> None:
        super().__init__()
        *image_channels, height, width = image_shape
        self.image_shape = (*(image_channels or (1,)), height, width)


class ConvBody(Body):
    """Convolutions of stride 2, then residual blocks.

    Parameters
    ----------
    image_shape : see :class:`Body`
    channels : of each convolution of stride 2; each halves height and width, rounding up
    blocks : residual blocks at the last resolution
    """

    def __init__(
        self, image_shape: Sequence[int], channels: Sequence[int], blocks: int, generators: Sequence[torch.Generator]
    ) -> None:
        super().__init__(image_shape)
        _, height, width = self.image_shape
        kernels = [FIRST_KERNEL] + [KERNEL] * (len(channels) - 1)
        self.down = nn.ModuleList(
            RestartConv(a, b, kernel, generators, stride=2)
            for (a, b), kernel in zip(pairwise([self.image_shape[0], *channels]), kernels, strict=True)
        )
        self.blocks = nn.ModuleList(ResidualBlock(channels[-1], generators) for _ in range(blocks))
        shrink = 2 ** len(channels)
        self.num_features = channels[-1] * math.ceil(height / shrink) * math.ceil(width / shrink)

    def forward(self, images: Float[Tensor, "*#R B D"]) -> Float[Tensor, "R B F"]:
        """Features of items [B, D] or [R, B, D]."""
        maps = images.unflatten(-1, self.image_shape)
        for layer in self.down:
            maps = layer(maps).relu()
        for block in self.blocks:
            maps = block(maps)
        return flat(maps)


def flat(maps: Float[Tensor, "R B C H W"]) -> Float[Tensor, "R B F"]:
    """One vector for each item, channels last, which is the maps' order in memory."""
    return maps.movedim(2, -1).flatten(2)


class ConvNet(nn.Module):
    """A body of convolutions, ReLU layers and linear heads, with the same inputs and outputs as :class:`MLP`.

    Parameters
    ----------
    body : flattened images [B, D] → flattened features; has ``image_shape`` and ``num_features``
    hidden : widths of the layers between the body and the heads
    heads, head_gain : see :class:`MLP`
    linear_skip : add an affine map of the pixels to the first head
    """

    def __init__(
        self,
        body: Body,
        hidden: Sequence[int],
        heads: Sequence[int],
        generators: Sequence[torch.Generator],
        linear_skip: bool = True,
        head_gain: float = 1.0,
    ) -> None:
        super().__init__()
        self.body = body
        self.top = MLP(body.num_features, hidden, heads, generators, linear_skip=False, head_gain=head_gain)
        pixels = math.prod(body.image_shape)
        self.skip = RestartLinear(pixels, heads[0], generators, gain=1.0) if linear_skip else None

    @property
    def heads(self) -> nn.ModuleList:
        """The linear layers at the end."""
        return self.top.heads

    def forward(self, images: Float[Tensor, "*#R B D"]) -> list[Float[Tensor, "R B o"]]:
        """The heads' outputs for items [B, D] or [R, B, D]."""
        outputs = self.top(self.body(images))
        if self.skip is not None:
            outputs[0] = outputs[0] + self.skip(images)
        return outputs
