"""Stages ``*_answers``: the answers of one run as a file, real or simulated, or the note that it has none."""

import argparse
import sys
from typing import Any

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.pipeline.configurations import composed
from semicrowd.pipeline.experiments import PARAMS, Answers, Experiment, load_plan
from semicrowd.pipeline.fetch import why_missing
from semicrowd.run.execute import load_inputs
from semicrowd.run.files import write_json


def _draw(experiment: Experiment, wanted: Answers, seed: int) -> PairAnnotations:
    """The answers that the run itself would get."""
    _, annotations = load_inputs(composed([*experiment.overrides, *wanted.overrides(), f"seed={seed}"]))
    if annotations is None:
        raise UserError(f"answers of kind {wanted.kind!r}: expected a kind that gives answers")
    return annotations


def make_answers(experiment: Experiment, seed: int) -> dict[str, Any]:
    """Write the answers of one run and what is to be said about them.

    ``answers.csv`` (with the annotators' true quality beside it) and ``about.json``: ``kind``, and where the wanted
    answers cannot be had, ``instead_of`` and ``because``. Without the data themselves there is only ``about.json``,
    with ``unavailable``; for an experiment without answers it says ``none``.
    """
    wanted = experiment.answers
    about: dict[str, Any] = {"kind": wanted.kind if wanted else "none"}
    missing = [message for name in experiment.needs if (message := why_missing(name))]
    path = experiment.annotation_dir(seed) / "answers.csv"
    if missing:
        about |= {"unavailable": missing[0]}
    elif wanted is not None:
        if wanted.fallback and (message := why_missing(f"{experiment.option('data')}_{wanted.kind}")):
            about = {"kind": wanted.fallback.kind, "instead_of": wanted.kind, "because": message}
            wanted = wanted.fallback
        _draw(experiment, wanted, seed).save(path)
    write_json(path.with_name("about.json"), about)
    return about


def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.answers <experiment> --seed <seed>``."""
    parser = argparse.ArgumentParser(description="write the answers of one run of an experiment of params.yaml")
    parser.add_argument("name")
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args(arguments)
    try:
        about = make_answers(load_plan(PARAMS).experiment(options.name), options.seed)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for key, value in about.items():
        print(f"{key}: {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
