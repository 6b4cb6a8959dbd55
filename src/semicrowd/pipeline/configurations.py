"""Stage ``configurations``: what every experiment's settings come to, one file each.

An experiment depends on its file and not on the files of conf/: what is changed there for one model or one protocol
runs the experiments that it reaches and no others.
"""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from semicrowd.pipeline.experiment import arguments_of
from semicrowd.pipeline.experiments import CONFIGURATIONS, Experiment, load_plan
from semicrowd.run.cli import CONF
from semicrowd.run.files import write_atomic
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
    overrides = [a for a in arguments_of(experiment, 0) if not a.startswith("hydra.")]
    settings = {name: value for name, value in resolved(composed(overrides)).items() if name not in _LEFT_OUT}
    settings["annotations"].pop("path", None)
    return settings


def answer_settings(experiment: Experiment) -> dict[str, Any]:
    """Settings of an experiment's answers and of those that may replace them; nothing for an experiment without."""
    wanted = [experiment.answers, experiment.answers.fallback] if experiment.answers else []
    whole = [resolved(composed([*experiment.overrides, *one.overrides()])) for one in wanted if one is not None]
    return {"data": whole[0]["data"], "answers": [one["annotations"] for one in whole]} if whole else {}


def write_configurations(experiments: list[Experiment], folder: Path = CONFIGURATIONS) -> None:
    """Write ``<experiment>/run.yaml`` and ``<experiment>/answers.yaml``.

    What cannot be composed leaves its error there: the experiment's own stage fails with it, and no other.
    """
    for experiment in experiments:
        for name, settings in (("run", run_settings), ("answers", answer_settings)):
            try:
                content = settings(experiment)
            except Exception as error:
                if not is_mistake(error):
                    raise
                content = {"error": str(error)}
            text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
            write_atomic(folder / experiment.name / f"{name}.yaml", partial(Path.write_text, data=text))


def main(arguments: list[str] | None = None) -> None:
    """``python -m semicrowd.pipeline.configurations``."""
    argparse.ArgumentParser(description="write the configuration of every experiment").parse_args(arguments)
    write_configurations(list(load_plan().experiments.values()))


if __name__ == "__main__":
    main()
