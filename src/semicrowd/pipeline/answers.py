"""Stage ``answers``: writes the answers of runs, real or simulated, or a note that a run has none."""

import argparse
import sys
from dataclasses import replace
from typing import Any

from rich.progress import track

from semicrowd.crowd import answer_files
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError, without_traceback
from semicrowd.files import write_json
from semicrowd.pipeline.experiments import (
    ANNOTATIONS,
    CONFIGURATIONS,
    PARAMS,
    Answers,
    Experiment,
    Job,
    load_plan,
)
from semicrowd.pipeline.fetch import why_missing
from semicrowd.pipeline.inputs import INPUTS, digest, forget_others
from semicrowd.run.inputs import load_inputs
from semicrowd.run.settings import resolve

#: File that describes the answers of a run; written last.
ABOUT = "about.json"


def _draw(experiment: Experiment, wanted: Answers, job: Job) -> PairAnnotations:
    _, annotations = load_inputs(resolve(replace(experiment, answers=wanted).arguments(job)))
    if annotations is None:
        raise UserError(f"answers of kind {wanted.kind!r}: expected a kind that gives answers")
    return annotations


def make_answers(experiment: Experiment, job: Job) -> dict[str, Any]:
    """Write ``answers.csv`` of one run, the annotators' true rates, and ``about.json``, whose content is returned.

    ``about.json`` has the ``kind`` of the answers (``none`` for an experiment without answers). If the answers are not
    available and are replaced by the fallback, it also has ``instead_of`` and ``because``. If the data set is not
    available, there is only ``about.json``, with ``unavailable``.
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
        answer_files.write_with_truth(_draw(experiment, wanted, job), path)
    write_json(path.with_name(ABOUT), about)
    return about


def make_all(experiments: list[Experiment]) -> None:
    """Write every set of answers that these settings and this code have not written yet, a shared set only once."""
    sets: dict[str, list[Experiment]] = {}
    for experiment in experiments:
        sets.setdefault(experiment.answers_name, []).append(experiment)
    for name, sharing in sets.items():
        made_of = digest(CONFIGURATIONS / name / "answers.yaml", [not why_missing(one) for one in _data_of(sharing[0])])
        same = forget_others(ANNOTATIONS / name, ANNOTATIONS / name / INPUTS, made_of)
        wanted = {job.folder: (experiment, job) for experiment in sharing for job in experiment.jobs}
        missing = [one for one in wanted.values() if not (same and (one[0].annotation_dir(one[1]) / ABOUT).is_file())]
        for experiment, job in track(missing, f"answers of {name}", disable=not missing or not sys.stdout.isatty()):
            about = make_answers(experiment, job)
        if missing:
            print(f"{name}, {len(missing)} runs:", ", ".join(f"{key}: {value}" for key, value in about.items()))


def _data_of(experiment: Experiment) -> list[str]:
    answers, data = experiment.answers, experiment.settings["data"]
    return [*experiment.needs, *([f"{data}_{answers.kind}"] if answers is not None and answers.fallback else [])]


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.answers [<experiment or shared set> …]``."""
    parser = argparse.ArgumentParser(description="write the answers of experiments of params.yaml")
    parser.add_argument("names", nargs="*", help="experiments or shared sets of answers; all if none is named")
    names = parser.parse_args(arguments).names
    plan = load_plan(PARAMS)
    make_all([one for name in names for one in plan.with_answers(name)] or list(plan.experiments.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
