"""Runs an experiment by ``src/train.py``, or notes that its data are not available."""

import argparse
import contextlib
import io
import sys
from pathlib import Path

from semicrowd.data.encoded import FOLDER
from semicrowd.errors import UserError, without_traceback
from semicrowd.files import read_status, write_json
from semicrowd.pipeline.experiments import (
    ANNOTATIONS,
    CONFIGURATIONS,
    DATA,
    RESULTS,
    Experiment,
    Job,
    is_setting,
    load_plan,
)
from semicrowd.pipeline.fetch import why_missing
from semicrowd.pipeline.inputs import INPUTS, digest, forget_others

#: Exit code of a run that was interrupted.
_INTERRUPTED = 130


def arguments_of(experiment: Experiment, job: Job) -> list[str]:
    """Arguments of ``src/train.py`` for one run: overrides, seed, answers as a file, run directory."""
    answers = experiment.annotation_dir(job) / "answers.csv"
    files = ["annotations=file", f"annotations.path={answers}"] if experiment.answers else []
    how = ["resume=true", f"hydra.run.dir={experiment.run_dir(job)}"]
    return [*experiment.overrides, f"seed={job.seed}", *files, *how]


def sweep_arguments(experiment: Experiment) -> list[str]:
    """Arguments of ``src/train.py`` for all runs of a sweep at once.

    The path of a run's answers contains its seed and its point; options of the answers are therefore added as settings
    of their own. The run's folder is :attr:`Job.folder`. Finished runs are not run again.
    """
    values = {**(experiment.sweep or {}), "seed": experiment.seeds}
    answers = ANNOTATIONS / experiment.answers_name / "_".join(f"{name}-${{{name}}}" for name in values) / "answers.csv"
    files = ["annotations=file", f"annotations.path={answers}"] if experiment.answers else []
    # choice() makes even a single value a sweep, so that it is part of the folder's name.
    swept = [
        f"{'' if name == 'seed' or is_setting(name) else '+'}{name}=choice({','.join(map(str, of))})"
        for name, of in values.items()
    ]
    how = ["resume=true", "figures=false", f"hydra.sweep.dir={RESULTS / experiment.name}"]
    return ["-m", *experiment.overrides, *files, *swept, *how]


def run(experiment: Experiment, seed: int | None = None) -> int:
    """Run one seed, or the whole sweep; returns the exit code of the runs, or 0 if their data are missing.

    If settings, code and answers are the same as before, finished runs are kept, and a stopped run is continued.
    Missing data are no failure: status.json of each run then says ``unavailable`` and how to get them. A run that fails
    writes its status, too.
    """
    jobs = experiment.jobs if seed is None else [Job(seed)]
    for name in experiment.needs:
        if message := why_missing(name):
            note_all(experiment, jobs, "unavailable", message)
            print(f"{experiment.name}: {name} is not available here: {message}")
            return 0
    same = _are_of_these_inputs(experiment, jobs, seed)
    if same and all(read_status(experiment.run_dir(job)).get("status") == "finished" for job in jobs):
        print(f"{experiment.name}: nothing has changed")
        return 0
    arguments = sweep_arguments(experiment) if seed is None else arguments_of(experiment, jobs[0])
    code, last = _train(arguments)
    if code:
        note_lost(experiment, jobs, last.removeprefix("error: "))
    return code


def _are_of_these_inputs(experiment: Experiment, jobs: list[Job], seed: int | None) -> bool:
    folder = RESULTS / experiment.name
    place = folder if seed is None else experiment.run_dir(jobs[0])
    note = folder / (INPUTS if seed is None else f"{jobs[0].folder}.sha256")
    return forget_others(place, note, inputs_of(experiment, jobs))


def note_lost(experiment: Experiment, jobs: list[Job], error: str) -> None:
    """Write the status of runs that ended without writing one; failed and interrupted runs have written their own."""
    ended = ("failed", "interrupted", "finished")
    lost = [job for job in jobs if read_status(experiment.run_dir(job)).get("status") not in ended]
    note_all(experiment, lost, "failed", error)


def note_all(experiment: Experiment, jobs: list[Job], status: str, error: str) -> None:
    """Write the same status for all of these runs."""
    for job in jobs:
        write_json(experiment.run_dir(job) / "status.json", {"status": status, "error": error, "seconds": 0.0})


class _KeepsLastLine(io.TextIOBase):
    """Passes text on to standard error, and keeps the last line."""

    def __init__(self) -> None:
        self.last = ""

    def write(self, text: str) -> int:
        self.last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), self.last)
        return sys.__stderr__.write(text) if sys.__stderr__ else len(text)


def _train(arguments: list[str]) -> tuple[int, str]:
    """Run ``src/train.py`` in this process; returns the exit code and the last line that it wrote to standard error."""
    from semicrowd.run.main import main

    print("$ python src/train.py", *arguments, flush=True)
    stderr = _KeepsLastLine()
    with contextlib.redirect_stderr(stderr):
        try:
            code = main(arguments)
        except SystemExit as error:  # a sweep in which some jobs have failed
            code = error.code if isinstance(error.code, int) else 1
    return code, stderr.last


def inputs_of(experiment: Experiment, jobs: list[Job]) -> str:
    """Digest of the experiment's settings and code, its answers, an autoencoder's codes, and a user's file or folder.

    Fetched data never change: their sha256 are checked.
    """
    answers = [experiment.annotation_dir(job) / "answers.csv" for job in jobs] if experiment.answers else []
    own = [Path(path)] if (path := experiment.settings.get("data.path")) else []
    codes = [file for which in experiment.encoded for file in sorted((DATA / FOLDER / which).glob("codes-*.npz"))]
    return digest(CONFIGURATIONS / experiment.name / "run.yaml", *answers, *own, *codes)


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.experiment <name> [<name> …] [--seed <seed>]``."""
    parser = argparse.ArgumentParser(
        description="run experiments of params.yaml one after the other: one seed, or a whole sweep"
    )
    parser.add_argument("names", nargs="+", metavar="name")
    parser.add_argument("--seed", type=int, help="seed to run, for an experiment without a sweep")
    parser.add_argument("--died", metavar="WHY", help="run nothing; write to the status of its runs why they died")
    options = parser.parse_args(arguments)
    plan = load_plan()
    experiments = [plan.experiment(name) for name in options.names]
    for experiment in experiments:
        if (options.seed is None) != (experiment.sweep is not None):
            raise UserError(f"{experiment.name}: expected --seed for one run, and none for a sweep")
    if options.died:
        for experiment in experiments:
            jobs = experiment.jobs if options.seed is None else [Job(options.seed)]
            with contextlib.suppress(UserError):  # its inputs are not there: nothing of it is, either
                _are_of_these_inputs(experiment, jobs, options.seed)
            note_lost(experiment, jobs, options.died)
        return 0
    failed, worst = list[str](), 0
    for experiment in experiments:
        try:
            code = run(experiment, options.seed)
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            code = 2
        worst = max(worst, code)
        if code == _INTERRUPTED:
            return code
        failed += [experiment.name] if code else []
    if failed and len(experiments) > 1:
        print(f"error: {' and '.join(failed)} failed, see above", file=sys.stderr)
    return worst


if __name__ == "__main__":
    sys.exit(main())
