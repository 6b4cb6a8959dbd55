"""Convolutional networks with a restart axis, against plain torch and against one restart at a time."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from tests.made import generators, shaken
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import avg_pool2d, conv2d, interpolate, max_pool2d

from semicrowd.nets.conv import Body, ConvBody, ConvNet, ResidualBlock, RestartConv
from semicrowd.nets.resnet import NineLayerBody, ResidualBody, ResidualDecoder, resolutions


def normal(*shape: int, seed: int = 5) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def convolved(layer: nn.Module, maps: Tensor, r: int) -> Tensor:
    """Of restart r, by torch's own convolution."""
    assert isinstance(layer, RestartConv)
    return conv2d(maps, layer.weight[r], layer.bias[r], stride=layer.stride, padding=layer.weight.shape[-1] // 2)


def block_of(block: nn.Module, maps: Tensor, r: int) -> Tensor:
    assert isinstance(block, ResidualBlock)
    beside = maps if block.project is None else convolved(block.project, maps, r)
    return (beside + convolved(block.second, convolved(block.first, maps, r).relu(), r)).relu()


def rows(maps: Tensor) -> Tensor:
    return maps.permute(0, 2, 3, 1).flatten(1)


def close(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("seeds", [(1,), (1, 2, 3)])
@pytest.mark.parametrize(("kernel", "stride"), [(1, 1), (1, 2), (3, 1), (3, 2), (5, 2)])
@pytest.mark.parametrize("own_images", [False, True])
def test_a_layer_is_one_convolution_for_each_restart(
    seeds: tuple[int, ...], kernel: int, stride: int, own_images: bool
) -> None:
    layer = RestartConv(2, 4, kernel, generators(*seeds), stride)
    shaken(layer, 0.1)
    images = normal(len(seeds), 6, 2, 9, 8) if own_images else normal(6, 2, 9, 8)
    out = layer(images)
    for r in range(len(seeds)):
        alone = convolved(layer, images[r] if own_images else images, r)
        torch.testing.assert_close(out[r], alone, atol=1e-5, rtol=1e-5)


def test_untrained_layers_keep_the_scale_of_their_input() -> None:
    layer = RestartConv(50, 80, 3, generators(1, 2), gain=1.0)
    inner = layer(normal(20, 50, 9, 9))[..., 1:-1, 1:-1]  # at the border zeros take part
    assert inner.square().mean((1, 2, 3, 4)).tolist() == pytest.approx([1, 1], rel=0.03)
    assert layer.weight.std((1, 2, 3, 4)).tolist() == pytest.approx([450**-0.5] * 2, rel=0.02)


def test_heads_see_the_body_through_one_layer_and_the_first_sees_the_pixels() -> None:
    drawn = generators(1, 2)
    net = ConvNet(ConvBody((9, 8), (3, 4), 1, drawn), (6,), (2, 5), drawn)
    shaken(net, 0.1)
    items = normal(7, 72)
    outputs, features = net(items), net.body(items)
    first, second = net.top(features)
    assert [next(layer.parameters()).shape[1:] for layer in net.top.hidden] == [(features.shape[-1], 6)]
    for r in range(2):
        close(outputs[0][r], first[r] + items @ net.skip.weight[r] + net.skip.bias[r])
        close(outputs[1][r], second[r])


def test_gradients_are_those_of_finite_differences() -> None:
    body = ConvBody((5, 6), (2, 3), 1, generators(1, 2))
    shaken(body, 0.1)
    body.double()
    names, values = zip(*body.named_parameters(), strict=True)
    items = normal(2, 3, 30).double().requires_grad_()

    def features(items: Tensor, *values: Tensor) -> Tensor:
        result = functional_call(body, dict(zip(names, values, strict=True)), (items,))
        assert isinstance(result, Tensor)
        return result

    assert features(items, *values).dtype == torch.float64
    assert torch.autograd.gradcheck(features, (items, *values))


SHAPES = [(28, 28), (3, 32, 32), (3, 9, 7), (1, 5)]


def images_of(shape: Sequence[int], number: int = 6) -> Tensor:
    return torch.rand(number, int(torch.tensor(shape).prod()), generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize("shape", [*SHAPES, (27, 33), (1, 1)])
@pytest.mark.parametrize(("kind", "channels", "blocks"), [(ConvBody, (3, 5), 2), (ResidualBody, (3, 4, 5), 5)])
def test_a_body_is_what_torch_computes_for_images_of_any_size(
    shape: tuple[int, ...], kind: Any, channels: tuple[int, ...], blocks: int
) -> None:
    body, items = shaken(kind(shape, channels, 2, generators(1, 2)), 0.1), images_of(shape)
    assert len(body.blocks) == blocks  # the residual one's as the paper's
    features = body(items)
    h, w = -(-shape[-2] // 4), -(-shape[-1] // 4)
    assert features.shape == (2, 6, body.num_features) == (2, 6, 5 * h * w)
    for r in range(2):
        maps = items.unflatten(1, body.image_shape)
        for layer in [body.first] if kind is ResidualBody else body.down:
            maps = convolved(layer, maps, r).relu()
        for block in body.blocks:
            maps = block_of(block, maps, r)
        close(features[r], rows(maps))


@pytest.mark.parametrize("shape", SHAPES)
def test_nine_layers_are_what_torch_computes(shape: tuple[int, ...]) -> None:
    body, items = NineLayerBody(shape, 3, generators(1, 2)), images_of(shape)
    layers = [module for module in body.modules() if isinstance(module, RestartConv)]
    assert [layer.weight.shape[1] for layer in layers] == [3, 3, 3, 6, 6, 6, 12, 6, 3]
    assert [layer.weight.shape[-1] for layer in layers] == [3, 3, 3, 3, 3, 3, 3, 1, 1]
    features = body(items)
    assert features.shape == (2, 6, body.num_features)
    for r in range(2):
        maps = items.unflatten(1, body.image_shape)
        for number, layer in enumerate(layers):
            if number in (3, 6):
                maps = max_pool2d(maps, 2, ceil_mode=True)
            maps = convolved(layer, maps, r).relu()
        close(features[r], avg_pool2d(maps, maps.shape[-2:]).flatten(1))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("skip", [True, False])
def test_a_residual_decoder_is_what_torch_computes(shape: tuple[int, ...], skip: bool) -> None:
    decoder = ResidualDecoder(shape, (3, 4, 5), 2, 2, 2, generators(1, 2), skip)
    blocks = [module for module in decoder.modules() if isinstance(module, ResidualBlock)]
    assert len(blocks) == 5
    x = torch.randn(2, 6, 2, generator=torch.Generator().manual_seed(3))
    outputs = decoder(x)
    colours, *_ = Body(shape).image_shape
    sizes = resolutions(shape, 3)
    for r in range(2):
        maps = (x[r] @ decoder.first.weight[r] + decoder.first.bias[r]).relu().unflatten(1, (*sizes[2], 5))
        maps = block_of(blocks[1], block_of(blocks[0], maps.permute(0, 3, 1, 2), r), r)
        maps = block_of(blocks[3], block_of(blocks[2], interpolate(maps, sizes[1]), r), r)
        maps = convolved(decoder.last, block_of(blocks[4], interpolate(maps, sizes[0]), r), r)
        mean, raw = maps[:, :colours].flatten(1), maps[:, colours:].flatten(1)
        if decoder.skip is not None:
            mean = mean + x[r] @ decoder.skip.weight[r] + decoder.skip.bias[r]
        close(outputs[0][r], mean)
        close(outputs[1][r], raw)
