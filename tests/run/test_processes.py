"""Several processes that train one run; a start that is cut off; a tracking server that is not there."""

import csv
import json
import os
import signal
import socket
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE, Popen

import pandas as pd
import pytest

from .conftest import SOURCE, Command, environment, wait_until

#: Two processes, of which the second is made by src/semicrowd/run/rank.py.
TWO = ("annotations=two_coin", "model.K=4", "start=cold", "trainer=ddp", "trainer.devices=2", "trainer.accelerator=cpu")


def _without_warnings(said: str) -> str:
    """Without those of results that are not to be trusted, as after two epochs."""
    return "".join(line for line in said.splitlines(keepends=True) if not line.startswith("warning: "))


@pytest.mark.slow
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
def test_a_sweep_of_runs_of_one_and_two_processes_leaves_the_files_and_the_tracked_run_of_each(
    train: Command, tmp_path: Path
) -> None:
    """A job of two processes is followed by others, which find nothing of it in the environment; and the second
    process of a job does that job alone, not the sweep."""
    database = tmp_path / "tracking.db"
    done = train("-m", *TWO[:3], "trainer.accelerator=cpu", "epochs=2", "seed=0-1", "trainer=ddp,cpu",
                 "hydra.run.dir=sweep", "logger=mlflow", f"logger.uri=sqlite:///{database}")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert _without_warnings(done.stderr) == ""
    folders = [f"seed-{seed}_trainer-{trainer}" for seed in (0, 1) for trainer in ("ddp", "cpu")]
    assert sorted(path.name for path in (tmp_path / "sweep").iterdir() if path.is_dir()) == sorted(folders)
    for name in folders:
        run = tmp_path / "sweep" / name
        assert json.loads((run / "status.json").read_text())["status"] == "finished"
        with (run / "curves.csv").open(newline="") as file:
            assert [row["epoch"] for row in csv.DictReader(file)] == ["1", "2"]
        assert not list(run.rglob("*.tmp"))
    assert len((tmp_path / "sweep" / "jobs.csv").read_text().splitlines()) == 5
    with sqlite3.connect(database) as connection:
        tracked = connection.execute("SELECT run_uuid, name, status FROM runs").fetchall()
        tags = connection.execute("SELECT run_uuid, value FROM tags WHERE key = 'run_dir'").fetchall()
        strategies = connection.execute("SELECT value FROM params WHERE key = 'trainer.strategy'").fetchall()
    connection.close()
    assert {status for _, _, status in tracked} == {"FINISHED"}
    assert len(tracked) == 5  # the sweep's and one for each job
    assert sorted(Path(folder).name for _, folder in tags) == sorted(folders)
    assert sorted(strategies) == [("ddp",), ("ddp",), ("single",), ("single",)]


@pytest.mark.slow
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
def test_the_second_process_ends_with_the_first_and_the_run_goes_on_later(
    train: Command, start: Callable[..., "Popen[str]"], tmp_path: Path
) -> None:
    process = start(*TWO, "epochs=2000", "hydra.run.dir=run")
    checkpoint = tmp_path / "run" / "checkpoints" / "last.ckpt"
    wait_until(checkpoint.exists, 120)
    process.kill()
    process.communicate(timeout=60)  # its end is that of all who write to its output
    assert process.returncode == -signal.SIGKILL
    done = train(*TWO, "epochs=2000", "hydra.run.dir=run", "resume=true", "model.K=5")
    assert done.returncode == 2
    assert "started with model.K=4, not 5" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
def test_two_machines_of_one_process_find_what_one_of_two_finds(
    train: Command, start: Callable[..., "Popen[str]"], tmp_path: Path
) -> None:
    """Both are this machine; the second one's command is the one that starts a further process here, too."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
    where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    arguments = [*(one for one in TWO if not one.startswith("trainer.devices")), "trainer.devices=1"]
    run = tmp_path / "machines"
    first = start(*arguments, "trainer.num_nodes=2", "epochs=2", "hydra.run.dir=machines", NODE_RANK="0", **where)
    wait_until(lambda: (run / "config.yaml").exists() or first.poll() is not None, 120)
    variables = environment(tmp_path) | where | {"NODE_RANK": "1", "PYTHONPATH": str(SOURCE)}
    second = Popen([sys.executable, "-m", "semicrowd.run.rank", str(run)], env=variables, cwd=tmp_path,
                   text=True, stderr=PIPE)  # fmt: skip
    said = first.communicate(timeout=240)[1], second.communicate(timeout=60)[1]
    assert "".join(map(_without_warnings, said)) == ""
    assert (first.returncode, second.returncode) == (0, 0)
    done = train(*TWO, "epochs=2", "hydra.run.dir=processes")
    assert done.returncode == 0, done.stderr
    for name in ("assignments.csv", "workers.csv", "curves.csv"):
        assert (run / name).read_bytes() == (tmp_path / "processes" / name).read_bytes()


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "trainer.num_nodes=2: expected NODE_RANK, MASTER_ADDR, MASTER_PORT in the environment"),
        (
            {"NODE_RANK": "2", "MASTER_PORT": "29500"},
            "NODE_RANK=2: expected a whole number from 0 to 1 (trainer.num_nodes - 1)",
        ),
        ({"NODE_RANK": "1", "MASTER_PORT": "none"}, "MASTER_PORT=none: expected a whole number from 1 to 65535"),
    ],
)
def test_a_machine_that_does_not_know_who_it_is_does_not_wait(
    train: Command, tmp_path: Path, variables: dict[str, str], said: str
) -> None:
    address = {"MASTER_ADDR": "127.0.0.1"} if variables else {}
    done = train("trainer=ddp", "trainer.num_nodes=2", "trainer.accelerator=cpu", **variables, **address)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_chains_that_are_killed_go_on_to_the_same_bytes(
    train: Command, start: Callable[..., "Popen[str]"], tmp_path: Path
) -> None:
    chains = ("data=sequence", "data.which=walk", "annotations=none", "model=dih_s", "model.family=multinomial",
              "model.n_chains=2", "model.n_sweeps=600", "figures=false")  # fmt: skip
    process = start(*chains, "hydra.run.dir=killed")
    checkpoint = tmp_path / "killed" / "checkpoints" / "last.ckpt"
    wait_until(lambda: checkpoint.exists() or process.poll() is not None, 300)
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    for folder in ("killed", "whole"):
        done = train(*chains, f"hydra.run.dir={folder}", "resume=true")
        assert done.returncode == 0, done.stderr
    for name in ("assignments.csv", "partitions.npz"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    one, other = (pd.read_csv(tmp_path / folder / "chains.csv") for folder in ("killed", "whole"))
    assert one.drop(columns="seconds").equals(other.drop(columns="seconds"))
    assert len(one) == 1200


@pytest.mark.slow
def test_a_server_that_never_answers_is_given_up(train: Command, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:  # takes connections and says nothing
        begin = time.monotonic()
        done = train("epochs=0", "logger=mlflow", f"logger.uri=http://127.0.0.1:{server.getsockname()[1]}")
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert "the tracking store cannot be used" in done.stderr
    assert time.monotonic() - begin < 60  # 30 s, and what a busy machine needs to start
    assert not list(tmp_path.iterdir())
