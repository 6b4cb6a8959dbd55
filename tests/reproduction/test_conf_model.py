"""conf/model has the parameters of each method's class with their defaults; every whole run composes."""

import inspect
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from semicrowd.methods import METHODS, method

CONF = Path(__file__).parents[2] / "conf"
#: What a run sets in place of the default, for all methods.
SHARED = {name: f"${{{name}}}" for name in ("image_shape", "protocol", "trainer", "memory", "verbose")}
SHARED["random_state"] = "${seed}"


def test_every_method_has_a_file_and_every_file_a_method() -> None:
    assert {path.stem for path in (CONF / "model").glob("*.yaml")} == METHODS.keys()


@pytest.mark.parametrize("name", METHODS)
def test_a_file_has_the_parameters_of_the_class_with_their_defaults(name: str) -> None:
    path, kind = CONF / "model" / f"{name}.yaml", method(name)
    content: Any = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    assert content.pop("_target_") == f"semicrowd.{kind.__name__}"
    expected = {one.name: one.default for one in list(inspect.signature(kind).parameters.values())}
    expected = {key: list(value) if isinstance(value, tuple) else value for key, value in expected.items()}
    if content.get("n_clusters") == "${n_classes}":  # a method that needs a number
        assert expected["n_clusters"] is not None
        expected["n_clusters"] = "${n_classes}"
    expected |= {key: value for key, value in SHARED.items() if key in expected}
    assert list(content.items()) == list(expected.items())
    assert path.read_text(encoding="utf-8").startswith("# ")


@pytest.mark.parametrize("name", sorted(path.stem for path in (CONF / "experiment").glob("*.yaml")))
def test_every_experiment_composes(name: str) -> None:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", [f"experiment={name}"], return_hydra_config=True)
        HydraConfig.instance().set_config(config)
    assert config.model._target_.startswith("semicrowd.")
    assert (CONF / "experiment" / f"{name}.yaml").read_text(encoding="utf-8").startswith("# @package _global_\n# ")
