"""Runs and sweeps as MLflow has them, read back by a client of its own; stores; MLflow's pages."""

import math
from pathlib import Path

import pytest
from mlflow import MlflowClient

from reproduction import tracking, ui

from .conftest import Command, metrics_of, refused, runs_of, started

FAST = ("model=scdc", "model.init=cold", "model.epochs=3", "data.points_per_class=20", "logger=mlflow")


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store that the tests share: making one takes seconds."""
    uri = f"sqlite:///{tmp_path_factory.mktemp('store')}/mlflow.db"
    tracking.open_store(uri)
    return uri


def test_a_run_is_there_with_all_it_tells_and_its_curves(train: Command, tmp_path: Path, uri: str) -> None:
    train(*FAST, "hydra.run.dir=run", "figures=true", MLFLOW_TRACKING_URI=uri, MLFLOW_EXPERIMENT_NAME="one")
    (run,) = runs_of(uri, "one")
    assert (run.info.status, run.info.run_name) == ("FINISHED", "pinwheel scdc two_coin init=cold epochs=3 seed 0")
    # The likelihood is set by the data.
    assert {"model": "scdc", "data": "pinwheel", "model.epochs": "3", "model.likelihood": "gaussian", "seed": "0",
            "annotations.sensitivity": "0.9"}.items() <= run.data.params.items()  # fmt: skip
    metrics = metrics_of(tmp_path / "run")
    for name, value in metrics.items():
        assert run.data.metrics[name] == pytest.approx(value)
    assert sum(name.startswith("annotator weight/") for name in run.data.metrics) == 20
    assert "model=scdc" in run.data.tags["mlflow.source.name"]
    assert any(name.startswith("sha256.") for name in run.data.tags)
    artifacts = {entry.path for entry in MlflowClient(uri).list_artifacts(run.info.run_id)}
    assert artifacts >= {"config.yaml", "figures", "report.html", "workers.csv", "assignments.csv"}
    curve = MlflowClient(uri).get_metric_history(run.info.run_id, "elbo/epoch")
    assert len({point.step for point in curve if math.isfinite(point.value)}) == 3


def test_a_sweep_is_a_run_with_its_jobs_below(train: Command, uri: str) -> None:
    train("-m", "model=kmeans", "n_classes=5,1", "logger=mlflow", "hydra.sweep.dir=sweep", code=1,
          MLFLOW_TRACKING_URI=uri, MLFLOW_EXPERIMENT_NAME="sweep")  # fmt: skip
    parent, *children = runs_of(uri, "sweep")
    assert [child.info.status for child in children] == ["FINISHED", "FAILED"]
    assert {child.data.tags["mlflow.parentRunId"] for child in children} == {parent.info.run_id}
    assert "n_clusters" in children[1].data.tags["error"]
    assert parent.info.status == "FAILED"
    assert [entry.path for entry in MlflowClient(uri).list_artifacts(parent.info.run_id)] == ["jobs.csv"]
    train("model=kmeans", "logger=mlflow", MLFLOW_TRACKING_URI=uri, MLFLOW_EXPERIMENT_NAME="sweep")
    assert "mlflow.parentRunId" not in runs_of(uri, "sweep")[-1].data.tags


def test_two_runs_and_a_sweep_at_once_on_a_fresh_store(tmp_path: Path) -> None:
    more: list[list[str]] = [[], ["seed=1"], ["-m", "seed=2,3", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]]
    for process in [started(tmp_path, *one, "model=kmeans", "logger=mlflow") for one in more]:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    found = runs_of(f"sqlite:///{tmp_path}/mlflow.db", "semicrowd")
    assert [run.info.status for run in found] == ["FINISHED"] * 5
    assert sum("mlflow.parentRunId" in run.data.tags for run in found) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"mlartifacts", "mlflow.db", "multirun", "runs"}


@pytest.mark.parametrize("place", ["sqlite:////proc/none/mlflow.db", "nonsense://x"])
def test_a_store_or_an_experiment_that_cannot_be_used_is_one_line(
    train: Command, tmp_path: Path, place: str, uri: str
) -> None:
    for more in ([], ["-m"]):
        refused(train(*more, "model=kmeans", "logger=mlflow", MLFLOW_TRACKING_URI=place, code=2), place)
    client = MlflowClient(uri)
    client.delete_experiment(client.create_experiment(place[:6]))
    there = {"MLFLOW_TRACKING_URI": uri, "MLFLOW_EXPERIMENT_NAME": place[:6]}
    refused(train("model=kmeans", "logger=mlflow", **there, code=2), place[:6])
    assert not list(tmp_path.rglob("metrics.json"))


def test_later_trouble_costs_nothing(train: Command, tmp_path: Path, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(MlflowClient, "log_artifact", full)
    done = train("model=kmeans", "logger=mlflow", "hydra.run.dir=run", MLFLOW_TRACKING_URI=uri)
    assert "No space left" in done.stderr
    assert metrics_of(tmp_path / "run")["train/acc"] > 0.9


def test_the_pages_are_for_this_machine_alone(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words: list[str] = []
    monkeypatch.setattr("os.execv", lambda _, given: words.extend(given))
    monkeypatch.setenv("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "")  # is set by the command, and taken back after the test
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    ui.main(["--port", "5001"])
    assert [words[words.index(option) + 1] for option in ("--host", "--port")] == ["127.0.0.1", "5001"]
