"""A sweep in MLflow: parent, children, and how it ends."""

import os
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from semicrowd.tracking import open_sweep, start_run

from .conftest import PROVENANCE, Configure


def read(uri: str, folder: Path) -> Run:
    return MlflowClient(uri).get_run((folder / "mlflow_run_id").read_text().strip())


def job(configure: Configure, folder: Path, **changes: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with start_run(configure(**changes), folder, PROVENANCE) as tracker:
        tracker.log_epoch(1, {"elbo/epoch": -1.0})
        tracker.finish({"train/acc": 0.9}, [])


def test_jobs_are_children_of_their_sweep(configure: Configure, tmp_path: Path, uri: str) -> None:
    folder = tmp_path / "data-pinwheel_seed-0-1"
    with open_sweep(configure(), folder, {"command": "python src/train.py -m seed=0-1"}) as sweep:
        for seed in (0, 1):
            job(configure, folder / f"seed-{seed}", seed=seed)
        (folder / "jobs.csv").write_text("job\n")
        sweep.finish(0, [folder / "jobs.csv"])
    job(configure, tmp_path / "alone")

    parent = read(uri, folder)
    assert parent.info.status == "FINISHED"
    assert parent.info.run_name == "sweep data-pinwheel_seed-0-1"
    assert parent.data.tags["mlflow.source.name"] == "python src/train.py -m seed=0-1"
    assert "mlflow.parentRunId" not in parent.data.tags
    assert [entry.path for entry in MlflowClient(uri).list_artifacts(parent.info.run_id)] == ["jobs.csv"]
    for seed in (0, 1):
        assert read(uri, folder / f"seed-{seed}").data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert "mlflow.parentRunId" not in read(uri, tmp_path / "alone").data.tags


def test_failed_jobs_fail_the_sweep(configure: Configure, tmp_path: Path, uri: str) -> None:
    with open_sweep(configure(), tmp_path, {}) as sweep:
        sweep.finish(2, [])
    assert read(uri, tmp_path).info.status == "FAILED"
    assert read(uri, tmp_path).data.tags["error"] == "2 jobs failed"


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt(), "KILLED"), (OSError("no"), "FAILED")])
def test_a_sweep_that_stops_ends_the_jobs_that_are_gone(
    configure: Configure, tmp_path: Path, uri: str, error: BaseException, status: str
) -> None:
    killed, finished = tmp_path / "killed", tmp_path / "finished"
    killed.mkdir()

    def stopped() -> None:
        with open_sweep(configure(), tmp_path, {}):
            job(configure, finished)
            start_run(configure(), killed, PROVENANCE)
            raise error

    with pytest.raises(type(error)):
        stopped()
    assert read(uri, tmp_path).info.status == status
    assert read(uri, killed).info.status == "KILLED"
    assert read(uri, finished).info.status == "FINISHED"
    assert "SEMICROWD_PARENT_RUN" not in os.environ


def test_a_resumed_sweep_goes_on_in_its_mlflow_run(configure: Configure, tmp_path: Path, uri: str) -> None:
    with pytest.raises(KeyboardInterrupt), open_sweep(configure(), tmp_path, {}):
        raise KeyboardInterrupt
    before = read(uri, tmp_path).info.run_id
    with open_sweep(configure(resume=True), tmp_path, {}) as sweep:
        assert read(uri, tmp_path).info.status == "RUNNING"
        job(configure, tmp_path / "job")
        sweep.finish(0, [])
    assert read(uri, tmp_path).info.run_id == before
    assert read(uri, tmp_path).info.status == "FINISHED"
    assert read(uri, tmp_path / "job").data.tags["mlflow.parentRunId"] == before


def test_without_a_logger_nothing_happens(configure: Configure, tmp_path: Path) -> None:
    with open_sweep(configure(logger={"name": "none"}), tmp_path / "sweep", {}) as sweep:
        assert "SEMICROWD_PARENT_RUN" not in os.environ
        sweep.finish(1, [])
    assert not (tmp_path / "sweep").exists()
