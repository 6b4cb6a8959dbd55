"""The pipeline, dvc.yaml: its commands are valid, its dependencies exist, and `dvc repro` runs it."""

import inspect
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from dvc.repo import Repo
from hydra import compose, initialize_config_dir
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.utils import get_object

from reproduction.app import CONF, arguments

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
    """The jobs of a sweep that have each of its values at least once."""
    overrides = OverridesParser.create().parse_overrides(arguments(words))
    batch = BasicSweeper.split_arguments(overrides, None)[0]
    seen: set[str] = set()
    for job in batch:
        new = {one for one in job if not one.startswith("seed=")} - seen
        if new:
            seen |= new
            yield [one for one in job if not one.startswith("hydra")]


def check_call(config: Any) -> None:
    """A node of the configuration has no argument that its class or function does not take."""
    known = inspect.signature(get_object(config._target_)).parameters
    unknown = {str(name) for name in config} - known.keys() - {"_target_", "_convert_"}
    assert not unknown, config._target_


@pytest.mark.parametrize("profile", PROFILES)
def test_each_command_is_valid_and_each_dependency_exists(
    profile: str, tmp_path: Path, hydra: None  # noqa: ARG001
) -> None:
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


@pytest.mark.slow
def test_a_small_pipeline_runs_once_without_git(tmp_path: Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if name.startswith(("src/", "conf/", ".dvc", "dvc.yaml", "recorded/", "pyproject")):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, tmp_path / name)
    (tmp_path / "params.yaml").write_text("""
jobs: 2
answers: {pinwheel: data=pinwheel annotations=two_coin seed=0-1}
generated: {pinwheel: data=pinwheel annotations=two_coin model=bayes,kmeans seed=0-1 logger=none}
mnist: {broken: data=mnist data.subset=no seed=0 logger=none}
face: {}
cifar10: {}
counts: {}
sequence: {}
crowd: {}
codes: {}
own: {}
spaces: {}
autoencoder: {har: [1, 1]}
slpd: {iris: 1, curve: 1}
""")

    def dvc(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SEMICROWD_DATA")}
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        return subprocess.run([sys.executable, "-m", "dvc", *words], cwd=tmp_path, env=environment, text=True,
                              capture_output=True, check=False)  # fmt: skip

    assert dvc("config", "core.no_scm", "true").returncode == 0
    targets = ["repro", "--keep-going", "answers", "mnist@broken", "generated", "slpd"]
    first = dvc(*targets)
    assert first.returncode != 0  # a stage has failed
    assert "mnist@broken" in first.stderr
    jobs = pd.read_csv(tmp_path / "results" / "pinwheel" / "jobs.csv")
    assert jobs["status"].tolist() == ["finished"] * 4
    assert len(pd.read_csv(tmp_path / "results" / "slpd" / "iris.csv"))
    # What a run has drawn is what the stage has written.
    drawn = sorted((tmp_path / "results" / "pinwheel").glob("*/annotations.csv"))
    kept = sorted((tmp_path / "answers" / "pinwheel").glob("*/answers.csv"))
    assert {path.read_bytes() for path in kept} == {path.read_bytes() for path in drawn}
    assert len(kept) == 2
    before = (tmp_path / "dvc.lock").read_bytes()
    again = dvc("repro", "answers", "generated", "slpd")
    assert again.returncode == 0
    assert "Running" not in again.stdout
    assert (tmp_path / "dvc.lock").read_bytes() == before
    assert not (tmp_path / "results" / "broken").exists() or not (tmp_path / "results" / "broken" / "0").exists()
