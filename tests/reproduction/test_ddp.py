"""Several processes train one model: one run's files, one tracked run."""

from pathlib import Path

import pytest

from .conftest import Command, metrics_of, rows_of, runs_of

SHORT = ("model=scdc", "model.init=cold", "model.epochs=2", "model.batch_size=50", "hydra.run.dir=run")


@pytest.mark.slow
def test_two_processes_leave_one_run(train_alone: Command, tmp_path: Path) -> None:
    done = train_alone(*SHORT, "trainer=ddp", "trainer.accelerator=cpu", "logger=mlflow")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"mlartifacts", "mlflow.db", "run"}
    assert metrics_of(tmp_path / "run")["epochs"] == 2
    assert [row["epoch"] for row in rows_of(tmp_path / "run" / "curves.csv")] == ["1", "2"]
    (run,) = runs_of(f"sqlite:///{tmp_path}/mlflow.db")
    assert run.info.status == "FINISHED"
    assert run.data.params["trainer.devices"] == "2"
    assert done.stdout.count("files: ") == 1


@pytest.mark.slow
def test_a_mistake_is_said_once(train_alone: Command) -> None:
    done = train_alone(*SHORT, "trainer=ddp", "trainer.accelerator=cpu", "model.n_clusters=9999")
    assert done.returncode == 2
    assert done.stderr.count("error: ") == 1
