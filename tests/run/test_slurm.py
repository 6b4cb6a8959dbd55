"""Sweeps on a SLURM cluster: what is asked of it, and jobs under a stand-in for it (slurm_stub.py)."""

import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from semicrowd.errors import UserError
from semicrowd.run.composition import composed
from semicrowd.run.slurm import requested, slurm_launch
from semicrowd.settings.training import SlurmSettings

from .conftest import Command, rows_of, wait_until

pytest.importorskip("submitit", reason="needs pip install 'semicrowd[slurm]'")
STUB = Path(__file__).parent / "slurm_stub.py"
RUN = ("annotations=two_coin", "model.K=4", "start=cold", "trainer.accelerator=cpu")


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of a cluster; the folder with the scripts that sbatch has been given."""
    programs, store = tmp_path / "cluster" / "bin", tmp_path / "cluster" / "store"
    programs.mkdir(parents=True)
    store.mkdir()
    for name in ("sbatch", "srun", "sacct", "scancel"):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STUB}" {name} "$@"\n')
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.setenv("SLURM_STUB", str(store))
    return store


def flags(script: Path) -> dict[str, str]:
    """Options of sbatch that a script begins with."""
    return dict(re.findall(r"^#SBATCH --([\w-]+)=(.+)$", script.read_text(), re.MULTILINE))


@pytest.mark.parametrize(
    ("arguments", "settings", "asked"),
    [
        ("seed=0", {}, {"nodes": 1, "tasks_per_node": 1, "cpus_per_task": 1, "mem_gb": 8, "timeout_min": 240}),
        ("trainer=cpu trainer.threads=4", {}, {"tasks_per_node": 1, "cpus_per_task": 4}),
        ("trainer=cpu trainer.threads=4", {"cpus": 6, "gpus": 1}, {"cpus_per_task": 6, "gpus_per_node": 1}),
        ("trainer=gpu", {}, {"tasks_per_node": 1, "gpus_per_node": 1}),
        ("trainer=ddp", {}, {"tasks_per_node": 2}),
        ("trainer=ddp trainer.devices=8 trainer.accelerator=gpu", {}, {"tasks_per_node": 8, "gpus_per_node": 8}),
        ("seed=0", {"partition": "long", "account": "us", "options": ("qos=high", "comment=a=b")},
         {"slurm_partition": "long", "slurm_account": "us",
          "slurm_additional_parameters": {"qos": "high", "comment": "a=b"}}),
    ],
)  # fmt: skip
def test_what_a_job_asks_for_follows_from_its_own_settings(
    arguments: str, settings: dict[str, Any], asked: dict[str, Any]
) -> None:
    found = requested(SlurmSettings(**settings), composed(arguments.split()))
    assert found.items() >= asked.items()
    assert ("gpus_per_node" in found) == ("gpus_per_node" in asked)


def test_the_script_says_what_the_sweep_asks_for_and_a_refusal_is_one_line(
    train: Command, tmp_path: Path, cluster: Path
) -> None:
    done = train("-m", "seed=0-2", "trainer=ddp", "trainer.devices=4", "trainer.accelerator=gpu",
                 "hydra/launcher=slurm", "hydra.launcher.partition=nowhere", "hydra.launcher.time=90",
                 "hydra.launcher.memory=16", "hydra.launcher.at_once=2", "hydra.launcher.setup=[module load cuda]",
                 'hydra.launcher.options=["qos=high"]', "hydra.run.dir=sweep")  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: hydra/launcher=slurm: sbatch refused the jobs: ")
    assert "invalid partition specified: nowhere" in done.stderr
    assert "Traceback" not in done.stderr
    (script,) = cluster.glob("*.sh")
    expected = {"nodes": "1", "ntasks-per-node": "4", "cpus-per-task": "1", "gpus-per-node": "4", "mem": "16GB",
                "time": "90", "partition": "nowhere", "array": "0-2%2", "qos": "high"}  # fmt: skip
    assert flags(script).items() >= expected.items()
    lines = script.read_text().splitlines()
    assert "module load cuda" in lines
    (command,) = [line for line in lines if line.startswith("srun ")]
    assert "--kill-on-bad-exit=1" in command
    assert f"{sys.executable} -u -m submitit.core._submit" in command
    assert [row["status"] for row in rows_of(tmp_path / "sweep" / "jobs.csv")] == ["not run"] * 3


@pytest.mark.slow
def test_jobs_of_one_and_of_two_processes_give_what_they_give_here(
    train: Command, tmp_path: Path, cluster: Path
) -> None:
    done = train("-m", *RUN, "epochs=1", "seed=0-1", "trainer=cpu,ddp", "hydra/launcher=slurm", "hydra.run.dir=sweep",
                 "logger=mlflow", f"logger.uri=sqlite:///{tmp_path / 'tracking.db'}")  # fmt: skip
    output = "\n".join(path.read_text() for path in (tmp_path / "sweep" / "slurm").glob("*.err"))
    assert done.returncode == 0, done.stderr + done.stdout + output
    # What asks for the same is an array: the two jobs of one process, and those of two.
    asked = sorted((flags(script)["ntasks-per-node"], flags(script)["array"]) for script in cluster.glob("*.sh"))
    assert asked == [("1", "0-1%2"), ("2", "0-1%2")]
    assert [row["status"] for row in rows_of(tmp_path / "sweep" / "jobs.csv")] == ["finished"] * 4
    here = train("-m", *RUN, "epochs=1", "seed=1", "trainer=cpu,ddp", "hydra.run.dir=here")
    assert here.returncode == 0, here.stderr
    for trainer in ("cpu", "ddp"):
        job = tmp_path / "sweep" / f"seed-1_trainer-{trainer}" / "assignments.csv"
        assert job.read_bytes() == (tmp_path / "here" / f"trainer-{trainer}" / "assignments.csv").read_bytes()
    from semicrowd.tracking.store import open_store

    store = open_store(f"sqlite:///{tmp_path / 'tracking.db'}", "semicrowd")
    runs = store.client.search_runs([store.experiment_id])
    parents = [run.data.tags.get("mlflow.parentRunId") for run in runs]
    assert len(runs) == 5
    assert {run.info.status for run in runs} == {"FINISHED"}
    (sweep,) = [run.info.run_id for run in runs if run.data.tags.get("mlflow.parentRunId") is None]
    assert parents.count(sweep) == 4


@pytest.mark.slow
def test_ctrl_c_cancels_the_jobs_on_the_cluster(
    start: Callable[..., "Popen[str]"], tmp_path: Path, cluster: Path
) -> None:
    process = start("-m", *RUN, "epochs=100000", "seed=0-1", "hydra/launcher=slurm", "hydra.run.dir=sweep")
    wait_until((tmp_path / "sweep" / "seed-0" / "curves.csv").exists, 120)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "the jobs on the cluster are cancelled" in said
    assert "Traceback" not in said
    assert [row["status"] for row in rows_of(tmp_path / "sweep" / "jobs.csv")] == ["interrupted", "not run"]
    assert {path.read_text() for path in cluster.glob("*.state")} == {"CANCELLED"}
    assert not (tmp_path / "sweep" / ".jobs").exists()


def test_where_it_cannot_be_used_one_line_says_why(
    train: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = train("-m", "seed=0-1", "hydra/launcher=slurm", PATH=str(tmp_path))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "hydra/launcher=slurm: no sbatch, srun, sacct here; expected a machine of a SLURM cluster" in done.stderr
    done = train("seed=0", "hydra/launcher=slurm")
    assert done.stderr == "error: hydra/launcher=slurm: only for sweeps; expected -m, even for a single job\n"
    done = train("-m", "seed=0-1", "hydra/launcher=slurm", "hydra.launcher.time=soon")
    assert done.stderr == "error: hydra.launcher.time=soon: expected a whole number >= 1\n"
    done = train("-m", "seed=0-1", "hydra/launcher=slurm", "hydra.launcher.tiem=3")
    assert (done.returncode, "hydra.launcher.tiem" in done.stderr) == (2, True)
    assert not list(tmp_path.iterdir())
    monkeypatch.setitem(sys.modules, "submitit", None)  # as where it is not installed
    with pytest.raises(UserError, match=re.escape("needs submitit: pip install 'semicrowd[slurm]'")):
        slurm_launch({}, tmp_path)


@pytest.mark.parametrize("wrong", [{"options": ("qos",)}, {"options": ("--qos=high",)}, {"memory": 0}, {"gpus": -1}])
def test_settings_that_do_not_fit_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=rf"hydra\.launcher\.{next(iter(wrong))}="):
        SlurmSettings(**wrong)
