"""Networks of residual blocks, against plain torch, one restart at a time."""

from collections.abc import Sequence

import pytest
import torch
from tests.made import generators
from tests.small_fits import parameters
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, conv2d, interpolate, max_pool2d

from semicrowd.nets.build import NetBuilder
from semicrowd.nets.conv import Body, ResidualBlock, RestartConv
from semicrowd.nets.resnet import NineLayerBody, ResidualBody, ResidualDecoder, resolutions

SHAPES = [(28, 28), (3, 32, 32), (3, 9, 7), (1, 5)]


def images_of(shape: Sequence[int], number: int = 6) -> Tensor:
    return torch.rand(number, int(torch.tensor(shape).prod()), generator=torch.Generator().manual_seed(5))


def conv(layer: nn.Module, maps: Tensor, r: int) -> Tensor:
    assert isinstance(layer, RestartConv)
    return conv2d(maps, layer.weight[r], layer.bias[r], stride=layer.stride, padding=layer.weight.shape[-1] // 2)


def block_of(block: nn.Module, maps: Tensor, r: int) -> Tensor:
    assert isinstance(block, ResidualBlock)
    beside = maps if block.project is None else conv(block.project, maps, r)
    return (beside + conv(block.second, conv(block.first, maps, r).relu(), r)).relu()


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
        maps = conv(body.first, items.unflatten(1, body.image_shape), r).relu()
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
            maps = conv(layer, maps, r).relu()
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
        maps = conv(decoder.last, block_of(blocks[4], interpolate(maps, sizes[0]), r), r)
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
