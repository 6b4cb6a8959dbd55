"""Stages ``*_answers``: the answers of one run as a file, real or simulated."""

import argparse
import sys
from typing import Any

from hydra import compose, initialize_config_dir

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.pipeline.experiments import PARAMS, Experiment, load_plan
from semicrowd.pipeline.fetch import why_missing
from semicrowd.run.cli import CONF
from semicrowd.run.execute import load_inputs
from semicrowd.run.files import write_json


def _answers(experiment: Experiment, kind: str, seed: int) -> PairAnnotations:
    """The answers that the run itself would get with ``annotations=<kind>``."""
    overrides = [*experiment.overrides, f"annotations={kind}", f"seed={seed}"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        _, annotations = load_inputs(compose("config", overrides))
    if annotations is None:
        raise UserError(f"answers of kind {kind!r}: expected a kind that gives answers")
    return annotations


def make_answers(experiment: Experiment, seed: int) -> dict[str, Any]:
    """Write the answers of one run and what is to be said about them.

    ``answers.csv`` (with the annotators' true quality beside it) and ``about.json``: ``kind``, and where the wanted
    answers cannot be had, ``instead_of`` and ``because``. Without the data themselves there is only ``about.json``,
    with ``unavailable``.
    """
    folder = experiment.annotation_dir(seed)
    folder.mkdir(parents=True, exist_ok=True)
    about: dict[str, Any] = {"kind": experiment.answers}
    for name in experiment.needs:
        if message := why_missing(name):
            about |= {"unavailable": message}
            write_json(folder / "about.json", about)
            return about
    assert experiment.answers is not None
    kind = experiment.answers
    if experiment.fallback and (message := why_missing(f"{experiment.option('data')}_{kind}")):
        kind = experiment.fallback
        about = {"kind": kind, "instead_of": experiment.answers, "because": message}
    _answers(experiment, kind, seed).save(folder / "answers.csv")
    write_json(folder / "about.json", about)
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
