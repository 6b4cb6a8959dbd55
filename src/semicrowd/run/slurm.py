"""``hydra/launcher=slurm``: every job of a sweep is a job of SLURM, by submitit, and this process waits for all.

Jobs that want the same of the cluster are one array. submitit writes the scripts, their output and what it hands to
them into the folder ``slurm`` of the sweep's, which has to be one that all machines see.
"""

import contextlib
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import semicrowd
from semicrowd.errors import UserError
from semicrowd.run.composition import Given
from semicrowd.run.job import JobCall, Launch
from semicrowd.settings.cluster import SlurmSettings

if TYPE_CHECKING:
    from submitit import Job

#: How long jobs that are cancelled may take to put their files in order; SLURM kills them after 30 s.
_LAST_SECONDS = 45


def slurm_launch(values: Mapping[str, Any], sweep_dir: Path) -> Launch:
    """Runs jobs on the cluster that this machine can submit to.

    Parameters
    ----------
    values : of :class:`SlurmSettings`
    sweep_dir : folder of the sweep

    Raises
    ------
    UserError
        Where a setting does not fit, submitit is not installed or there is no SLURM here.
    """
    settings = SlurmSettings.of(values)
    if find_spec("submitit") is None:
        raise UserError("hydra/launcher=slurm: needs submitit: pip install 'semicrowd[slurm]'")
    missing = [name for name in ("sbatch", "srun", "sacct") if shutil.which(name) is None]
    if missing:
        raise UserError(f"hydra/launcher=slurm: no {', '.join(missing)} here; expected a machine of a SLURM cluster")

    def launch(calls: Sequence[JobCall]) -> None:
        jobs: list[Job[None]] = []
        try:
            for job in _submit(settings, (sweep_dir / "slurm").absolute(), calls):
                jobs.append(job)  # one by one: what has been submitted is cancelled when the rest is refused
            print(f"{len(jobs)} jobs submitted, their output in {sweep_dir / 'slurm'}", flush=True)
            for job in jobs:
                job.wait()
        except BaseException:
            _cancel(jobs)
            raise
        for job in jobs:
            job.results()  # raises what the job has died of

    return launch


def requested(settings: SlurmSettings, given: Given) -> dict[str, Any]:
    """What a job asks the cluster for, as submitit's ``update_parameters`` has it."""
    trainer = {name: given.values.get(f"trainer.{name}") for name in ("devices", "num_nodes", "threads", "accelerator")}
    processes = trainer["devices"] or 1
    gpus = settings.gpus
    if gpus is None:
        gpus = processes if trainer["accelerator"] == "gpu" else 0
    asked = {
        "name": "semicrowd",
        "timeout_min": settings.time,
        "mem_gb": settings.memory,
        "nodes": trainer["num_nodes"] or 1,
        "tasks_per_node": processes,
        "cpus_per_task": settings.cpus or trainer["threads"] or 1,
        "gpus_per_node": gpus or None,  # clusters without any refuse a job that asks for none of them
        "slurm_partition": settings.partition,
        "slurm_account": settings.account,
        "slurm_array_parallelism": settings.at_once,
        "slurm_setup": [*settings.setup, _find_semicrowd()],
        # Where one process of a run has died, the others would wait for it.
        "slurm_srun_args": ["--kill-on-bad-exit=1"],
        "slurm_additional_parameters": dict(option.split("=", 1) for option in settings.options),
    }
    return {name: value for name, value in asked.items() if value is not None}


def _find_semicrowd() -> str:
    """A line of shell: the package is there for the job as it is for this process."""
    source = shlex.quote(str(Path(semicrowd.__file__).parents[1]))
    return f"export PYTHONPATH={source}${{PYTHONPATH:+:$PYTHONPATH}}"


@dataclass(frozen=True)
class _OnCluster:
    """A job's call in a process that SLURM has started: scancel is what Ctrl-C is elsewhere."""

    call: JobCall

    def __call__(self) -> None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        self.call()


def _submit(settings: SlurmSettings, folder: Path, calls: Sequence[JobCall]) -> "Iterator[Job[None]]":
    """Submit the calls, one array for all that ask for the same."""
    from submitit import AutoExecutor
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    def wants(call: JobCall) -> str:
        return str(requested(settings, call.given))

    for _, alike in groupby(sorted(calls, key=wants), wants):
        group = list(alike)
        executor = AutoExecutor(folder=folder, cluster="slurm")
        executor.update_parameters(**requested(settings, group[0].given))
        try:
            yield from executor.submit_array([_OnCluster(call) for call in group])
        except (FailedSubmissionError, FailedJobError, subprocess.CalledProcessError, OSError) as error:
            raise UserError(f"hydra/launcher=slurm: sbatch refused the jobs: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    """sbatch's own words, which stand at the end of what submitit quotes."""
    return " ".join(str(error).split())


def _cancel(jobs: "Sequence[Job[None]]") -> None:
    """Cancel what still waits or runs, and give it time to put its files in order."""
    going = [job for job in jobs if not job.done()]
    for job in going:
        with contextlib.suppress(subprocess.CalledProcessError, OSError):
            job.cancel(check=False)
    if going:
        print("the jobs on the cluster are cancelled", file=sys.stderr, flush=True)
    deadline = time.monotonic() + _LAST_SECONDS
    while time.monotonic() < deadline and not all(job.done(force_check=True) for job in going):
        time.sleep(1)
