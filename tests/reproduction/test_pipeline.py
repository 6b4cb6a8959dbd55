"""The pipeline, dvc.yaml: its commands are valid, its dependencies exist, and `dvc repro` runs it."""

import inspect
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from dvc.repo import Repo
from hydra import compose, initialize_config_dir
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.utils import get_object, instantiate
from omegaconf import open_dict

from reproduction import run
from reproduction.app import CONF, arguments, command
from reproduction.stages import answers
from reproduction.stages import data as data_stage
from semicrowd.data.cifar10 import load_cifar10

PROJECT = Path(CONF).parent
PROFILES = sorted(path.stem for path in (PROJECT / "conf" / "profile").glob("*.yaml"))


def stages_of(profile: str, folder: Path) -> list[Any]:
    """The stages of dvc.yaml with a profile."""
    for name in ("dvc.yaml", ".dvcignore"):
        shutil.copy(PROJECT / name, folder)
    for name in ("src", "conf"):
        (folder / name).symlink_to(PROJECT / name)
    (folder / "params.yaml").symlink_to(PROJECT / "conf" / "profile" / f"{profile}.yaml")
    Repo.init(str(folder), no_scm=True).close()
    with Repo(str(folder)) as repo:
        return list(repo.index.stages)


@pytest.fixture
def hydra() -> Iterator[None]:
    with initialize_config_dir(CONF, version_base=None):
        yield


def jobs_of(words: list[str]) -> Iterator[list[str]]:
    """The jobs of a sweep that have each choice of a group at least once, and the last one."""
    overrides = OverridesParser.create().parse_overrides(arguments(words))
    batch = BasicSweeper.split_arguments(overrides, None)[0]
    seen: set[str] = set()
    for job in batch:
        choices = {one for one in job if "." not in one.partition("=")[0] and not one.startswith("seed=")}
        if choices - seen or job is batch[-1]:
            seen |= choices
            yield [one for one in job if not one.startswith("hydra")]


def check_call(config: Any) -> None:
    """A node of the configuration has no argument that its class or function does not take."""
    known = inspect.signature(get_object(config._target_)).parameters
    unknown = {str(name) for name in config} - known.keys() - {"_target_", "_convert_"}
    assert not unknown, config._target_


@pytest.mark.parametrize("profile", PROFILES)
def test_each_command_is_valid_and_each_dependency_exists(profile: str, tmp_path: Path, hydra: None) -> None:
    names, results = [], []
    for stage in stages_of(profile, tmp_path):
        words = shlex.split(stage.cmd)
        names.append(stage.name.partition("@")[0])
        missing = [one.def_path for one in stage.deps if one.def_path.startswith(("src", "conf", "recorded"))
                   and not (PROJECT / one.def_path).exists()]  # fmt: skip
        assert not missing, stage.name
        if not any(word.startswith("hydra.sweep.dir=") for word in words):
            continue
        words = words[len(words) - words[::-1].index("-m") :]
        results.append(next(word for word in words if word.startswith("hydra.sweep.dir=")))
        experiments = [word.partition("=")[2].split(",") for word in words if word.startswith("experiment=")]
        needed = {f"conf/experiment/{name}.yaml" for several in experiments for name in several}
        assert needed <= {one.def_path for one in stage.deps}, stage.name
        for job in jobs_of(words):
            cfg = compose("config", job)
            for node in (cfg.data, cfg.annotations, cfg.model):
                check_call(node)
    assert {"fetch", "features", "answers", "slpd", "autoencoder", "spaces", "report"} <= set(names)
    assert len(results) == len(set(results)) >= 20


def test_answers_are_those_that_a_run_draws(tmp_path: Path) -> None:
    given = ["data=pinwheel", "annotations=two_coin", "seed=3"]
    assert command(answers.main, [*given, f"hydra.run.dir={tmp_path / 'stage'}"]) == 0
    words = [*given, "model=cspa", "figures=false", "logger=none", f"hydra.run.dir={tmp_path / 'run'}"]
    subprocess.run([sys.executable, PROJECT / "src" / "train.py", *words], check=True)
    drawn = (tmp_path / "run" / "annotations.csv").read_bytes()
    assert (tmp_path / "stage" / "answers.csv").read_bytes() == drawn


@pytest.mark.slow
def test_a_small_pipeline_runs_once_without_git(tmp_path: Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if name.startswith(("src/", "conf/", ".dvc", "dvc.yaml", "recorded/", "pyproject")):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, tmp_path / name)
    groups = ("answers", "mnist", "face", "cifar10", "counts", "sequence", "crowd", "codes", "own", "spaces")
    pinwheel = "data=pinwheel annotations=two_coin model=cspa,kmeans logger=none seed=0-1"
    exhibits = {"pinwheel": pinwheel, "broken": "data=pinwheel data.points_per_class=none logger=none"}
    params = {"jobs": 2, "generated": exhibits, "autoencoder": {"har": [1, 1]}, "slpd": {"iris": 1}}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params | {name: {} for name in groups}))

    def dvc(*words: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        environment.pop("PYTHONPATH", None)
        return subprocess.run([sys.executable, "-m", "dvc", *words], cwd=tmp_path, env=environment, text=True,
                              capture_output=True, check=False)  # fmt: skip

    assert dvc("config", "core.no_scm", "true").returncode == 0
    first = dvc("repro", "--keep-going", "generated")
    assert first.returncode != 0
    assert "generated@broken" in first.stderr
    jobs = pd.read_csv(tmp_path / "results" / "pinwheel" / "jobs.csv")
    assert jobs["status"].tolist() == ["finished"] * 4
    before = (tmp_path / "dvc.lock").read_bytes()
    again = dvc("repro", "generated@pinwheel")
    assert again.returncode == 0
    assert "Running" not in again.stdout
    assert (tmp_path / "dvc.lock").read_bytes() == before


def test_runs_load_the_axes_of_cifar10(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write_cifar10: Callable[..., dict[str, np.ndarray]]
) -> None:
    monkeypatch.setenv("SEMICROWD_DATA", str(tmp_path))
    write_cifar10(tmp_path, data_batch_1=150, data_batch_2=30, test_batch=20)
    before = load_cifar10()
    data_stage.main(["features", "cifar10"])

    def compute(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("sklearn.decomposition.PCA.fit", compute)
    data = load_cifar10()
    assert data.features.tobytes() == before.features.tobytes()
    assert data.features.shape == (180, 100)


#: One step where a run would take long: few items, no start, one draw.
SHORT = {
    "epochs": 1, "init": "cold", "restarts": 1, "batch_size": 100, "n_epochs": 1, "n_steps": 1, "n_chains": 1,
    "n_sweeps": 12, "n_kept": 1, "n_restarts": 1, "trainer": None,
}  # fmt: skip
#: Data sets of the registry behind one of conf/data.
FILES = {"mnist": ["mnist"], "face": ["face"], "cifar10": ["cifar10", "cifar10h"], "sequence": ["homes"],
         "benchmark": ["pen", "optdigits"]}  # fmt: skip


@pytest.mark.slow
@pytest.mark.needs_data
@pytest.mark.parametrize("name", sorted(path.stem for path in (PROJECT / "conf" / "experiment").glob("*.yaml")))
def test_the_first_step_of_each_experiment_works(
    name: str, hydra: None, public_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = [f"experiment={name}", "logger=none", "verbose=false"]
    cfg = compose("config", given, return_hydra_config=True)
    data = cfg.hydra.runtime.choices.data
    if cfg.hydra.runtime.choices.annotations == "crowd":  # its answers are about all of the images
        given += ["annotations=quota", "annotations.num_annotated=50"]
    if data == "encoded":  # other stages make the codes
        given += ["data=shapes", "data.which=moons"]
    for public in FILES.get(data, ()):
        monkeypatch.setenv("SEMICROWD_DATA", str(public_data(public)))
    cfg = compose("config", given)
    with open_dict(cfg):
        cfg.model.update({key: value for key, value in SHORT.items() if key in cfg.model})
        cfg.data.update({"subset": 300} if data in ("mnist", "cifar10") else {})
        cfg.annotations.update({"num_annotated": 100, "num_tasks": 40} if "num_tasks" in cfg.annotations else {})
    items, answers = run.inputs(cfg)
    with open_dict(cfg):
        cfg.n_classes, cfg.image_shape = items.num_classes, items.image_shape
    model = instantiate(cfg.model, _convert_="all")
    assert len(run.fit(model, items, answers).labels_) == items.num_items
