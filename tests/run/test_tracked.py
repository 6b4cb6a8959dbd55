"""A sweep with everything on: its runs in MLflow under the sweep's, figures among their artifacts."""

import sqlite3
from pathlib import Path

import pytest

from .conftest import Command


@pytest.mark.usefixtures("table", "answers")
def test_a_sweep_in_mlflow(train: Command, tmp_path: Path) -> None:
    database = tmp_path / "store" / "tracking.db"
    done = train("-m", "data=table", "data.path=items.csv", "annotations=none,file", "+annotations.path=answers.csv",
                 "model=scdc", "model.K=3", "epochs=2", "start=cells", "start.teach_epochs=5", "hydra.run.dir=sweep",
                 f"logger.uri=sqlite:///{database}",
                 "logger=mlflow", "figures=true")  # fmt: skip
    # annotations=none has no path: one job fails, and leaves no run.
    assert done.returncode == 1, done.stderr
    assert "annotations.path" in done.stderr
    with sqlite3.connect(database) as connection:
        runs = dict(connection.execute("SELECT name, status FROM runs"))
        parents = connection.execute("SELECT value FROM tags WHERE key = 'mlflow.parentRunId'").fetchall()
        sweep = connection.execute("SELECT run_uuid FROM runs WHERE name = 'sweep sweep'").fetchall()
        metrics = {name for (name,) in connection.execute("SELECT key FROM latest_metrics")}
    connection.close()
    assert runs == {"sweep sweep": "FAILED", "items.csv scdc answers.csv K=3 seed 0": "FINISHED"}
    assert parents == sweep
    assert {"train/acc", "annotated/nmi", "elbo/train", "annotator weight/ann", "annotator weight/bob"} <= metrics
    assert list((tmp_path / "store" / "mlartifacts").rglob("artifacts/report.html"))
    drawn = {path.name for path in (tmp_path / "sweep" / "annotations-file" / "figures").iterdir()}
    assert {"clusters.png", "workers.png", "curves.png"} <= drawn
    assert drawn <= {path.name for path in (tmp_path / "store" / "mlartifacts").rglob("*.png")}
