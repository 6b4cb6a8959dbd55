"""``make record EXPERIMENT=…``: run an experiment and keep its numbers in the repository."""

import argparse
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from semicrowd.errors import UserError, without_traceback
from semicrowd.files import read_object, read_status
from semicrowd.nets.mlp import native_bfloat16
from semicrowd.pipeline.experiments import (
    RECORDED,
    Experiment,
    Job,
    format_ranges,
    load_plan,
    parse_ranges,
    profile_path,
)
from semicrowd.pipeline.fetch import why_missing
from semicrowd.report.build import find_papers
from semicrowd.report.collect import FOLDER, RecordedRun, read_run, write_recorded
from semicrowd.run.files.provenance import revision

#: Folder of the runs. Each commit has a folder in it, so that runs of other code are not mistaken for its own.
RUNS = Path("runs/recorded")


def run_again(given: list[str], directory: Path, *, quiet: bool = False) -> int:
    """Run ``src/train.py``, continuing a stopped run; returns the exit code. ``quiet``: scores are not printed."""
    how = ["resume=true", "figures=false", "logger=none", f"hydra.run.dir={directory}"]
    print("$ python src/train.py", *given, flush=True)
    command = [sys.executable, "src/train.py", *given, *how]
    return subprocess.run(command, stdout=subprocess.DEVNULL if quiet else None, check=False).returncode


def _model() -> str:
    """Maker, family and model of the processor; linear-algebra libraries choose their code, and so rounding, by it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    known = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in reversed(lines))}
    named = [f"{name} {known[name]}" for name in ("vendor_id", "cpu family", "model") if name in known]
    return ", ".join(named) or platform.processor()


def processor() -> str:
    """Processor, vector instructions, bfloat16 and GPU; equal bytes can only be expected where these are equal."""
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    reduced = "bfloat16" if native_bfloat16() else "no bfloat16"
    return f"{platform.machine()} ({_model()}), {torch.backends.cpu.get_cpu_capability()}, {reduced}, {device}"


def recorded_run(experiment: Experiment, job: Job, results: Path, commit: str) -> RecordedRun:
    """The record of a finished run, read from its directory."""
    # The run drew its answers itself; the answer files of the pipeline belong to other runs.
    run, directory = read_run(replace(experiment, answers=None), job, results), experiment.run_dir(job, results)
    known: dict[str, Any] = read_object(directory / "provenance.json")
    if known.get("git_dirty", True) or known["git_commit"] != commit:
        raise UserError(
            f"{directory}: not recorded, the code was changed before it began; remove the folder and run it again"
        )
    return RecordedRun(
        run=run, arguments=experiment.arguments(job), commit=str(known["git_commit"]), date=str(known["started"]),
        processor=processor(), versions=known["versions"], data_hashes=known["data_hashes"],
    )  # fmt: skip


def _commit() -> str:
    """The commit of the code."""
    now = revision()
    if now["dirty"] or not now["commit"]:
        raise UserError("the code differs from its commit, and what is recorded says which code it is of: commit first")
    return str(now["commit"])


@without_traceback
def main(given: list[str] | None = None) -> int:
    """``python -m semicrowd.report.record EXPERIMENT [--seeds 0-2]``; exit code 1 where a run failed."""
    parser = argparse.ArgumentParser(
        prog="make record",
        description=f"Run an experiment and keep its numbers in {FOLDER.parent}. Stopped runs are continued; "
        "finished runs of the same commit are not repeated.",
    )
    parser.add_argument("experiment", help=f"an experiment of {RECORDED}; or PAPER.DATA, if the paper has these")
    parser.add_argument("--seeds", type=parse_ranges, help="such as 0-2; default: those of the experiment")
    parser.add_argument("--profile", help=f"experiments of conf/profile/PROFILE.yaml (default: of {RECORDED})")
    options = parser.parse_args(given)
    key, _, part = options.experiment.partition(".")
    if part and (of_paper := {paper.key: paper.record for paper in find_papers()}.get(key)):
        if options.seeds or options.profile:
            raise UserError(f"{options.experiment}: takes no seeds and no profile; {RECORDED} has its number of trials")
        print(of_paper(part, RUNS / _commit()[:10] / key, processor()))
        return 0
    plan = load_plan(profile_path(options.profile) if options.profile else RECORDED)
    experiment = plan.experiment(options.experiment)
    for name in experiment.needs:
        if message := why_missing(name):
            raise UserError(f"{experiment.name}: {name} is not available here: {message}")
    commit = _commit()
    wanted = experiment.seeds if options.seeds is None else options.seeds
    results, found, failed = RUNS / commit[:10], [], 0
    jobs = [job for job in experiment.jobs if job.seed in wanted]
    jobs += [Job(seed) for seed in wanted if not experiment.sweep and seed not in experiment.seeds]
    if not jobs:
        raise UserError(f"{experiment.name}: no run of these seeds; it has {format_ranges(experiment.seeds)}")
    for job in jobs:
        directory = experiment.run_dir(job, results)
        if read_status(directory).get("status") != "finished":
            failed += run_again(experiment.arguments(job), directory) != 0
        # A failed run, for example one that diverged, is recorded as a result; a stopped run is not.
        if read_status(directory).get("status") in ("finished", "failed"):
            found.append(recorded_run(experiment, job, results, commit))
            path = write_recorded(experiment.name, found[-1:])
            print(f"{path}: {len(found)} of {len(jobs)} runs recorded, seeds {format_ranges([j.seed for j in jobs])}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
