"""Runs as the report sees them."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self


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
