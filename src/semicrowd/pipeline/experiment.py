"""Stages of the experiments: runs of ``src/train.py``, or a note that their data cannot be had."""

import argparse
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from semicrowd.errors import UserError, without_traceback
from semicrowd.files import read_status, write_json, write_text
from semicrowd.pipeline.experiments import (
    ANNOTATIONS,
    CONFIGURATIONS,
    PARAMS,
    RESULTS,
    Experiment,
    Job,
    is_setting,
    load_plan,
)
from semicrowd.pipeline.fetch import why_missing

#: File of a sweep: of what its runs are made.
INPUTS = "inputs.sha256"


def arguments_of(experiment: Experiment, job: Job) -> list[str]:
    """What one run's ``src/train.py`` gets: overrides, seed, answers as a file, run directory."""
    answers = experiment.annotation_dir(job) / "answers.csv"
    files = ["annotations=file", f"annotations.path={answers}"] if experiment.answers else []
    return [*experiment.overrides, f"seed={job.seed}", *files, f"hydra.run.dir={experiment.run_dir(job)}"]


def sweep_arguments(experiment: Experiment) -> list[str]:
    """What ``src/train.py`` gets for all runs of a sweep at once.

    A run finds its answers by its seed and by its point, whose options of the answers are settings of their own here;
    its folder is :attr:`Job.folder`. What has finished before is not run again.
    """
    values = {**(experiment.sweep or {}), "seed": experiment.seeds}
    answers = ANNOTATIONS / experiment.answers_name / "_".join(f"{name}-${{{name}}}" for name in values) / "answers.csv"
    files = ["annotations=file", f"annotations.path={answers}"] if experiment.answers else []
    # choice(): a single value is a sweep too, so that it names the folder.
    swept = [
        f"{'' if name == 'seed' or is_setting(name) else '+'}{name}=choice({','.join(map(str, of))})"
        for name, of in values.items()
    ]
    how = ["resume=true", "figures=false", f"hydra.sweep.dir={RESULTS / experiment.name}"]
    return ["-m", *experiment.overrides, *files, *swept, *how]


def run(experiment: Experiment, seed: int | None = None) -> int:
    """Run one seed, or the whole sweep; the exit code is that of the runs, 0 where their data cannot be had.

    Missing data are no failure: the run directories then say ``unavailable`` and how to get them. A run that fails
    leaves its status too, and its exit code stops what depends on it.
    """
    jobs = experiment.jobs if seed is None else [Job(seed)]
    for name in experiment.needs:
        if message := why_missing(name):
            _note(experiment, jobs, "unavailable", message)
            print(f"{experiment.name}: {name} is not available here: {message}")
            return 0
    if seed is None:
        _forget_other_inputs(experiment)
    arguments = sweep_arguments(experiment) if seed is None else arguments_of(experiment, jobs[0])
    code, last = _train(arguments)
    if code:
        # A run that failed or was interrupted has said why; in a sweep those before it may have finished.
        told = ("failed", "interrupted") if seed is not None else ("failed", "interrupted", "finished")
        lost = [job for job in jobs if read_status(experiment.run_dir(job)).get("status") not in told]
        _note(experiment, lost, "failed", last.removeprefix("error: "))
    return code


def _train(arguments: list[str]) -> tuple[int, str]:
    """Exit code of ``src/train.py`` and the last line of what it says on stderr, which is passed on."""
    command = [sys.executable, "src/train.py", *arguments]
    print("$ python", *command[1:], flush=True)
    last = ""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            sys.stderr.write(line)
            last = line.strip() or last
    return process.returncode, last


def _note(experiment: Experiment, jobs: list[Job], status: str, error: str) -> None:
    for job in jobs:
        content = {"status": status, "error": error, "seconds": 0.0}
        write_json(experiment.run_dir(job) / "status.json", content)


def _forget_other_inputs(experiment: Experiment) -> None:
    """Keep what a sweep that was stopped has finished if it goes on with the same code, settings and answers."""
    folder, made_of = RESULTS / experiment.name, inputs_of(experiment)
    note = folder / INPUTS
    if not note.is_file() or note.read_text(encoding="utf-8") != made_of:
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            pass
        except OSError as error:  # what stayed would pass for made of the new inputs
            raise UserError(f"{folder}: cannot be deleted: {error.strerror}") from error
        write_text(note, made_of)


def inputs_of(experiment: Experiment) -> str:
    """sha256 over the experiment's settings and code, and its answers; the data are checked when loaded.

    Raises
    ------
    UserError
        Where one of the files is not there.
    """
    answers = [experiment.annotation_dir(job) / "answers.csv" for job in experiment.jobs] if experiment.answers else []
    digest = sha256()
    for path in (CONFIGURATIONS / experiment.name / "run.yaml", *answers):
        if not path.is_file():
            raise UserError(f"{path}: not there; an earlier stage of the pipeline writes it")
        digest.update(sha256(path.read_bytes()).digest())
    return f"{digest.hexdigest()}\n"


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.experiment <name> [--seed <seed>]``."""
    parser = argparse.ArgumentParser(description="run an experiment of params.yaml: one seed, or a whole sweep")
    parser.add_argument("name")
    parser.add_argument("--seed", type=int, help="of an experiment that is no sweep")
    parser.add_argument("--params", type=Path, default=PARAMS)
    options = parser.parse_args(arguments)
    experiment = load_plan(options.params).experiment(options.name)
    if (options.seed is None) != (experiment.sweep is not None):
        raise UserError(f"{options.name}: expected --seed for one run, and none for a sweep")
    return run(experiment, options.seed)


if __name__ == "__main__":
    sys.exit(main())
