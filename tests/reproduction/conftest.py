"""The command line as a user has it: src/train.py and src/predict.py in a folder of their own."""

import contextlib
import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest.mock import patch

import jaxtyping
import numpy as np
import pytest

from reproduction.tracking import open_store

SOURCE = Path(__file__).parents[2] / "src"
Command = Callable[..., "CompletedProcess[str]"]


def environment(folder: Path) -> dict[str, str]:
    """No data, no network, no threads that spin against other tests, and nothing of the processes of another fit."""
    left_behind = ("SEMICROWD_", "HYDRA_", "MLFLOW_", "MASTER_", "NODE_RANK", "LOCAL_RANK", "WORLD_SIZE", "SLURM_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_behind)}
    kept["PYTHONPATH"] = str(SOURCE)
    return kept | {"SEMICROWD_DATA": str(folder / "data"), "SEMICROWD_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def quiet(arguments: tuple[str, ...]) -> list[str]:
    """Untracked, without figures and progress, unless the arguments say so."""
    quick = {"logger=": "none", "figures=": "false", "verbose=": "false"}
    return [*arguments, *(key + value for key, value in quick.items() if not any(a.startswith(key) for a in arguments))]


def called(
    main: Callable[[list[str]], int], folder: Path, given: list[str], variables: dict[str, str], expected: int
) -> Any:
    """What a command does in ``folder``, but in this process: an interpreter with PyTorch takes longer to start."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.dict(os.environ, environment(folder) | variables, clear=True),
        patch.object(sys, "argv", ["train.py"]),
        patch.object(jaxtyping.config, "jaxtyping_disable", True),  # a whole run is many calls
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            code = main(given)
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 0
    assert code == expected, err.getvalue()
    return CompletedProcess(given, code, out.getvalue(), err.getvalue())


def started(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    """``python src/train.py`` in a process of its own that is not waited for."""
    return subprocess.Popen(
        [sys.executable, str(SOURCE / "train.py"), *quiet(arguments)], cwd=folder, env=environment(folder), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a csv file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def metrics_of(run: Path) -> dict[str, float]:
    """The content of metrics.json."""
    metrics = json.loads((run / "metrics.json").read_text())
    assert isinstance(metrics, dict)
    return metrics


def runs_of(uri: str, experiment: str = "semicrowd") -> list[Any]:
    """The runs of an experiment of MLflow, the first one first."""
    client, id = open_store(uri, experiment)
    return list(client.search_runs([id], order_by=["attributes.start_time"]))


@pytest.fixture
def train(tmp_path: Path) -> Command:
    """``python src/train.py`` with the arguments, untracked and without figures, in ``tmp_path``; in this process.

    It must end with the exit status ``code``, as with the two commands below.
    """

    def run(*arguments: str, code: int = 0, **variables: str) -> "CompletedProcess[str]":
        from reproduction.app import main

        return called(main, tmp_path, quiet(arguments), variables, code)

    return run


@pytest.fixture
def train_alone(tmp_path: Path) -> Command:
    """The same in a process of its own: for what starts other processes, and for what an interpreter does by itself."""

    def run(*arguments: str, code: int = 0, **variables: str) -> "CompletedProcess[str]":
        done = subprocess.run(
            [sys.executable, str(SOURCE / "train.py"), *quiet(arguments)], cwd=tmp_path,
            env=environment(tmp_path) | variables, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done

    return run


@pytest.fixture
def predict(tmp_path: Path) -> Command:
    """``python src/predict.py`` with the arguments in ``tmp_path``, in this process."""

    def run(*arguments: str, code: int = 0) -> "CompletedProcess[str]":
        from reproduction.predict import main

        return called(main, tmp_path, list(arguments), {}, code)

    return run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """40 items in two far groups, 20 each, in ``tmp_path/items.csv``."""
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(20, 2)) - 5, rng.normal(size=(20, 2)) + 5])
    path = tmp_path / "items.csv"
    rows = [f"{x:.6f},{y:.6f},{group}" for (x, y), group in zip(points, ["a"] * 20 + ["b"] * 20, strict=True)]
    path.write_text("\n".join(["x,y,label", *rows]) + "\n")
    return path


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Right answers of two workers about every pair of items 0–5 and 20–25 of the table."""
    items = [*range(6), *range(20, 26)]
    pairs = [(i, j) for n, i in enumerate(items) for j in items[n + 1 :]]
    path = tmp_path / "answers.csv"
    rows = [f"{i},{j},{worker},{int((i < 20) == (j < 20))}" for worker in ("ann", "bob") for i, j in pairs]
    path.write_text("\n".join(["i,j,worker,label", *rows]) + "\n")
    return path


def refused(done: "CompletedProcess[str]", *named: str) -> None:
    """One line on the error stream that names what is wrong, no output, exit code 2."""
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert line.startswith("error: ")
    assert done.stdout == ""
    for text in named:
        assert text in line
