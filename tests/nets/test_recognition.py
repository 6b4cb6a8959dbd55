"""Which recognition network settings build, and which they refuse."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from semicrowd.errors import UserError
from semicrowd.nets.build import NetBuilder
from semicrowd.nets.conv import ConvBody, ConvNet
from semicrowd.nets.decoder import Recognition
from semicrowd.nets.mlp import MLP
from semicrowd.settings.model import BayesSettings, NetSettings

from .conftest import generators

MODEL = BayesSettings(latent_dim=3, hidden=(5, 7), linear_skip=True, initial_variance=0.2)
PERCEPTRON, CONVOLUTIONS = NetSettings(), NetSettings(kind="conv")


def test_an_mlp_has_the_widths_of_the_model() -> None:
    built = NetBuilder(MODEL, PERCEPTRON, 12, None, generators(1, 2)).recognition()
    alone = Recognition(MLP(12, (5, 7), (3, 3), generators(1, 2), head_gain=0.1), 0.2)
    items = torch.randn(8, 12, generator=torch.Generator().manual_seed(5))
    for one, other in zip(built(items), alone(items), strict=True):
        torch.testing.assert_close(one, other, atol=0, rtol=0)


@pytest.mark.parametrize("image_shape", [(28, 28), (9, 13), (3, 8, 8)])
def test_a_convolutional_network_takes_images(image_shape: tuple[int, ...]) -> None:
    num_features = int(torch.tensor(image_shape).prod())
    built = NetBuilder(MODEL, CONVOLUTIONS, num_features, image_shape, generators(1, 2)).recognition()
    assert isinstance(built.net, ConvNet)
    items = torch.rand(6, num_features, generator=torch.Generator().manual_seed(5))
    mean, variance = built(items)
    assert mean.shape == variance.shape == (2, 6, 3)
    assert built.potentials(items).shape == (2, 6, 3 + 9)
    assert variance.median().item() == pytest.approx(0.2, rel=0.25)


def test_the_skip_is_the_models_choice() -> None:
    for there in (True, False):
        settings = replace(MODEL, linear_skip=there)
        net = NetBuilder(settings, CONVOLUTIONS, 784, (28, 28), generators(1)).recognition().net
        assert isinstance(net, ConvNet)
        assert (net.skip is not None) == there


def test_the_sizes_of_convolutions_are_their_settings() -> None:
    nets = NetSettings(kind="conv", channels=(3, 4, 5), blocks=2, width=11)
    net = NetBuilder(MODEL, nets, 784, (28, 28), generators(1)).recognition().net
    assert isinstance(net, ConvNet)
    assert isinstance(net.body, ConvBody)
    assert [next(layer.parameters()).shape[1] for layer in net.body.down] == [3, 4, 5]
    assert len(net.body.blocks) == 2
    assert 11 in {size for parameter in net.parameters() for size in parameter.shape}


@pytest.mark.parametrize("image_shape", [None, (30, 28)])
def test_convolutions_of_what_is_no_image_are_refused(image_shape: tuple[int, ...] | None) -> None:
    with pytest.raises(UserError, match=r"nets=conv: expected images, got 784 features"):
        NetBuilder(MODEL, CONVOLUTIONS, 784, image_shape, generators(1))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"channels": []}, r"nets\.channels=\[\]: expected a list"),
        ({"channels": [8, 0]}, r"nets\.channels=\[8, 0\]: expected a list"),
        ({"blocks": -1}, r"nets\.blocks=-1: expected a whole number from 0"),
        ({"width": 0}, r"nets\.width=0: expected a whole number from 1"),
        ({"kind": "transformer"}, r"nets\.kind=transformer: expected mlp or conv or resnet"),
        ({"precision": "float16"}, r"nets\.precision=float16: expected float32 or bfloat16 or auto"),
    ],
)
def test_what_cannot_be_built_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        replace(CONVOLUTIONS, **changes)
