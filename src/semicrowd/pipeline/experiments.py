"""What params.yaml asks for: experiments, their seeds, and where each run's files lie."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from semicrowd.errors import UserError

PARAMS = Path("params.yaml")
#: The pipeline keeps its data in the project: its stages declare them.
DATA = Path("data")
CONFIGURATIONS = Path("configurations")
ANNOTATIONS = Path("annotations")
RESULTS = Path("results")


def format_ranges(numbers: Sequence[int]) -> str:
    """Numbers as the command line takes seeds: ``0-4`` or ``0-2,7``."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


@dataclass(frozen=True)
class Answers:
    """Answers as a run would draw or read them by itself: ``annotations=<kind>`` with its options.

    Attributes
    ----------
    kind
        ``two_coin``, ``quota``, ``tasks`` or ``crowd``.
    options
        Of that kind, as ``conf/annotations`` has them; the others keep their defaults.
    fallback
        What to simulate where these cannot be had.
    """

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    fallback: "Answers | None" = None

    def overrides(self) -> list[str]:
        """Arguments of ``src/train.py``."""
        options = [f"annotations.{name}={json.dumps(value)}" for name, value in self.options.items()]
        return [f"annotations={self.kind}", *options]


@dataclass(frozen=True)
class Experiment:
    """One experiment of the selected profile: the same run with several seeds.

    Attributes
    ----------
    overrides
        Arguments of ``src/train.py``, without seed, answers and run directory.
    seeds
        One run each.
    answers
        What the answers stage writes, None for an experiment without.
    needs
        Data sets without which there is nothing to run.
    threads
        Threads of a run, None for as many as torch takes by itself. Small networks are fastest with one.
    """

    name: str
    overrides: tuple[str, ...]
    seeds: tuple[int, ...]
    answers: Answers | None = None
    needs: tuple[str, ...] = field(default_factory=tuple)
    threads: int | None = None

    def option(self, key: str) -> str | None:
        """Value of the override ``key=value``; None where it is left at its default."""
        return dict(override.split("=", maxsplit=1) for override in self.overrides).get(key)

    def command(self) -> str:
        """The same runs by hand; the answers are then drawn or read by the run itself."""
        answers = self.answers.overrides() if self.answers else []
        sweep = ["-m"] if len(self.seeds) > 1 else []
        seeds = f"seed={format_ranges(self.seeds)}"
        return shlex.join(["python", "src/train.py", *sweep, *self.overrides, *answers, seeds])

    def annotation_dir(self, seed: int) -> Path:
        """Where the annotations stage writes this run's answers."""
        return ANNOTATIONS / self.name / f"seed-{seed}"

    def run_dir(self, seed: int, results: Path = RESULTS) -> Path:
        """Where this run writes."""
        return results / self.name / f"seed-{seed}"


@dataclass(frozen=True)
class Plan:
    """The selected profile: its name, its experiments, and how many runs there may be at once."""

    profile: str
    experiments: dict[str, Experiment]
    jobs: int = 1

    def experiment(self, name: str) -> Experiment:
        """The experiment called ``name``.

        Raises
        ------
        UserError
            If the profile has none of that name.
        """
        if name not in self.experiments:
            raise UserError(
                f"experiment {name!r} is not in profile {self.profile}: it has {', '.join(self.experiments)}"
            )
        return self.experiments[name]


def _answers(entry: dict[str, Any] | None) -> Answers | None:
    if entry is None:
        return None
    options = {name: value for name, value in entry.items() if name not in ("kind", "fallback")}
    return Answers(entry["kind"], options, _answers(entry.get("fallback")))


def _experiment(name: str, entry: dict[str, Any]) -> Experiment:
    return Experiment(
        name=name,
        overrides=tuple(entry["overrides"]),
        seeds=tuple(entry["seeds"]),
        answers=_answers(entry.get("answers")),
        needs=tuple(entry.get("needs", ())),
        threads=entry.get("threads"),
    )


def _with_groups(content: dict[str, Any], path: Path) -> dict[str, dict[str, Any]]:
    """The experiments' entries, those of a group with what it says for all of them.

    An experiment without seeds of its own that no group names is switched off.
    """
    entries: dict[str, dict[str, Any]] = {**content["experiments"]}
    for group, shared in content.get("groups", {}).items():
        shared = {**shared}
        for name in shared.pop("experiments"):
            if name not in entries or "seeds" in entries[name]:
                raise UserError(f"{path}: group {group}: expected names of experiments without seeds, found {name!r}")
            entries[name] = {**shared, **entries[name]}
    return {name: entry for name, entry in entries.items() if "seeds" in entry}


def load_plan(path: Path = PARAMS) -> Plan:
    """Read the selected profile.

    Raises
    ------
    UserError
        If the file is missing, is no YAML or lacks a key.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        experiments = {name: _experiment(name, entry) for name, entry in _with_groups(content, path).items()}
        return Plan(str(content["profile"]), experiments, int(content.get("jobs", 1)))
    except FileNotFoundError:
        raise UserError(f"{path}: not found; make reproduce PROFILE=laptop writes it") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: no valid YAML: {' '.join(str(error).split())}") from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UserError(f"{path}: expected profile and experiments with overrides and seeds ({error})") from None
