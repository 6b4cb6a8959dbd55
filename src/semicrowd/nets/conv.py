"""Convolutional networks of R restarts at once."""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import conv2d

from semicrowd.nets.mlp import MLP, RestartLayer, RestartLinear

#: Kernel of the layer that sees the pixels, and of all others.
FIRST_KERNEL, KERNEL = 5, 3


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
        groups = 1
        if maps.dim() == 4 or maps.shape[0] == 1:  # the same images for every restart: one ordinary convolution
            maps = maps.reshape(maps.shape[-4:])
        else:
            maps = maps.transpose(0, 1).flatten(1, 2)
            groups = restarts
        out = conv2d(maps, weight, bias.flatten(), self.stride, kernel // 2, groups=groups)
        return out.unflatten(1, (restarts, out_channels)).transpose(0, 1)


class ResidualBlock(nn.Module):
    """relu(x + conv(relu(conv(x)))) on maps [R, B, C, H, W] (He, Zhang, Ren & Sun 2016)."""

    def __init__(self, channels: int, generators: Sequence[torch.Generator]) -> None:
        super().__init__()
        self.first = RestartConv(channels, channels, KERNEL, generators)
        # A branch that starts small keeps the sum at the scale of x, so that no normalisation is needed.
        self.second = RestartConv(channels, channels, KERNEL, generators, gain=0.5)

    def forward(self, maps: Float[Tensor, "R B C H W"]) -> Float[Tensor, "R B C H W"]:
        """Maps of the same shape."""
        return (maps + self.second(self.first(maps).relu())).relu()


class ConvBody(nn.Module):
    """Flattened images → flattened feature maps: convolutions of stride 2, then residual blocks. Of any image size.

    Parameters
    ----------
    image_shape : (height, width) or (image channels, height, width)
    channels : of each convolution of stride 2; each halves height and width, rounding up
    blocks : residual blocks at the last resolution

    Attributes
    ----------
    num_features : width of the output
    """

    def __init__(
        self, image_shape: Sequence[int], channels: Sequence[int], blocks: int, generators: Sequence[torch.Generator]
    ) -> None:
        super().__init__()
        *image_channels, height, width = image_shape
        self.image_shape = (*(image_channels or (1,)), height, width)
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
        return maps.movedim(2, -1).flatten(2)  # channels last, as they lie in memory


class ConvNet(nn.Module):
    """A convolutional body, one ReLU layer and linear heads; takes and gives what :class:`MLP` does.

    Parameters
    ----------
    image_shape, channels, blocks : see :class:`ConvBody`
    width : of the layer between the body and the heads
    heads, linear_skip, head_gain : see :class:`MLP`; the skip is from the pixels
    """

    def __init__(
        self,
        image_shape: Sequence[int],
        channels: Sequence[int],
        blocks: int,
        width: int,
        heads: Sequence[int],
        generators: Sequence[torch.Generator],
        linear_skip: bool = True,
        head_gain: float = 1.0,
    ) -> None:
        super().__init__()
        self.body = ConvBody(image_shape, channels, blocks, generators)
        self.top = MLP(self.body.num_features, (width,), heads, generators, linear_skip=False, head_gain=head_gain)
        pixels = math.prod(image_shape)
        self.skip = RestartLinear(pixels, heads[0], generators, gain=1.0) if linear_skip else None

    def forward(self, images: Float[Tensor, "*#R B D"]) -> list[Float[Tensor, "R B o"]]:
        """The heads' outputs for items [B, D] or [R, B, D]."""
        outputs = self.top(self.body(images))
        if self.skip is not None:
            outputs[0] = outputs[0] + self.skip(images)
        return outputs
