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
from semicrowd.files import read_status
from semicrowd.nets.mlp import native_bfloat16
from semicrowd.pipeline.experiments import (
    Experiment,
    Job,
    arguments,
    format_ranges,
    is_setting,
    load_plan,
    parse_ranges,
)
from semicrowd.pipeline.fetch import why_missing
from semicrowd.pipeline.profile import RECORDED, profile_path
from semicrowd.report.collect import read_json, read_run
from semicrowd.report.runs import FOLDER, RecordedRun, write_recorded
from semicrowd.run.files.provenance import revision

#: Where the runs write, a folder for each commit: what another commit's code has finished is not taken for today's.
RUNS = Path("runs/recorded")


def arguments_of(experiment: Experiment, job: Job) -> list[str]:
    """What anybody gives ``src/train.py`` to have this run again, but for its folder."""
    answers = {name: value for name, value in job.point.items() if not is_setting(name)}
    settings = {name: value for name, value in job.point.items() if is_setting(name)}
    drawn = experiment.answers.overrides(answers) if experiment.answers else []
    return [*experiment.overrides, *drawn, *arguments(settings), f"seed={job.seed}"]


def run_again(given: list[str], directory: Path) -> int:
    """Run ``src/train.py``, on from where it was stopped; its exit code."""
    how = ["resume=true", "figures=false", "logger=none", f"hydra.run.dir={directory}"]
    print("$ python src/train.py", *given, flush=True)
    return subprocess.run([sys.executable, "src/train.py", *given, *how], check=False).returncode


def _model() -> str:
    """Maker, family and model of the processor: libraries of linear algebra choose their code by it, and so round."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    known = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in reversed(lines))}
    named = [f"{name} {known[name]}" for name in ("vendor_id", "cpu family", "model") if name in known]
    return ", ".join(named) or platform.processor()


def processor() -> str:
    """What the same bytes can be expected of: kind and model of processor, vector instructions, bfloat16."""
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    reduced = "bfloat16" if native_bfloat16() else "no bfloat16"
    return f"{platform.machine()} ({_model()}), {torch.backends.cpu.get_cpu_capability()}, {reduced}, {device}"


def recorded_run(experiment: Experiment, job: Job, results: Path, commit: str) -> RecordedRun:
    """What a finished run has left in its directory.

    Raises
    ------
    UserError
        For a run of other code than this commit's: it was changed in the middle.
    """
    # It has drawn its answers itself: those of the pipeline are others'.
    run, directory = read_run(replace(experiment, answers=None), job, results), experiment.run_dir(job, results)
    known: dict[str, Any] = read_json(directory / "provenance.json")
    if known["git_dirty"] or known["git_commit"] != commit:
        raise UserError(
            f"{directory}: not recorded, the code was changed before it began; remove the folder and run it again"
        )
    return RecordedRun(
        run=run, arguments=arguments_of(experiment, job), commit=str(known["git_commit"]), date=str(known["started"]),
        processor=processor(), versions=known["versions"], data_hashes=known["data_hashes"],
    )  # fmt: skip


@without_traceback
def main(given: list[str] | None = None) -> int:
    """``python -m semicrowd.report.record EXPERIMENT [--seeds 0-2]``; exit code 1 where a run failed."""
    parser = argparse.ArgumentParser(
        prog="make record",
        description=f"Run an experiment and keep its numbers in {FOLDER}. A run that was stopped goes on; "
        "finished ones of the same commit are not run again.",
    )
    parser.add_argument("experiment")
    parser.add_argument("--seeds", type=parse_ranges, help="such as 0-2; default: those of the experiment")
    parser.add_argument("--profile", help=f"experiments of conf/profile/PROFILE.yaml (default: of {RECORDED})")
    options = parser.parse_args(given)
    plan = load_plan(profile_path(options.profile) if options.profile else RECORDED)
    experiment = plan.experiment(options.experiment)
    for name in experiment.needs:
        if message := why_missing(name):
            raise UserError(f"{experiment.name}: {name} is not available here: {message}")
    now = revision()
    if now["dirty"] or not now["commit"]:
        raise UserError("the code differs from its commit, and what is recorded says which code it is of: commit first")
    wanted = experiment.seeds if options.seeds is None else options.seeds
    results, found, failed = RUNS / now["commit"][:10], [], 0
    jobs = [job for job in experiment.jobs if job.seed in wanted]
    jobs += [Job(seed) for seed in wanted if not experiment.sweep and seed not in experiment.seeds]
    if not jobs:
        raise UserError(f"{experiment.name}: no run of these seeds; it has {format_ranges(experiment.seeds)}")
    for job in jobs:
        directory = experiment.run_dir(job, results)
        if read_status(directory).get("status") != "finished":
            failed += run_again(arguments_of(experiment, job), directory) != 0
        # A run that failed, because it diverged for instance, is a result too; one that was stopped is none.
        if read_status(directory).get("status") in ("finished", "failed"):
            found.append(recorded_run(experiment, job, results, str(now["commit"])))
            path = write_recorded(experiment.name, found[-1:])
            print(f"{path}: {len(found)} of {len(jobs)} runs recorded, seeds {format_ranges([j.seed for j in jobs])}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
