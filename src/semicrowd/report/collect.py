"""The runs from which the report is made: gathers those of the selected profile into one file, ``reports/runs.json``.

Recorded runs take too long for a profile. Their results are files in the repository, ``recorded/runs/*.json``, which
only ``make record`` writes (:mod:`semicrowd.report.record`). ``make verify`` repeats some of them
(:mod:`semicrowd.report.verify`).
"""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from filelock import FileLock

from semicrowd.errors import UserError, without_traceback
from semicrowd.files import read_metrics, read_object, write_json
from semicrowd.pipeline.experiments import RESULTS, Experiment, Job, load_plan


@dataclass(frozen=True)
class Run:
    """One run.

    Attributes
    ----------
    directory : run directory, relative to the project
    status : ``finished``; ``failed``; ``interrupted`` or ``running`` (the process ended without a result);
        ``unavailable`` (the data are not available on this machine); ``missing`` (never started)
    message : the error message, or how to get the data; empty for a finished run
    metrics : contents of ``metrics.json``; empty unless the run has finished
    config : the resolved configuration; empty if the run ended before writing it
    restarts : columns of ``restarts.csv``, one value for each restart; None where it diverged
    answers : description of the answers: ``simulated``, ``source``, ``num_pairs``, and ``because``, the reason if they
        replace real answers; empty for a run without answers
    point : values of the swept settings in this run, setting → value; empty without a sweep
    """

    seed: int
    directory: str
    status: str
    message: str = ""
    metrics: dict[str, float] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    restarts: dict[str, list[Any]] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    point: dict[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> tuple[int, str]:
        """What identifies the run in its experiment: its seed, and its values of the swept settings as JSON."""
        return self.seed, json.dumps(self.point, sort_keys=True)


@dataclass(frozen=True)
class Collected:
    """All runs of a profile and all recorded runs, by experiment, in the order of their seeds.

    Attributes
    ----------
    commands : experiment → command that makes its runs
    runs : experiment → runs of the profile
    recorded : experiment → recorded runs
    """

    profile: str
    commands: dict[str, str]
    runs: dict[str, list[Run]]
    recorded: dict[str, list[Run]] = field(default_factory=dict)

    def finished(self, experiment: str) -> list[Run]:
        """The finished runs of an experiment; empty if the profile does not contain the experiment."""
        return [run for run in self.runs.get(experiment, []) if run.status == "finished"]

    def unfinished(self, experiment: str) -> list[Run]:
        """The runs of an experiment that have not finished."""
        return [run for run in self.runs.get(experiment, []) if run.status != "finished"]

    def finished_recorded(self, experiment: str) -> list[Run]:
        """The recorded runs of an experiment that have finished."""
        return [run for run in self.recorded.get(experiment, []) if run.status == "finished"]

    def finished_or_recorded(self, experiment: str) -> list[Run]:
        """The finished runs of the profile; where it has none, those that are recorded."""
        return self.finished(experiment) or self.finished_recorded(experiment)

    def at(self, point: dict[str, Any]) -> "Collected":
        """Only the runs with these values of the swept settings."""
        runs, recorded = (
            {name: [run for run in runs if run.point == point] for name, runs in of.items()}
            for of in (self.runs, self.recorded)
        )
        return Collected(self.profile, self.commands, runs, recorded)

    def commands_of(self, *experiments: str) -> tuple[str, ...]:
        """The distinct commands that make the runs of these experiments; experiments not in the profile are skipped."""
        return tuple(self.commands[name] for name in dict.fromkeys(experiments) if name in self.commands)


#: Folder of the recorded runs.
FOLDER = Path("recorded/runs")
#: Lock file, so that two processes do not write recorded runs at the same time.
LOCK = Path("runs/recorded.lock")


@dataclass(frozen=True)
class RecordedRun:
    """A run and its provenance.

    Attributes
    ----------
    run : its seed, settings and metrics, in the form that the report uses
    arguments : arguments of ``src/train.py`` with which the run can be repeated
    commit, date : git commit of the code, and the time at which the run started
    processor : processor and GPU; bitwise equal results can only be expected on the same processor
    versions : package → version, of the numerical packages
    data_hashes : file → SHA-256 hash
    """

    run: Run
    arguments: list[str]
    commit: str
    date: str
    processor: str
    versions: dict[str, str]
    data_hashes: dict[str, str]
    notes: list[str] = field(default_factory=list)


def read_recorded(folder: Path = FOLDER) -> dict[str, list[RecordedRun]]:
    """The recorded runs of each experiment, in the order of their seeds."""
    by_experiment = {}
    for path in sorted(folder.glob("*.json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            runs = [RecordedRun(**{**one, "run": Run(**one["run"])}) for one in content["runs"]]
            by_experiment[path.stem] = runs
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}: not a file of make record ({error})") from None
    return by_experiment


def write_recorded(experiment: str, runs: Sequence[RecordedRun]) -> Path:
    """Add runs to the file of their experiment and return its path.

    A run replaces a recorded run with the same seed and the same values of the swept settings.
    """
    path = FOLDER / f"{experiment}.json"
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(LOCK):
        known = {one.run.place: one for one in [*read_recorded().get(experiment, []), *runs]}
        write_json(path, {"runs": [asdict(known[place]) for place in sorted(known)]})
    return path


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
