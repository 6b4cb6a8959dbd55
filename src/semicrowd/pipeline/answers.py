"""Stages ``*_answers``: the answers of runs as files, real or simulated, or the note that they have none."""

import argparse
import sys
from typing import Any

from semicrowd.crowd import csv_file
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError, without_traceback
from semicrowd.files import write_json
from semicrowd.pipeline.experiments import PARAMS, Answers, Experiment, Job, load_plan
from semicrowd.pipeline.fetch import why_missing
from semicrowd.run.inputs import load_inputs
from semicrowd.run.settings import resolve


def _draw(experiment: Experiment, wanted: Answers, job: Job) -> PairAnnotations:
    """The answers that the run itself would get."""
    overrides = [*experiment.overrides, *wanted.overrides(job.point), f"seed={job.seed}"]
    _, annotations = load_inputs(resolve(overrides))
    if annotations is None:
        raise UserError(f"answers of kind {wanted.kind!r}: expected a kind that gives answers")
    return annotations


def make_answers(experiment: Experiment, job: Job) -> dict[str, Any]:
    """Write the answers of one run and what is to be said about them.

    ``answers.csv`` (with the annotators' true quality beside it) and ``about.json``: ``kind``, and where the wanted
    answers cannot be had, ``instead_of`` and ``because``. Without the data themselves there is only ``about.json``,
    with ``unavailable``; for an experiment without answers it says ``none``.
    """
    wanted = experiment.answers
    about: dict[str, Any] = {"kind": wanted.kind if wanted else "none"}
    missing = [message for name in experiment.needs if (message := why_missing(name))]
    path = experiment.annotation_dir(job) / "answers.csv"
    if missing:
        about |= {"unavailable": missing[0]}
    elif wanted is not None:
        if wanted.fallback and (message := why_missing(f"{experiment.settings['data']}_{wanted.kind}")):
            about = {"kind": wanted.fallback.kind, "instead_of": wanted.kind, "because": message}
            wanted = wanted.fallback
        csv_file.write_with_truth(_draw(experiment, wanted, job), path)
    write_json(path.with_name("about.json"), about)
    return about


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.answers <experiment or shared set> [--seed <seed>]``."""
    parser = argparse.ArgumentParser(description="write the answers of experiments of params.yaml")
    parser.add_argument("name")
    parser.add_argument("--seed", type=int, help="for one run of an experiment that is no sweep")
    options = parser.parse_args(arguments)
    for experiment, job in _wanted(options.name, options.seed):
        about = make_answers(experiment, job)
        print(f"{job.folder}:", ", ".join(f"{key}: {value}" for key, value in about.items()))
    return 0


def _wanted(name: str, seed: int | None) -> list[tuple[Experiment, Job]]:
    """Each set of answers once, with one of the experiments that share it."""
    sharing = load_plan(PARAMS).with_answers(name)
    if (seed is None) != (sharing[0].sweep is not None):
        raise UserError(f"{name}: expected --seed for one run, and none for a sweep")
    if seed is not None:
        return [(sharing[0], Job(seed))]
    wanted = {job.folder: (experiment, job) for experiment in sharing for job in experiment.jobs}
    return list(wanted.values())


if __name__ == "__main__":
    sys.exit(main())
