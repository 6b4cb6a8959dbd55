"""The files of conf/data and conf/annotations say what the functions they name have: options and defaults."""

import inspect
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import get_method, instantiate
from omegaconf import OmegaConf

from semicrowd.crowd import simulate
from semicrowd.data import Dataset

CONF = Path(__file__).parents[2] / "conf"
FILES = sorted([*(CONF / "data").glob("*.yaml"), *(CONF / "annotations").glob("*.yaml")])
#: Options that are not for the command line: a folder of data, and what each call is about.
LEFT_OUT = {"data", "root", "labels", "rng", "seen_as"}


def options(function: Any) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    defaults = {one.name: one.default for one in parameters if one.name not in LEFT_OUT}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in defaults.items()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_has_the_options_of_its_function(path: Path) -> None:
    content = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    assert isinstance(content, dict)
    function = get_method(content.pop("_target_"))
    given = {name: value for name, value in content.items() if name not in ("_convert_", "defaults")}
    if path.parent.name == "annotations":
        assert given.pop("seed") == "${seed}"
        given["seed"] = 0
    assert list(given.items()) == list(options(function).items())
    assert path.read_text(encoding="utf-8").startswith("# ")


@pytest.mark.parametrize("name", ["two_coin", "quota", "tasks"])
def test_simulators_have_the_defaults_of_the_command_line(name: str) -> None:
    content = OmegaConf.to_container(OmegaConf.load(CONF / "annotations" / f"{name}.yaml"), resolve=False)
    assert isinstance(content, dict)
    assert options(getattr(simulate, name)).items() <= content.items()


def test_a_composition_gives_data_and_answers() -> None:
    with initialize_config_dir(str(CONF), version_base=None):
        config = compose("config", ["data.points_per_class=30", "annotations=quota", "annotations.sensitivity=[.9,.8]",
                                    "annotations.specificity=.9", "seed=3"])  # fmt: skip
    data = instantiate(config.data)
    assert isinstance(data, Dataset)
    answers = instantiate(config.annotations, data)
    assert answers.num_annotators == 2
    assert answers.num_items == 150


@pytest.mark.parametrize(("also", "model"), [([], "CoTraining"), (["annotations=crowd", "model=kmeans"], "KMeans")])
def test_own_data_choose_their_method_unless_someone_else_does(also: list[str], model: str) -> None:
    with initialize_config_dir(str(CONF), version_base=None):
        config = compose("config", ["data=npz", "data.path=x.npz", *also])
    assert config.annotations._target_.rpartition(".")[2] == ("crowd" if also else "none")
    assert model in config.model._target_
