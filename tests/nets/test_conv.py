"""Convolutional networks with a restart axis, against plain torch and against one restart at a time."""

from collections.abc import Sequence

import pytest
import torch
from tests.made import generators, shaken
from tests.small_fits import parameters
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import avg_pool2d, conv2d, interpolate, linear, max_pool2d

from semicrowd.nets.build import NetBuilder
from semicrowd.nets.conv import Body, ConvBody, ConvNet, ResidualBlock, RestartConv
from semicrowd.nets.mlp import RestartLinear
from semicrowd.nets.resnet import NineLayerBody, ResidualBody, ResidualDecoder, resolutions


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


SHAPES = [(28, 28), (3, 32, 32), (3, 9, 7), (1, 5)]


def images_of(shape: Sequence[int], number: int = 6) -> Tensor:
    return torch.rand(number, int(torch.tensor(shape).prod()), generator=torch.Generator().manual_seed(5))


def convolved(layer: nn.Module, maps: Tensor, r: int) -> Tensor:
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


@pytest.mark.parametrize("shape", SHAPES)
def test_a_residual_body_is_what_torch_computes(shape: tuple[int, ...]) -> None:
    body, items = ResidualBody(shape, (3, 4, 5), 2, generators(1, 2)), images_of(shape)
    assert len(body.blocks) == 5  # as the paper's
    features = body(items)
    h, w = -(-shape[-2] // 4), -(-shape[-1] // 4)
    assert features.shape == (2, 6, body.num_features) == (2, 6, 5 * h * w)
    for r in range(2):
        maps = convolved(body.first, items.unflatten(1, body.image_shape), r).relu()
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


@pytest.mark.parametrize("kind", ["conv", "resnet"])
@pytest.mark.parametrize("shape", SHAPES)
def test_scdc_has_networks_of_images_of_any_size_and_all_learn(kind: str, shape: tuple[int, ...]) -> None:
    params = parameters(
        "scdc", latent_dim=3, n_clusters=4, hidden=(5, 7), likelihood="logistic", architecture=kind, channels=(2, 3),
        blocks=2, classifier_channels=2,
    )  # fmt: skip
    items = images_of(shape, 16)
    build = NetBuilder(params, items.shape[1], shape, generators(1, 2))
    classifier, encoder, decoder = build.classifier(), build.cluster_encoder(), build.decoder()
    log_q = classifier(items)
    assert log_q.shape == (2, 16, 4)
    close(log_q, (classifier.net.units(items) @ classifier.head.weight + classifier.head.bias[:, None]).log_softmax(-1))
    item, cluster = torch.tensor([0, 0, 3]), torch.tensor([[0, 1, 2], [3, 2, 1]])
    mean, variance = encoder(items, item, cluster)
    assert mean.shape == variance.shape == (2, 3, 3)
    likelihood = decoder.log_likelihood(mean, items[item])
    (log_q.square().sum() + likelihood.sum() + variance.sum()).backward()
    # Of an image of a pixel or two every unit of a layer may be off.
    if min(shape[-2:]) > 5:
        for net in (classifier, encoder, decoder):
            for name, parameter in net.named_parameters():
                assert parameter.grad is not None, name
                assert parameter.grad.isfinite().all(), name
                assert (parameter.grad.flatten(1).norm(dim=1) > 0).all(), name
