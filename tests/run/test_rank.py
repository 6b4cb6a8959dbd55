"""Several processes of one run: who this is, what a job leaves to the next, and torchrun."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from semicrowd.errors import UserError
from semicrowd.run.composition import composed
from semicrowd.run.processes import Place, check_processes, place
from semicrowd.run.rank import as_others

from .conftest import SOURCE, Command, environment

TORCHRUN = {"TORCHELASTIC_RUN_ID": "none", "RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1"}
SRUN = {"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0", "SLURM_NTASKS": "2"}
RANKS = ("LOCAL_RANK", "NODE_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def test_a_process_knows_its_place_by_who_has_started_it() -> None:
    assert place(TORCHRUN) == Place(3, 4, "torchrun")
    assert place(SRUN) == Place(0, 2, "srun")
    assert place({}) is None
    assert place(TORCHRUN | {"RANK": "0", "WORLD_SIZE": "1"}) is None  # alone
    # The script of sbatch, which is one process however many tasks its steps may have.
    assert place({"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}) is None
    # Left behind by a run that has started its others itself.
    assert place({"LOCAL_RANK": "1", "WORLD_SIZE": "2", "MASTER_PORT": "1"}) is None


@pytest.mark.parametrize(
    ("arguments", "variables", "said"),
    [
        ("seed=0", SRUN, "srun has started 2 processes, each of which would do the whole run; expected trainer=ddp"),
        ("model=kmeans", SRUN, "expected trainer=ddp"),
        ("trainer=ddp trainer.devices=3", SRUN, "trainer.devices=3: srun has started 2 processes; expected as many"),
        ("trainer=ddp", TORCHRUN, "trainer.devices=2: torchrun has started 4 processes"),
    ],
)
def test_as_many_processes_as_the_run_wants(
    monkeypatch: pytest.MonkeyPatch, arguments: str, variables: dict[str, str], said: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UserError) as error:
        check_processes(composed(arguments.split()))
    assert said in str(error.value)
    check_processes(composed(["trainer=ddp", f"trainer.devices={place().size}"]))  # type: ignore[union-attr]


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("before", [{}, {"LOCAL_RANK": "1", "MASTER_PORT": "12345"}], ids=["clean", "left behind"])
def test_a_job_leaves_the_environment_and_the_command_as_they_were(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, before: dict[str, str], fails: bool
) -> None:
    for name in RANKS:
        monkeypatch.delenv(name, raising=False)
    for name, value in before.items():
        monkeypatch.setenv(name, value)
    kept, argv, spec = dict(os.environ), sys.argv, sys.modules["__main__"].__spec__
    try:
        with as_others(tmp_path):
            # With ranks in the environment Lightning would take this process for one that another has started.
            assert not set(RANKS) & set(os.environ)
            # What Lightning repeats to start the others: neither the run nor the sweep.
            assert sys.argv[1:] == [str(tmp_path)]
            assert sys.modules["__main__"].__spec__.name == "semicrowd.run.rank"  # type: ignore[union-attr]
            os.environ.update(dict.fromkeys(RANKS, "7"))  # as Lightning does
            if fails:
                raise ValueError
    except ValueError:
        assert fails
    assert dict(os.environ) == kept
    assert (sys.argv, sys.modules["__main__"].__spec__) == (argv, spec)


def test_what_a_user_tells_one_of_several_machines_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine = {"NODE_RANK": "1", "MASTER_ADDR": "first", "MASTER_PORT": "29500"}
    for name, value in (machine | {"LOCAL_RANK": "1", "WORLD_SIZE": "2"}).items():
        monkeypatch.setenv(name, value)
    with as_others(tmp_path, machines=2):
        assert {name: os.environ[name] for name in RANKS if name in os.environ} == machine
    assert os.environ["LOCAL_RANK"] == "1"


def test_of_processes_that_torchrun_has_started_none_starts_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in TORCHRUN.items():
        monkeypatch.setenv(name, value)
    argv = sys.argv
    with as_others(tmp_path):
        assert sys.argv is argv
        assert os.environ["LOCAL_RANK"] == "1"
    assert os.environ["WORLD_SIZE"] == "4"


@pytest.mark.slow
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
def test_torchrun_gives_what_the_run_does_that_starts_its_processes_itself(train: Command, tmp_path: Path) -> None:
    arguments = ("annotations=two_coin", "model.K=4", "start=cold", "trainer=ddp", "trainer.accelerator=cpu",
                 "epochs=1", "logger=none", "figures=false")  # fmt: skip
    own = train(*arguments, "hydra.run.dir=own")
    assert own.returncode == 0, own.stderr
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
         str(SOURCE / "train.py"), *arguments, "hydra.run.dir=torchrun"],
        cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("files: ") == 1
    for name in ("assignments.csv", "workers.csv"):
        assert (tmp_path / "torchrun" / name).read_bytes() == (tmp_path / "own" / name).read_bytes()
