"""Stage ``configurations``: what every experiment's settings come to, one file each.

An experiment depends on its file and not on the files of conf/: what is changed there for one model or one protocol
runs the experiments that it reaches and no others.
"""

import argparse
from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from semicrowd.files import write_atomic
from semicrowd.pipeline.experiment import arguments_of
from semicrowd.pipeline.experiments import CONFIGURATIONS, Experiment, Job, load_plan
from semicrowd.run.cli import CONF
from semicrowd.run.mistakes import is_mistake
from semicrowd.run.settings import resolved

#: What never changes a number, and what differs between the runs of one experiment.
_LEFT_OUT = ("resume", "figures", "logger", "trainer", "seed")


def composed(overrides: list[str]) -> DictConfig:
    """The configuration that ``src/train.py`` would run with these arguments."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", overrides)


def run_settings(experiment: Experiment) -> dict[str, Any]:
    """Settings of an experiment's runs, all but seed and place of the answers."""
    overrides = [a for a in arguments_of(experiment, Job(0)) if not a.startswith("hydra.")]
    settings = {name: value for name, value in resolved(composed(overrides)).items() if name not in _LEFT_OUT}
    settings["annotations"].pop("path", None)
    return settings


def answer_settings(experiment: Experiment) -> dict[str, Any]:
    """Settings of an experiment's answers and of those that may replace them; nothing for an experiment without."""
    wanted = [experiment.answers, experiment.answers.fallback] if experiment.answers else []
    whole = [resolved(composed([*experiment.overrides, *one.overrides()])) for one in wanted if one is not None]
    return {"data": whole[0]["data"], "answers": [one["annotations"] for one in whole]} if whole else {}


def write_configurations(experiments: list[Experiment], folder: Path = CONFIGURATIONS) -> None:
    """Write ``<experiment>/run.yaml`` and ``<answers>/answers.yaml``, of a sweep with the names of its runs.

    What cannot be composed leaves its error there: the experiment's own stage fails with it, and no other.
    """
    for experiment in experiments:
        runs = {} if experiment.sweep is None else {"runs": [job.folder for job in experiment.jobs]}
        _write(folder / experiment.name / "run.yaml", partial(run_settings, experiment), runs)
    for name, sharing in groupby(sorted(experiments, key=_answers_name), _answers_name):
        one, *others = sharing
        swept = [e for e in (one, *others) if e.sweep is not None]
        runs = {"runs": sorted({job.folder for e in swept for job in e.jobs})} if swept else {}
        _write(folder / name / "answers.yaml", partial(answer_settings, one), runs)


def _answers_name(experiment: Experiment) -> str:
    return experiment.answers_name


def _write(path: Path, settings: Callable[[], dict[str, Any]], more: dict[str, Any]) -> None:
    try:
        content = settings() | more
    except Exception as error:
        if not is_mistake(error):
            raise
        content = {"error": str(error)}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    write_atomic(path, partial(Path.write_text, data=text))


def main(arguments: list[str] | None = None) -> None:
    """``python -m semicrowd.pipeline.configurations``."""
    argparse.ArgumentParser(description="write the configuration of every experiment").parse_args(arguments)
    write_configurations(list(load_plan().experiments.values()))


if __name__ == "__main__":
    main()
