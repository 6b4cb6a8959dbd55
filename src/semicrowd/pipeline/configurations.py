"""Stage ``configurations``: one file for every experiment, with its resolved settings and the hashes of its code.

An experiment depends on its file, and not on all files of conf/ and of the package. If one of these is changed for a
model or a data set, only the experiments that use it are run again.
"""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import yaml

from semicrowd.errors import without_traceback
from semicrowd.files import write_text
from semicrowd.pipeline.experiment import arguments_of
from semicrowd.pipeline.experiments import CONFIGURATIONS, Experiment, Job, load_plan
from semicrowd.pipeline.features import MAKERS
from semicrowd.pipeline.inputs import data_modules, fingerprints, run_modules
from semicrowd.pipeline.slpd.plan import CODE
from semicrowd.run.commandline.mistakes import is_mistake
from semicrowd.run.settings import resolve
from semicrowd.settings.fields import described, plain
from semicrowd.settings.groups import TOP, groups_of

#: Settings that never change a result, and the seed, which differs between the runs of one experiment.
_LEFT_OUT = ("resume", "figures", "logger", "trainer", "seed")

#: Settings of the trainer that say how many processes there are.
_PROCESSES = ("strategy", "num_nodes")


def settings_of(overrides: list[str]) -> dict[str, Any]:
    """What decides a run of ``src/train.py`` with these arguments: the settings resolved from them, and all defaults.

    Values that a rule sets in place of a default are left out, since a rule needs the data, which may be missing here.
    Changes of the rules are noticed by the hashes of the code.
    """
    settings = resolve(overrides)
    chosen = {group: settings[group]["name"] for group in ("data", "model", "annotations")}
    defaults = {group: _defaults(kind) for group, kind in groups_of(chosen).items() if group not in _LEFT_OUT}
    for kind in TOP:
        defaults |= {name: value for name, value in _defaults(kind).items() if name not in _LEFT_OUT}
    kept = {name: value for name, value in settings.items() if name not in _LEFT_OUT} | {"defaults": defaults}
    # With several processes an epoch has fewer steps; devices and threads change nothing else.
    processes = {name: value for name, value in settings.get("trainer", {}).items() if name in _PROCESSES}
    return kept | ({"trainer": processes} if processes else {})


def run_settings(experiment: Experiment) -> dict[str, Any]:
    """Settings of an experiment's runs (without the seed and the path of the answers) and hashes of their code."""
    settings = settings_of([a for a in arguments_of(experiment, Job(0)) if not a.startswith("hydra.")])
    settings["annotations"].pop("path", None)
    return settings | {"code": fingerprints(run_modules(settings["model"]["name"], settings["data"]["name"]))}


def answer_settings(experiment: Experiment) -> dict[str, Any]:
    """Settings of an experiment's answers and of their fallback, and hashes of the code; empty without answers."""
    wanted = [experiment.answers, experiment.answers.fallback] if experiment.answers else []
    whole = [settings_of([*experiment.overrides, *one.overrides()]) for one in wanted if one is not None]
    if not whole:
        return {}
    data = whole[0]["data"]
    return {
        "data": data,
        "answers": [one["annotations"] for one in whole],
        "code": fingerprints(data_modules(data["name"])),
    }


def write_configurations(experiments: list[Experiment]) -> None:
    """Write ``<experiment>/run.yaml`` and ``<answers>/answers.yaml``; those of a sweep also have the names of its runs.

    If the settings of an experiment are wrong, its file has the error instead, so that only this experiment fails.
    """
    for experiment in experiments:
        runs = {} if experiment.sweep is None else {"runs": [job.folder for job in experiment.jobs]}
        _write(CONFIGURATIONS / experiment.name / "run.yaml", partial(run_settings, experiment), runs)
    of_answers = attrgetter("answers_name")
    for name, sharing in groupby(sorted(experiments, key=of_answers), of_answers):
        one, *others = sharing
        swept = [e for e in (one, *others) if e.sweep is not None]
        runs = {"runs": sorted({job.folder for e in swept for job in e.jobs})} if swept else {}
        _write(CONFIGURATIONS / name / "answers.yaml", partial(answer_settings, one), runs)
    _write(CONFIGURATIONS / "slpd" / "code.yaml", partial(fingerprints, CODE), {})
    for stage in ("autoencoder", "deep_spaces"):
        _write(CONFIGURATIONS / stage / "code.yaml", partial(fingerprints, [f"semicrowd.pipeline.{stage}"]), {})
    for name, (data, _) in MAKERS.items():
        _write(CONFIGURATIONS / name / "code.yaml", partial(fingerprints, data_modules(data)), {})


def _defaults(kind: type) -> dict[str, Any]:
    return {one.spelled: plain(one.default) for one in described(kind)}


def _write(path: Path, settings: Callable[[], dict[str, Any]], more: dict[str, Any]) -> None:
    try:
        content = settings() | more
    except Exception as error:
        if not is_mistake(error):
            raise
        content = {"error": str(error)}
    write_text(path, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.configurations``."""
    argparse.ArgumentParser(description="write the configuration of every experiment").parse_args(arguments)
    write_configurations(list(load_plan().experiments.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
