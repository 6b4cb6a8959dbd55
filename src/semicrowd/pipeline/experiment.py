"""Stages ``experiments``: one run of ``src/train.py``, or a note that its data cannot be had."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from semicrowd.errors import UserError
from semicrowd.pipeline.experiments import PARAMS, Experiment, load_plan
from semicrowd.pipeline.fetch import why_missing
from semicrowd.run.files import read_status, write_json


def arguments_of(experiment: Experiment, seed: int) -> list[str]:
    """What the run's ``src/train.py`` gets: overrides, seed, answers as a file, run directory."""
    answers = experiment.annotation_dir(seed) / "answers.csv"
    files = ["annotations=file", f"annotations.path={answers}"] if experiment.answers else []
    return [*experiment.overrides, f"seed={seed}", *files, f"hydra.run.dir={experiment.run_dir(seed)}"]


def run(experiment: Experiment, seed: int) -> int:
    """Run one seed; the exit code is that of the run, 0 where its data cannot be had.

    Missing data are no failure: the run directory then says ``unavailable`` and how to get them. A run that fails
    leaves its status too, and its exit code stops what depends on it.
    """
    directory = experiment.run_dir(seed)
    for name in experiment.needs:
        if message := why_missing(name):
            write_json(directory / "status.json", {"status": "unavailable", "error": message, "seconds": 0.0})
            print(f"{experiment.name} seed {seed}: {name} is not available here: {message}")
            return 0
    command = [sys.executable, "src/train.py", *arguments_of(experiment, seed)]
    print("$ python", *command[1:], flush=True)
    last = ""
    threads = {"OMP_NUM_THREADS": str(experiment.threads)} if experiment.threads else {}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | threads) as process:
        assert process.stderr is not None
        for line in process.stderr:
            sys.stderr.write(line)
            last = line.strip() or last
    if process.returncode and read_status(directory).get("status") not in ("failed", "interrupted"):
        write_json(
            directory / "status.json", {"status": "failed", "error": last.removeprefix("error: "), "seconds": 0.0}
        )
    return process.returncode


def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.experiment <name> --seed <seed>``."""
    parser = argparse.ArgumentParser(description="run one seed of an experiment of params.yaml")
    parser.add_argument("name")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--params", type=Path, default=PARAMS)
    options = parser.parse_args(arguments)
    try:
        return run(load_plan(options.params).experiment(options.name), options.seed)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
