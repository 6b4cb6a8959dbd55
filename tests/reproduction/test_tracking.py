"""Runs and sweeps as MLflow has them, read back by a client of its own; stores; MLflow's pages."""

import math
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from reproduction import tracking

from .conftest import SOURCE, Command, environment, metrics_of, quiet, refused, runs_of

FAST = ("model=mcvc", "model.n_restarts=1", "model.n_steps=5", "data.points_per_class=20", "logger=mlflow")


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store that the tests share: making one takes seconds."""
    uri = f"sqlite:///{tmp_path_factory.mktemp('store')}/mlflow.db"
    tracking.open_store(uri)
    return uri


def history(uri: str, run: Run, metric: str) -> dict[int, float]:
    return {point.step: point.value for point in MlflowClient(uri).get_metric_history(run.info.run_id, metric)}


def test_a_run_is_there_with_all_it_tells(train: Command, tmp_path: Path, uri: str) -> None:
    done = train(*FAST, "hydra.run.dir=run", "figures=true", MLFLOW_TRACKING_URI=uri, MLFLOW_EXPERIMENT_NAME="one")
    assert done.returncode == 0, done.stderr
    (run,) = runs_of(uri, "one")
    assert (run.info.status, run.info.run_name) == ("FINISHED", "pinwheel mcvc two_coin n_restarts=1 n_steps=5 seed 0")
    assert {"model": "mcvc", "data": "pinwheel", "model.n_steps": "5", "model.n_clusters": "5", "seed": "0",
            "annotations.sensitivity": "0.9"}.items() <= run.data.params.items()  # fmt: skip
    metrics = metrics_of(tmp_path / "run")
    for name, value in metrics.items():
        assert run.data.metrics[name] == pytest.approx(value)
    assert sum(name.startswith("annotator weight/") for name in run.data.metrics) == 20
    assert run.data.tags["mlflow.source.name"].endswith(" ".join(["hydra.run.dir=run", "figures=true"])) is False
    assert "model=mcvc" in run.data.tags["mlflow.source.name"]
    assert any(name.startswith("sha256.") for name in run.data.tags)
    artifacts = {entry.path for entry in MlflowClient(uri).list_artifacts(run.info.run_id)}
    assert artifacts >= {"config.yaml", "figures", "report.html", "workers.csv", "assignments.csv"}


def test_curves_of_a_loop_and_of_lightning(train: Command, uri: str) -> None:
    for model in (FAST, ("model=scdc", "model.init=cold", "model.epochs=3", "logger=mlflow")):
        done = train(*model, MLFLOW_TRACKING_URI=uri, MLFLOW_EXPERIMENT_NAME="curves")
        assert done.returncode == 0, done.stderr
    _, lightning = runs_of(uri, "curves")
    assert lightning.info.status == "FINISHED"
    elbo = history(uri, lightning, "elbo/epoch")
    assert len(elbo) == 3
    assert all(map(math.isfinite, elbo.values()))
    assert lightning.data.params["model.likelihood"] == "gaussian", "set by the data"


def test_a_sweep_is_a_run_with_its_jobs_below(train: Command, uri: str) -> None:
    done = train("-m", "model=kmeans", "n_classes=5,1", "logger=mlflow", "hydra.sweep.dir=sweep",
                 MLFLOW_TRACKING_URI=uri, MLFLOW_EXPERIMENT_NAME="sweep")  # fmt: skip
    assert done.returncode == 1, done.stderr
    parent, *children = runs_of(uri, "sweep")
    assert [child.info.status for child in children] == ["FINISHED", "FAILED"]
    assert {child.data.tags["mlflow.parentRunId"] for child in children} == {parent.info.run_id}
    assert "n_clusters" in children[1].data.tags["error"]
    assert parent.info.status == "FAILED"
    assert [entry.path for entry in MlflowClient(uri).list_artifacts(parent.info.run_id)] == ["jobs.csv"]
    alone = train("model=kmeans", "logger=mlflow", MLFLOW_TRACKING_URI=uri, MLFLOW_EXPERIMENT_NAME="sweep")
    assert alone.returncode == 0, alone.stderr
    assert "mlflow.parentRunId" not in runs_of(uri, "sweep")[-1].data.tags


def test_two_runs_and_a_sweep_at_once_on_a_fresh_store(tmp_path: Path) -> None:
    given = quiet(("model=kmeans", "logger=mlflow"))
    more: list[list[str]] = [[], ["seed=1"], ["-m", "seed=2,3", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]]
    commands = [[sys.executable, str(SOURCE / "train.py"), *one, *given] for one in more]
    how: dict[str, Any] = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(one, cwd=tmp_path, env=environment(tmp_path), **how) for one in commands]
    for process in processes:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    found = runs_of(f"sqlite:///{tmp_path}/mlflow.db", "semicrowd")
    assert [run.info.status for run in found] == ["FINISHED"] * 5
    assert sum("mlflow.parentRunId" in run.data.tags for run in found) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"mlartifacts", "mlflow.db", "multirun", "runs"}


@pytest.mark.parametrize("place", ["sqlite:////proc/none/mlflow.db", "nonsense://x"])
def test_a_store_that_cannot_be_used_is_one_line(train: Command, tmp_path: Path, place: str) -> None:
    for more in ([], ["-m"]):
        refused(train(*more, "model=kmeans", "logger=mlflow", MLFLOW_TRACKING_URI=place), place)
    assert not list(tmp_path.rglob("metrics.json"))


def test_an_experiment_that_was_deleted_is_one_line(train: Command, uri: str) -> None:
    client = MlflowClient(uri)
    client.delete_experiment(client.create_experiment("gone"))
    refused(train("model=kmeans", "logger=mlflow", MLFLOW_TRACKING_URI=uri, MLFLOW_EXPERIMENT_NAME="gone"), "gone")


def test_trouble_after_the_fit_costs_no_result(
    train: Command, tmp_path: Path, uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(MlflowClient, "log_artifact", full)
    done = train("model=kmeans", "logger=mlflow", "hydra.run.dir=run", MLFLOW_TRACKING_URI=uri)
    assert done.returncode == 0
    assert "No space left" in done.stderr
    assert metrics_of(tmp_path / "run")["train/acc"] > 0.9


@pytest.mark.slow
def test_the_pages_are_for_this_machine_alone(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "reproduction", "ui", "--port", str(port)], cwd=tmp_path, env=environment(tmp_path),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        assert f"127.0.0.1:{port}" in server.stdout.readline()
        deadline, page = time.monotonic() + 120, ""
        while not page and time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
                    page = answer.read().decode()
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.5)
        assert "MLflow" in page
        listening = Path("/proc/net/tcp").read_text()
        places = {line.split()[1] for line in listening.splitlines()[1:] if line.split()[3] == "0A"}
        assert f"0100007F:{port:04X}" in places
        assert f"00000000:{port:04X}" not in places
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)
