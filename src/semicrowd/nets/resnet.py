"""The networks of the SCDC paper for colour images (App. B, CIFAR-10), of any image size.

p(o | x) and q(x | z, o) are stacks of residual blocks between the image and a quarter of its height and width;
q(z | o) is the nine-layer convolutional network of semi-supervised learning (its reference 17).
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import interpolate, max_pool2d

from semicrowd.nets.conv import KERNEL, Body, ResidualBlock, RestartConv, flat
from semicrowd.nets.mlp import RestartLinear


class ResidualBody(Body):
    """A convolution, a residual block, and at each lower resolution further ones.

    Parameters
    ----------
    image_shape : see :class:`Body`
    channels : at each resolution; from one to the next height and width are halved, rounding up
    blocks : residual blocks at each resolution but the first, which has one
    """

    def __init__(
        self, image_shape: Sequence[int], channels: Sequence[int], blocks: int, generators: Sequence[torch.Generator]
    ) -> None:
        super().__init__(image_shape)
        made: list[nn.Module] = [ResidualBlock(channels[0], generators)]
        for above, below in pairwise(channels):
            made.append(ResidualBlock(above, generators, out=below, stride=2))
            made += [ResidualBlock(below, generators) for _ in range(blocks - 1)]
        self.first = RestartConv(self.image_shape[0], channels[0], KERNEL, generators)
        self.blocks = nn.ModuleList(made)
        self.num_features = channels[-1] * math.prod(resolutions(self.image_shape, len(channels))[-1])

    def forward(self, images: Float[Tensor, "*#R B D"]) -> Float[Tensor, "R B F"]:
        """Features of items [B, D] or [R, B, D]."""
        maps = self.first(images.unflatten(-1, self.image_shape)).relu()
        for block in self.blocks:
            maps = block(maps)
        return flat(maps)


class NineLayerBody(Body):
    """Nine convolutions: three of c channels, three of 2c, then 4c, 2c and c; halved twice, and averaged at the end.

    Parameters
    ----------
    image_shape : see :class:`Body`
    channels : c; the paper's reference has 128
    """

    def __init__(self, image_shape: Sequence[int], channels: int, generators: Sequence[torch.Generator]) -> None:
        super().__init__(image_shape)
        c = channels
        groups = ((self.image_shape[0], c, c, c), (c, 2 * c, 2 * c, 2 * c), (2 * c, 4 * c, 2 * c, c))
        kernels = ((KERNEL,) * 3, (KERNEL,) * 3, (KERNEL, 1, 1))
        self.groups = nn.ModuleList(
            nn.ModuleList(RestartConv(a, b, k, generators) for (a, b), k in zip(pairwise(group), sizes, strict=True))
            for group, sizes in zip(groups, kernels, strict=True)
        )
        self.num_features = c

    def forward(self, images: Float[Tensor, "*#R B D"]) -> Float[Tensor, "R B F"]:
        """Features of items [B, D] or [R, B, D]: means over the pixels of the last maps."""
        maps = images.unflatten(-1, self.image_shape)
        for place, group in enumerate(self.groups):
            if place:
                maps = _halved(maps)
            assert isinstance(group, nn.ModuleList)
            for layer in group:
                maps = layer(maps).relu()
        return maps.mean((-2, -1))


class ResidualDecoder(nn.Module):
    """x → an image for each head: :class:`ResidualBody` in reverse, nearest neighbours where it halves.

    Parameters
    ----------
    image_shape, channels, blocks : of the body that it reverses
    latent_dim : of x
    heads : how many numbers each pixel of each colour gets
    linear_skip : from x to the first head
    """

    def __init__(
        self,
        image_shape: Sequence[int],
        channels: Sequence[int],
        blocks: int,
        latent_dim: int,
        heads: int,
        generators: Sequence[torch.Generator],
        linear_skip: bool = True,
        head_gain: float = 0.1,
    ) -> None:
        super().__init__()
        self.image_shape, self.num_heads = Body(image_shape).image_shape, heads
        self.sizes = resolutions(self.image_shape, len(channels))[::-1]
        self.bottom = (channels[-1], *self.sizes[0])
        self.first = RestartLinear(latent_dim, math.prod(self.bottom), generators)
        self.levels = nn.ModuleList()
        for below, above in pairwise(channels[::-1]):
            same = [ResidualBlock(below, generators) for _ in range(blocks - 1)]
            self.levels.append(nn.ModuleList([*same, ResidualBlock(below, generators, out=above)]))
        self.levels.append(nn.ModuleList([ResidualBlock(channels[0], generators)]))
        self.last = RestartConv(channels[0], heads * self.image_shape[0], KERNEL, generators, gain=head_gain)
        pixels = math.prod(self.image_shape)
        self.skip = RestartLinear(latent_dim, pixels, generators, gain=1.0) if linear_skip else None

    def forward(self, x: Float[Tensor, "*#R B d"]) -> list[Float[Tensor, "R B D"]]:
        """The heads' outputs."""
        maps = self.first(x).relu().unflatten(-1, (*self.bottom[1:], self.bottom[0])).movedim(-1, 2)
        for level, size in zip(self.levels, self.sizes, strict=True):
            if maps.shape[-2:] != size:
                maps = interpolate(maps.flatten(0, 1), size).unflatten(0, maps.shape[:2])
            assert isinstance(level, nn.ModuleList)
            for block in level:
                maps = block(maps)
        pixels = self.last(maps).to(self.last.weight.dtype).unflatten(2, (self.num_heads, -1))
        outputs = [head.flatten(2) for head in pixels.unbind(2)]
        if self.skip is not None:
            outputs[0] = outputs[0] + self.skip(x).to(outputs[0].dtype)
        return outputs


def resolutions(image_shape: Sequence[int], number: int) -> list[tuple[int, int]]:
    """(height, width) of the image and of each further resolution, halved and rounded up."""
    height, width = image_shape[-2:]
    return [(math.ceil(height / 2**level), math.ceil(width / 2**level)) for level in range(number)]


def _halved(maps: Float[Tensor, "R B C H W"]) -> Float[Tensor, "R B C h w"]:
    return max_pool2d(maps.flatten(0, 1), 2, ceil_mode=True).unflatten(0, maps.shape[:2])
