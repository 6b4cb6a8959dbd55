"""Runs in trouble: a full disk, a folder that cannot be written, a locked store, a checkpoint with a trap, kills."""

import json
import resource
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import Popen

import numpy as np
import pytest
import torch
from tests.made import Trap

from semicrowd.files import read_status

from .conftest import Command, wait_until

SHORT = ("data=table", "data.path=items.csv", "model=scdc", "model.K=4", "epochs=3", "batch_size=10", "start=cells",
         "start.teach_epochs=5", "annotations=file", "annotations.path=answers.csv")  # fmt: skip
#: Files whose bytes do not depend on when and how often a run was stopped.
SAME = ("assignments.csv", "workers.csv", "curves.csv")


@pytest.mark.usefixtures("table", "answers")
@pytest.mark.parametrize("folder", ["file/run", "/proc/none/run"])
def test_a_folder_that_cannot_be_made_is_one_line(train: Command, tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    done = train(*SHORT, f"hydra.run.dir={folder}")
    assert (done.returncode, done.stdout) == (2, "")
    (said,) = [line for line in done.stderr.splitlines() if not line.startswith(("note:", "  "))]
    assert said.startswith("error: ")
    assert f"{folder}: cannot be used as run directory" in said


@pytest.mark.usefixtures("table", "answers")
def test_a_run_goes_on_after_the_disk_was_full(train: Command, tmp_path: Path) -> None:
    assert train(*SHORT, "hydra.run.dir=whole").returncode == 0
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    sizes = [(tmp_path / "whole" / name).stat().st_size for name in ("checkpoints/last.ckpt", "model.pt")]
    # First, no checkpoint can be written; then only the model, which is larger.
    for limit in sorted(size // 2 for size in sizes):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            done = train(*SHORT, "hydra.run.dir=full", "resume=true")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert done.returncode == 2
        (said,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
        assert said.endswith("cannot be written: File too large")
        assert read_status(tmp_path / "full")["status"] == "failed"
        assert not list((tmp_path / "full").rglob("*.tmp"))
    assert train(*SHORT, "hydra.run.dir=full", "resume=true").returncode == 0
    for name in SAME:
        assert (tmp_path / "full" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.usefixtures("table", "answers")
@pytest.mark.parametrize("model", ["scdc", "mcvc"])
def test_nothing_in_a_checkpoint_is_executed(train: Command, tmp_path: Path, model: str) -> None:
    """Neither by Lightning nor by the driver of other methods."""
    own = SHORT if model == "scdc" else (*SHORT[:2], "model=mcvc", "model.K=2", *SHORT[-2:])
    command = (*own, "hydra.run.dir=run")
    assert train(*command).returncode == 0
    checkpoint, trap = tmp_path / "run" / "checkpoints" / "last.ckpt", tmp_path / "executed"
    content = torch.load(checkpoint, weights_only=True) if checkpoint.exists() else {}
    checkpoint.parent.mkdir(exist_ok=True)
    torch.save({**content, "more": Trap(trap)}, checkpoint)
    (tmp_path / "run" / "status.json").write_text('{"status": "running", "error": null, "seconds": 1.0}\n')
    done = train(*command, "resume=true")
    assert done.returncode == 2
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert said == f"error: {checkpoint}: corrupt checkpoint; delete it and start again without resume=true"
    assert not trap.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("table", "answers")
def test_a_store_that_another_process_has_locked_is_one_line_and_leaves_no_run(train: Command, tmp_path: Path) -> None:
    tracked = (*SHORT, "logger=mlflow", f"logger.uri=sqlite:///{tmp_path / 'store.db'}")
    assert train(*tracked, "hydra.run.dir=first").returncode == 0
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        done = train(*tracked, "hydra.run.dir=second")
    assert done.returncode == 2
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert "store.db: the tracking store cannot be used" in said
    assert "locked" in said
    assert not (tmp_path / "second").exists()


@pytest.mark.slow
def test_a_tracked_run_that_is_stopped_is_killed_in_mlflow(start: Callable[..., "Popen[str]"], tmp_path: Path) -> None:
    process = start("annotations=two_coin", "epochs=1000", "batch_size=6", "start=cold", "hydra.run.dir=run",
                    "logger=mlflow", f"logger.uri=sqlite:///{tmp_path / 'store.db'}")  # fmt: skip
    wait_until(lambda: (tmp_path / "run" / "checkpoints" / "last.ckpt").exists(), 300)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert read_status(tmp_path / "run")["status"] == "interrupted"
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        assert connection.execute("SELECT status FROM runs").fetchall() == [("KILLED",)]


@pytest.mark.slow
@pytest.mark.usefixtures("table", "named_answers")
def test_nobodys_name_is_in_the_store_of_a_run_that_is_anonymous(train: Command, tmp_path: Path) -> None:
    store = tmp_path / "store"
    done = train(*SHORT, "annotations.anonymise=true", "figures=true", "hydra.run.dir=run", "logger=mlflow",
                 f"logger.uri=sqlite:///{store / 'mlflow.db'}")  # fmt: skip
    assert done.returncode == 0, done.stderr
    kept = [path for folder in (store, tmp_path / "run") for path in folder.rglob("*") if path.is_file()]
    assert any(path.name == "workers.csv" and store in path.parents for path in kept)
    assert [path for path in kept if b"Annegret" in path.read_bytes() or b"Bartholomew" in path.read_bytes()] == []


@pytest.mark.slow
def test_a_run_that_is_killed_at_twenty_moments_ends_as_one_that_was_not(
    train: Command, start: Callable[..., "Popen[str]"], tmp_path: Path
) -> None:
    command = ("data=pinwheel", "annotations=two_coin", "model=scdc", "epochs=20", "batch_size=20", "start=cells",
               "start.teach_epochs=50", "seed=0")  # fmt: skip
    begun = time.monotonic()
    whole = start(*command, "hydra.run.dir=whole")
    _, err = whole.communicate(timeout=600)
    assert whole.returncode == 0, err
    # Until training begins, a run takes more than a third of its time, and without a checkpoint it begins anew.
    seconds = time.monotonic() - begun
    draws, folder, finished, cut_off = np.random.default_rng(0), 0, list[Path](), 0
    for moment in draws.uniform(0, seconds, size=20):
        process = start(*command, f"hydra.run.dir=killed-{folder}", "resume=true")
        time.sleep(moment)
        process.kill()
        process.communicate(timeout=60)
        run = tmp_path / f"killed-{folder}"
        cut_off += read_status(run).get("status") == "running" and (run / "checkpoints" / "last.ckpt").exists()
        if read_status(run).get("status") == "finished":
            finished.append(run)
            folder += 1
    last = tmp_path / f"killed-{folder}"
    assert cut_off > 2, "some kills came in the middle of the training or later"
    done = train(*command, f"hydra.run.dir={last.name}", "resume=true")
    assert done.returncode == 0, done.stderr
    for run in (*finished, last):
        assert json.loads((run / "status.json").read_text())["status"] == "finished"
        for name in SAME:
            assert (run / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), (run, name)
        assert not list(run.rglob("*.tmp"))
