"""Gathers the runs of the selected profile into one file, ``reports/runs.json``, from which the report is made."""

import argparse
import json
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from semicrowd.errors import UserError, without_traceback
from semicrowd.files import read_metrics, read_object, write_json
from semicrowd.pipeline.experiments import RESULTS, Experiment, Job, load_plan
from semicrowd.report.runs import Collected, Run, read_recorded

RUNS = Path("reports/runs.json")


def _read_yaml(path: Path) -> dict[str, Any]:
    # LibYAML's loader reads a thousand configurations in a second; the default loader is much slower.
    content = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    assert isinstance(content, dict)
    return content


def _read_columns(path: Path) -> dict[str, list[float | None]]:
    if not path.is_file():  # the method has no restarts
        return {}
    table = pd.read_csv(path).dropna(axis="columns", how="all").astype(float)
    return {name: [value if math.isfinite(value) else None for value in table[name]] for name in table}


def read_run(experiment: Experiment, job: Job, results: Path = RESULTS) -> Run:
    """Read a run directory; it need not exist or be complete."""
    directory = experiment.run_dir(job, results)
    status = read_object(directory / "status.json")
    config = directory / "config.yaml"
    state = str(status.get("status", "missing"))
    answers = read_object(directory / "provenance.json").get("annotations") or {}
    if experiment.answers:
        answers |= read_object(experiment.annotation_dir(job) / "about.json")
    return Run(
        seed=job.seed,
        directory=directory.as_posix(),
        status=state,
        message=str(status.get("error") or ""),
        metrics=read_metrics(directory) if state == "finished" else {},
        config=_read_yaml(config) if config.is_file() else {},
        restarts=_read_columns(directory / "restarts.csv") if state == "finished" else {},
        answers=answers,
        point=dict(job.point),
    )


def collect() -> Collected:
    """Read the runs of the selected profile, but no other runs in its folder, and all recorded runs."""
    plan = load_plan()
    return Collected(
        profile=plan.profile,
        commands={name: experiment.command() for name, experiment in plan.experiments.items()},
        runs={
            name: [read_run(experiment, job) for job in experiment.jobs]
            for name, experiment in plan.experiments.items()
        },
        recorded={name: [one.run for one in runs] for name, runs in read_recorded().items()},
    )


def save(collected: Collected, path: Path = RUNS) -> None:
    """Write ``collected`` as JSON, atomically."""
    write_json(path, asdict(collected))


def load(path: Path = RUNS) -> Collected:
    """Read what :func:`save` wrote.

    Raises
    ------
    UserError
        If it has not written anything.
    """
    if not path.is_file():
        raise UserError(f"{path}: not there; --collect gathers the runs into it")
    content = json.loads(path.read_text(encoding="utf-8"))
    runs, recorded = (
        {name: [Run(**run) for run in entries] for name, entries in content[kind].items()}
        for kind in ("runs", "recorded")
    )
    return Collected(content["profile"], content["commands"], runs, recorded)


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.report.collect``, the pipeline's stage."""
    argparse.ArgumentParser(description="gather the runs of params.yaml into reports/runs.json").parse_args(arguments)
    collected = collect()
    save(collected)
    for name in collected.runs:
        unfinished = collected.unfinished(name)
        print(
            f"{name}: {len(collected.finished(name))} finished"
            + "".join(f", seed {r.seed} {r.status}" for r in unfinished)
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
