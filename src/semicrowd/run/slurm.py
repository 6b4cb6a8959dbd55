"""``hydra/launcher=slurm``: submitit submits every job of a sweep to SLURM, and this process waits for all of them.

Jobs that request the same resources are one job array. submitit writes the scripts, their input and their output into
the folder ``slurm`` within the sweep's folder, which must be accessible from all machines.
"""

import contextlib
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import semicrowd
from semicrowd.errors import UserError
from semicrowd.run.composition import Given
from semicrowd.run.job import JobCall, Launch
from semicrowd.settings.training import SlurmSettings

if TYPE_CHECKING:
    from submitit import Job

#: Maximum seconds to wait until cancelled jobs have put their files in order; SLURM kills them after 30 s.
_LAST_SECONDS = 45


def slurm_launch(values: Mapping[str, Any], sweep_dir: Path) -> Launch:
    """A function that runs jobs on the SLURM cluster of this machine.

    Parameters
    ----------
    values : of :class:`SlurmSettings`
    sweep_dir : folder of the sweep
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
                jobs.append(job)  # one by one: if a later job is refused, the earlier ones are cancelled
            print(f"{len(jobs)} jobs submitted, their output in {sweep_dir / 'slurm'}", flush=True)
            for job in jobs:
                job.wait()
        except BaseException:
            _cancel(jobs)
            raise
        for job in jobs:
            job.results()  # raises the job's error, if it has failed

    return launch


def requested(settings: SlurmSettings, given: Given) -> dict[str, Any]:
    """The resources that a job requests, as arguments of submitit's ``update_parameters``."""
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
        "gpus_per_node": gpus or None,  # a cluster without GPUs refuses even a request for 0 GPUs
        "slurm_partition": settings.partition,
        "slurm_account": settings.account,
        "slurm_array_parallelism": settings.at_once,
        "slurm_setup": [*settings.setup, _find_semicrowd()],
        # Without this, the other processes of a run would wait for one that has died.
        "slurm_srun_args": ["--kill-on-bad-exit=1"],
        "slurm_additional_parameters": dict(option.split("=", 1) for option in settings.options),
    }
    return {name: value for name, value in asked.items() if value is not None}


def _find_semicrowd() -> str:
    source = shlex.quote(str(Path(semicrowd.__file__).parents[1]))
    return f"export PYTHONPATH={source}${{PYTHONPATH:+:$PYTHONPATH}}"


def _on_cluster(call: JobCall) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    call()


def _submit(settings: SlurmSettings, folder: Path, calls: Sequence[JobCall]) -> "Iterator[Job[None]]":
    """Submit the calls, as one job array for all calls that request the same resources."""
    from submitit import AutoExecutor
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    def wants(call: JobCall) -> str:
        return str(requested(settings, call.given))

    for _, alike in groupby(sorted(calls, key=wants), wants):
        group = list(alike)
        executor = AutoExecutor(folder=folder, cluster="slurm")
        executor.update_parameters(**requested(settings, group[0].given))
        try:
            yield from executor.map_array(_on_cluster, group)
        except (FailedSubmissionError, FailedJobError, subprocess.CalledProcessError, OSError) as error:
            said = " ".join(str(error).split())  # it ends with sbatch's own message
            raise UserError(f"hydra/launcher=slurm: sbatch refused the jobs: {said}") from error


def _cancel(jobs: "Sequence[Job[None]]") -> None:
    """Cancel the jobs that still wait or run, and give them time to put their files in order."""
    going = [job for job in jobs if not job.done()]
    for job in going:
        with contextlib.suppress(subprocess.CalledProcessError, OSError):
            job.cancel(check=False)
    if going:
        print("the jobs on the cluster are cancelled", file=sys.stderr, flush=True)
    deadline = time.monotonic() + _LAST_SECONDS
    while time.monotonic() < deadline and not all(job.done(force_check=True) for job in going):
        time.sleep(1)
