"""Sweeps by Hydra's launchers: the same numbers by each, jobs.csv and the table, jobs that fail."""

import signal
import time
from pathlib import Path

import pytest

from .conftest import Command, metrics_of, rows_of, runs_of, started

FAST = ("-m", "model=kmeans,crowd_only", "seed=0-1", "hydra.sweep.dir=sweep")


def test_every_combination_is_a_job_with_files_and_a_row(train: Command, tmp_path: Path) -> None:
    done = train(*FAST)
    rows = rows_of(tmp_path / "sweep" / "jobs.csv")
    assert [row["job"] for row in rows] == ["0", "1", "2", "3"]
    assert [row["overrides"].split()[:2] for row in rows] == [
        [f"model={model}", f"seed={seed}"] for model in ("kmeans", "crowd_only") for seed in (0, 1)
    ]
    assert {row["status"] for row in rows} == {"finished"}
    for row in rows:
        metrics = metrics_of(tmp_path / "sweep" / row["folder"])
        assert float(row["train/nmi"]) == metrics["train/nmi"]
    printed = done.stdout
    assert "model=crowd_only seed=1" in printed
    mean = sum(float(row["train/acc"]) for row in rows[:2]) / 2
    assert f"{mean:.3f} ± " in printed


def test_a_job_that_fails_is_a_row_and_the_others_go_on(train: Command, tmp_path: Path) -> None:
    """Its mistake is known when it begins, when it fits, or nobody's."""
    done = train("-m", "model=mcvc,kmeans,gmm", "annotations=none", "n_classes=1,5", "hydra.sweep.dir=sweep", code=1)
    rows = rows_of(tmp_path / "sweep" / "jobs.csv")
    assert [row["status"] for row in rows] == ["failed"] * 3 + ["finished", "failed", "finished"]
    assert "annotations=none" in rows[0]["error"]
    assert "n_clusters" in rows[2]["error"]
    assert "Traceback" not in done.stderr
    train("-m", "model=kmeans", "seed=0,1", "hydra.sweep.dir=sweep")
    assert len(rows_of(tmp_path / "sweep" / "jobs.csv")) == 2, "the folder's earlier jobs are not this sweep's"


def test_an_error_of_our_own_has_a_traceback(train: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semicrowd.methods.unsupervised.KMeansOnly._run", lambda *_: 1 / 0)
    done = train("-m", "model=kmeans", "seed=0,1", "hydra.sweep.dir=sweep", code=1)
    assert done.stderr.count("Traceback") == 2
    assert "ZeroDivisionError" in rows_of(tmp_path / "sweep" / "jobs.csv")[0]["error"]


@pytest.mark.parametrize("launcher", ["joblib", "submitit_local"])
def test_launchers_give_the_same_numbers(train: Command, train_alone: Command, tmp_path: Path, launcher: str) -> None:
    given = ("-m", "model=kmeans", "data.points_per_class=20", "seed=0-1")
    train(*given, "hydra.sweep.dir=sweep")
    more = ["hydra.launcher.n_jobs=2"] if launcher == "joblib" else []
    train_alone(*given, f"hydra/launcher={launcher}", *more, "hydra.sweep.dir=other")
    rows, others = ([{key: value for key, value in row.items() if key != "seconds/fit"}
                     for row in rows_of(tmp_path / name / "jobs.csv")] for name in ("sweep", "other"))  # fmt: skip
    assert rows == others
    for job in range(2):
        files = [(tmp_path / name / str(job) / "assignments.csv").read_bytes() for name in ("sweep", "other")]
        assert files[0] == files[1]


def test_a_sweep_that_is_stopped_keeps_the_jobs_that_have_ended(tmp_path: Path) -> None:
    process = started(tmp_path, "-m", "model=kmeans,scdc", "hydra.sweep.dir=sweep")
    deadline = time.monotonic() + 120
    while not (tmp_path / "sweep" / "1" / "provenance.json").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    rows = rows_of(tmp_path / "sweep" / "jobs.csv")
    assert [(row["job"], row["status"]) for row in rows] == [("0", "finished")]
    assert "ACC" in out


def test_several_processes_for_a_job_need_a_cluster(train: Command, tmp_path: Path) -> None:
    train("-m", "model=scdc", "seed=0,1", "trainer=ddp", "hydra.sweep.dir=sweep", code=1)
    assert all("trainer.devices=2" in row["error"] for row in rows_of(tmp_path / "sweep" / "jobs.csv"))


SHORT = ("model=scdc", "model.init=cold", "model.epochs=2", "model.batch_size=50", "hydra.run.dir=run")


@pytest.mark.slow
def test_two_processes_leave_one_run(train_alone: Command, tmp_path: Path) -> None:
    done = train_alone(*SHORT, "trainer=ddp", "trainer.accelerator=cpu", "logger=mlflow")
    assert {path.name for path in tmp_path.iterdir()} == {"mlartifacts", "mlflow.db", "run"}
    assert metrics_of(tmp_path / "run")["epochs"] == 2
    assert [row["epoch"] for row in rows_of(tmp_path / "run" / "curves.csv")] == ["1", "2"]
    (run,) = runs_of(f"sqlite:///{tmp_path}/mlflow.db")
    assert run.info.status == "FINISHED"
    assert run.data.params["trainer.devices"] == "2"
    assert done.stdout.count("files: ") == 1


@pytest.mark.slow
def test_a_mistake_is_said_once(train_alone: Command) -> None:
    done = train_alone(*SHORT, "trainer=ddp", "trainer.accelerator=cpu", "model.n_clusters=9999", code=2)
    assert done.stderr.count("error: ") == 1
