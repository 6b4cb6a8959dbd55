"""conf/model has the parameters of each method's class with their defaults; whole runs and recorded ones compose."""

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.hydra_config import HydraConfig
from hydra.utils import get_method, instantiate
from omegaconf import OmegaConf

from semicrowd.crowd import simulate
from semicrowd.methods import METHODS, method
from semicrowd.methods.generative import NOT_OF_THE_FIT, Generative
from semicrowd.methods.protocols import Facts, with_defaults

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


#: Data sets whose size the protocols look at: items, columns, images.
SIZES: dict[str, tuple[int, int, tuple[int, ...] | None]] = {
    "data=pinwheel": (500, 2, None), "data=face": (624, 20, None), "data=mnist": (60_000, 784, (28, 28)),
}  # fmt: skip


@pytest.mark.parametrize("path", sorted((CONF.parent / "recorded" / "runs").glob("*.json")), ids=lambda path: path.stem)
def test_arguments_of_recorded_runs_mean_what_they_meant(path: Path) -> None:
    for run in json.loads(path.read_text(encoding="utf-8"))["runs"][:3]:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            config: Any = compose("config", run["arguments"])
        config.n_classes, config.trainer = config.n_classes or 5, None
        model = instantiate(config.model, _convert_="all")
        model._validate_params()
        size = next((SIZES[one] for one in run["arguments"] if one in SIZES), None)
        if not isinstance(model, Generative) or size is None:
            continue
        answers = run["answers"].get("num_pairs", 0)
        tasks = bool(answers) and not {"annotations=two_coin", "annotations=quota"} & {*run["arguments"]}
        given = {name: value for name, value in model.get_params().items() if name not in NOT_OF_THE_FIT}
        facts = Facts(*size, unit_interval=size[2] is not None, num_answers=answers, num_tasks=int(tasks))
        found = with_defaults(model.name, given, facts, model.protocol)
        kept = {name: list(one) if isinstance(one, tuple) else one for name, one in found.items()}
        recorded = run["config"]["params"]
        if found.init != "cold":
            kept.pop("location_scale", None)  # other starts set the means: tests/training/test_parameters_act.py
        assert kept == kept | {name: recorded[name] for name in kept.keys() & recorded.keys()}


FILES = sorted([*(CONF / "data").glob("*.yaml"), *(CONF / "annotations").glob("*.yaml")])
#: Options that are not for the command line: a folder of data, and what each call is about.
LEFT_OUT = {"data", "root", "labels", "rng", "seen_as"}


def options(function: Any) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    defaults = {one.name: one.default for one in parameters if one.name not in LEFT_OUT}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in defaults.items()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_has_the_options_of_its_function(path: Path) -> None:
    content: Any = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    function = get_method(content.pop("_target_"))
    given = {name: value for name, value in content.items() if name not in ("_convert_", "defaults")}
    if path.parent.name == "annotations":
        assert given.pop("seed") == "${seed}"
        given["seed"] = 0
    assert list(given.items()) == list(options(function).items())
    assert path.read_text(encoding="utf-8").startswith("# ")


@pytest.mark.parametrize("name", ["two_coin", "quota", "tasks"])
def test_simulators_have_the_defaults_of_the_command_line(name: str) -> None:
    content: Any = OmegaConf.to_container(OmegaConf.load(CONF / "annotations" / f"{name}.yaml"), resolve=False)
    assert options(getattr(simulate, name)).items() <= content.items()


@pytest.mark.parametrize(("also", "model"), [([], "CoTraining"), (["annotations=crowd", "model=kmeans"], "KMeans")])
def test_own_data_choose_their_method_unless_someone_else_does(also: list[str], model: str) -> None:
    with initialize_config_dir(str(CONF), version_base=None):
        config = compose("config", ["data=npz", "data.path=x.npz", *also])
    assert config.annotations._target_.rpartition(".")[2] == ("crowd" if also else "none")
    assert model in config.model._target_
