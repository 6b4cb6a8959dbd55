"""Runs in trouble: a full disk, a folder that cannot be written, a checkpoint with a trap, kills."""

import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import numpy as np
import pytest
import torch
from tests.made import Trap

from semicrowd.errors import UserError
from semicrowd.files import read_status

from .conftest import Command

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
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert folder in said


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
        assert str(tmp_path / "full") in said
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
    assert str(checkpoint) in said
    assert not trap.exists()


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


@pytest.mark.usefixtures("table", "answers")
def test_what_is_refused_however_late_costs_no_earlier_result(
    train: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = ("data.path=items.csv", "annotations.path=answers.csv", "model=kmeans", "model.K=2", "hydra.run.dir=run")
    assert train(*own).returncode == 0

    def content() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}

    before = content()
    assert len(before) > 8
    with (tmp_path / "answers.csv").open("a") as file:
        file.write("0,nobody,ann,1\n")
    refused = train(*own)
    assert (refused.returncode, "answers.csv" in refused.stderr) == (2, True)
    assert content() == before

    def fit(*_: object) -> None:
        raise UserError("model.K: too many")

    (tmp_path / "answers.csv").write_text("i,j,worker,label\n0,20,ann,0\n")
    monkeypatch.setattr("semicrowd.run.estimator.fitted", fit)
    for folder, status in (("run", "finished"), ("new", "failed")):
        late = train(*own[:-1], f"hydra.run.dir={folder}")
        assert (late.returncode, "model.K" in late.stderr) == (2, True)
        assert read_status(tmp_path / folder)["status"] == status
    assert content() == before
