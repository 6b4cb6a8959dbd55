"""Convolutional networks with a restart axis, against plain torch and against one restart at a time."""

import pytest
import torch
from tests.made import generators, shaken
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import conv2d, linear

from semicrowd.nets.conv import ConvBody, ConvNet, ResidualBlock, RestartConv
from semicrowd.nets.mlp import RestartLinear


def normal(*shape: int, seed: int = 5) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def body_of(net: ConvBody, r: int, images: Tensor) -> Tensor:
    """Restart r's maps [B, C, h, w] of images [B, C, H, W], by torch's own convolutions."""

    def conv(layer: nn.Module, maps: Tensor, stride: int) -> Tensor:
        assert isinstance(layer, RestartConv)
        return conv2d(maps, layer.weight[r], layer.bias[r], stride=stride, padding=layer.weight.shape[-1] // 2)

    maps = images
    for layer in net.down:
        maps = conv(layer, maps, 2).relu()
    for block in net.blocks:
        assert isinstance(block, ResidualBlock)
        maps = (maps + conv(block.second, conv(block.first, maps, 1).relu(), 1)).relu()
    return maps


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
        alone = conv2d(
            images[r] if own_images else images, layer.weight[r], layer.bias[r], stride=stride, padding=kernel // 2
        )
        torch.testing.assert_close(out[r], alone, atol=1e-5, rtol=1e-5)


def test_untrained_layers_keep_the_scale_of_their_input() -> None:
    layer = RestartConv(50, 80, 3, generators(1, 2), gain=1.0)
    inner = layer(normal(20, 50, 9, 9))[..., 1:-1, 1:-1]  # at the border zeros take part
    assert inner.square().mean((1, 2, 3, 4)).tolist() == pytest.approx([1, 1], rel=0.03)
    assert layer.weight.std((1, 2, 3, 4)).tolist() == pytest.approx([450**-0.5] * 2, rel=0.02)


@pytest.mark.parametrize("image_shape", [(28, 28), (30, 32), (27, 33), (3, 9, 7), (1, 1)])
def test_a_body_is_what_torch_computes_for_images_of_any_size(image_shape: tuple[int, ...]) -> None:
    body = ConvBody(image_shape, (3, 4), 2, generators(1, 2))
    shaken(body, 0.1)
    *_, height, width = image_shape
    channels = 3 if len(image_shape) == 3 else 1
    images = normal(6, channels, height, width)
    features = body(images.flatten(1))
    h, w = -(-height // 4), -(-width // 4)
    assert features.shape == (2, 6, body.num_features) == (2, 6, 4 * h * w)
    for r in range(2):
        expected = body_of(body, r, images).permute(0, 2, 3, 1).flatten(1)
        torch.testing.assert_close(features[r], expected, atol=1e-4, rtol=1e-4)


def test_heads_see_the_body_through_one_layer_and_the_first_sees_the_pixels() -> None:
    drawn = generators(1, 2)
    net = ConvNet(ConvBody((9, 8), (3, 4), 1, drawn), (6,), (2, 5), drawn)
    shaken(net, 0.1)
    items = normal(7, 72)
    outputs, features = net(items), net.body(items)
    (layer,), heads = net.top.hidden, net.top.heads
    assert isinstance(layer, RestartLinear)
    assert net.skip is not None
    for r in range(2):
        hidden = linear(features[r], layer.weight[r].T, layer.bias[r]).relu()
        for index, head in enumerate(heads):
            assert isinstance(head, RestartLinear)
            expected = hidden @ head.weight[r] + head.bias[r]
            if index == 0:
                expected = expected + items @ net.skip.weight[r] + net.skip.bias[r]
            torch.testing.assert_close(outputs[index][r], expected, atol=1e-5, rtol=1e-5)


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
