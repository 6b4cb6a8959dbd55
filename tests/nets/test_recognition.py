"""Which recognition network a configuration builds, and which it refuses."""

from pathlib import Path
from typing import Any

import pytest
import torch
from omegaconf import DictConfig, OmegaConf

from semicrowd.errors import UserError
from semicrowd.nets import MLP, ConvNet, Recognition, build_recognition

CONF = Path(__file__).parents[2] / "conf" / "nets"


def generators(*seeds: int) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def settings(file: str, **changes: Any) -> DictConfig:
    """What the recognition network needs of a model's configuration, with conf/nets/``file``.yaml."""
    nets = OmegaConf.merge(OmegaConf.load(CONF / f"{file}.yaml"), changes)
    model = {"latent_dim": 3, "hidden": [5, 7], "linear_skip": True, "initial_variance": 0.2, "nets": nets}
    return OmegaConf.create(model)


def test_an_mlp_has_the_widths_of_the_model() -> None:
    built = build_recognition(settings("mlp"), 12, None, generators(1, 2))
    alone = Recognition(MLP(12, (5, 7), (3, 3), generators(1, 2), head_gain=0.1), 0.2)
    items = torch.randn(8, 12, generator=torch.Generator().manual_seed(5))
    for one, other in zip(built(items), alone(items), strict=True):
        torch.testing.assert_close(one, other, atol=0, rtol=0)


@pytest.mark.parametrize("image_shape", [(28, 28), (9, 13), (3, 8, 8)])
def test_a_convolutional_network_takes_images(image_shape: tuple[int, ...]) -> None:
    num_features = int(torch.tensor(image_shape).prod())
    built = build_recognition(settings("conv"), num_features, image_shape, generators(1, 2))
    assert isinstance(built.net, ConvNet)
    items = torch.rand(6, num_features, generator=torch.Generator().manual_seed(5))
    mean, variance = built(items)
    assert mean.shape == variance.shape == (2, 6, 3)
    assert built.potentials(items).shape == (2, 6, 3 + 9)
    assert variance.median().item() == pytest.approx(0.2, rel=0.25)


def test_the_skip_is_the_models_choice() -> None:
    without = settings("conv")
    without.linear_skip = False
    for config, there in ((settings("conv"), True), (without, False)):
        net = build_recognition(config, 784, (28, 28), generators(1)).net
        assert isinstance(net, ConvNet)
        assert (net.skip is not None) == there


@pytest.mark.parametrize(
    ("file", "changes", "image_shape", "message"),
    [
        ("conv", {}, None, r"nets=conv: expected images, got 784 features"),
        ("conv", {}, (30, 28), r"nets=conv: expected images, got 784 features"),
        ("conv", {"channels": []}, (28, 28), r"model\.nets\.channels=\[\]: expected a list"),
        ("conv", {"channels": [8, 0]}, (28, 28), r"model\.nets\.channels=\[8, 0\]: expected a list"),
        ("conv", {"blocks": -1}, (28, 28), r"model\.nets\.blocks=-1: expected a number from 0 on"),
        ("conv", {"width": 0}, (28, 28), r"model\.nets\.width=0: expected a number from 1 on"),
        ("mlp", {"kind": "transformer"}, (28, 28), r"model\.nets\.kind=transformer: expected nets=mlp or nets=conv"),
    ],
)
def test_what_cannot_be_built_is_refused(
    file: str, changes: dict[str, Any], image_shape: tuple[int, ...] | None, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        build_recognition(settings(file, **changes), 784, image_shape, generators(1))
