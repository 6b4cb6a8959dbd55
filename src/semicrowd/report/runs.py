"""Runs as the report sees them: of the selected profile, and those that are kept in the repository.

The kept ones take longer than a profile allows: ``recorded/runs/*.json``. ``make record`` writes these files, and
nothing else does (:mod:`semicrowd.report.record`); ``make verify`` runs some again (:mod:`semicrowd.report.verify`).
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from filelock import FileLock

from semicrowd.errors import UserError
from semicrowd.files import write_json


@dataclass(frozen=True)
class Run:
    """One run.

    Attributes
    ----------
    directory : run directory, relative to the project
    status : ``finished``; ``failed``, ``interrupted`` or ``running`` (then something went wrong); ``unavailable`` (the
        data cannot be had here); ``missing`` (never started)
    message : the error, or how to get the data; empty for a finished run
    metrics : ``metrics.json``; empty unless finished
    config : the resolved configuration; empty where the run has not got that far
    restarts : columns of ``restarts.csv``, one number for each start
    answers : what is known of the answers (``simulated``, ``source``, ``num_pairs``, and ``because`` where they replace
        real ones); empty for a run without
    point : where in its experiment's sweep the run is: option of the answers → value
    """

    seed: int
    directory: str
    status: str
    message: str = ""
    metrics: dict[str, float] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    restarts: dict[str, list[float]] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    point: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """JSON has no nan, which a start that diverged has for its numbers: null in its place."""
        restarts = {name: [value if math.isfinite(value) else None for value in column]
                    for name, column in self.restarts.items()}
        return asdict(replace(self, restarts={})) | {"restarts": restarts}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """What :meth:`to_json` gave."""
        restarts = {name: [math.nan if value is None else value for value in column]
                    for name, column in content["restarts"].items()}
        return cls(**{**content, "restarts": restarts})


@dataclass(frozen=True)
class Collected:
    """All runs of a profile, by experiment and in the order of their seeds; and those kept in the repository.

    Attributes
    ----------
    commands : experiment → what gives its runs
    recorded : experiment → runs that ``make record`` has kept, finished ones
    """

    profile: str
    commands: dict[str, str]
    runs: dict[str, list[Run]]
    recorded: dict[str, list[Run]] = field(default_factory=dict)

    def finished(self, experiment: str) -> list[Run]:
        """The finished runs of an experiment; none for an experiment that the profile leaves out."""
        return [run for run in self.runs.get(experiment, []) if run.status == "finished"]

    def unfinished(self, experiment: str) -> list[Run]:
        """The other runs of an experiment."""
        return [run for run in self.runs.get(experiment, []) if run.status != "finished"]

    def at(self, point: dict[str, Any]) -> "Collected":
        """The runs at one point of a sweep alone."""
        runs, recorded = (
            {name: [run for run in runs if run.point == point] for name, runs in of.items()}
            for of in (self.runs, self.recorded)
        )
        return Collected(self.profile, self.commands, runs, recorded)

    def commands_of(self, *experiments: str) -> tuple[str, ...]:
        """Commands that give the runs of experiments, as far as the profile has them; each once."""
        return tuple(self.commands[name] for name in dict.fromkeys(experiments) if name in self.commands)


#: Of the runs that are kept.
FOLDER = Path("recorded/runs")
#: Keeps two programs from writing at once.
LOCK = Path("runs/recorded.lock")


@dataclass(frozen=True)
class RecordedRun:
    """One run, and where its numbers come from.

    Attributes
    ----------
    run : its seed, settings and metrics, as the report takes them
    arguments : of ``src/train.py``, with which anybody can have it again
    commit, date : of the code, and when it began
    processor : what it was computed on; the same bytes can be expected of the same processor alone
    versions : of the packages that compute
    data_hashes : file → sha256
    """

    run: Run
    arguments: list[str]
    commit: str
    date: str
    processor: str
    versions: dict[str, str]
    data_hashes: dict[str, str]
    notes: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Of the fit, by the clock."""
        return self.run.metrics["seconds/fit"]

    @property
    def place(self) -> tuple[int, str]:
        """What it is within its experiment: seed, and point of a sweep."""
        return self.run.seed, json.dumps(self.run.point, sort_keys=True)


def read_recorded(folder: Path = FOLDER) -> dict[str, list[RecordedRun]]:
    """Every recorded experiment's runs, in the order of their seeds.

    Raises
    ------
    UserError
        For a file that is not one of these.
    """
    found = {}
    for path in sorted(folder.glob("*.json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            found[path.stem] = [RecordedRun(**{**one, "run": Run.from_json(one["run"])}) for one in content["runs"]]
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}: not a file of make record ({error})") from None
    return found


def write_recorded(experiment: str, runs: Sequence[RecordedRun], folder: Path = FOLDER) -> Path:
    """Put runs into their experiment's file, each in the place of an older one of its seed and point; the file."""
    path = folder / f"{experiment}.json"
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(LOCK):
        known = {one.place: one for one in [*read_recorded(folder).get(experiment, []), *runs]}
        entries = (known[place] for place in sorted(known))
        write_json(path, {"runs": [asdict(one) | {"run": one.run.to_json()} for one in entries]})
    return path
