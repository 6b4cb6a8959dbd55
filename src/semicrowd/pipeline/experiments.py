"""What params.yaml asks for: experiments, their seeds, and where each run's files lie."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from semicrowd.errors import UserError

PARAMS = Path("params.yaml")
#: The pipeline keeps its data in the project: its stages declare them.
DATA = Path("data")
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
class Experiment:
    """One experiment of the selected profile: the same run with several seeds.

    Attributes
    ----------
    overrides
        Arguments of ``src/train.py``, without seed, answers and run directory.
    seeds
        One run each.
    answers
        Kind of answers that the annotations stage writes (``two_coin``, ``quota``, ``tasks``, ``crowd``), None for an
        experiment without.
    fallback
        Kind to simulate where the answers of ``answers`` cannot be had.
    needs
        Data sets without which there is nothing to run.
    threads
        Threads of a run, None for as many as torch takes by itself. Small networks are fastest with one.
    """

    name: str
    overrides: tuple[str, ...]
    seeds: tuple[int, ...]
    answers: str | None = None
    fallback: str | None = None
    needs: tuple[str, ...] = field(default_factory=tuple)
    threads: int | None = None

    def option(self, key: str) -> str | None:
        """Value of the override ``key=value``; None where it is left at its default."""
        return dict(override.split("=", maxsplit=1) for override in self.overrides).get(key)

    def command(self) -> str:
        """The same runs by hand; the answers are then drawn or read by the run itself."""
        answers = [f"annotations={self.answers}"] if self.answers else []
        sweep = ["-m"] if len(self.seeds) > 1 else []
        return " ".join(["python src/train.py", *sweep, *self.overrides, *answers, f"seed={format_ranges(self.seeds)}"])

    def annotation_dir(self, seed: int) -> Path:
        """Where the annotations stage writes this run's answers."""
        return ANNOTATIONS / self.name / f"seed-{seed}"

    def run_dir(self, seed: int, results: Path = RESULTS) -> Path:
        """Where this run writes."""
        return results / self.name / f"seed-{seed}"


@dataclass(frozen=True)
class Plan:
    """The selected profile: its name and its experiments."""

    profile: str
    experiments: dict[str, Experiment]

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


def _experiment(name: str, entry: dict[str, Any]) -> Experiment:
    answers = entry.get("answers") or {}
    return Experiment(
        name=name,
        overrides=tuple(entry["overrides"]),
        seeds=tuple(entry["seeds"]),
        answers=answers.get("kind"),
        fallback=answers.get("fallback"),
        needs=tuple(entry.get("needs", ())),
        threads=entry.get("threads"),
    )


def load_plan(path: Path = PARAMS) -> Plan:
    """Read the selected profile.

    Raises
    ------
    UserError
        If the file is missing, is no YAML or lacks a key.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        experiments = {name: _experiment(name, entry) for name, entry in content["experiments"].items()}
        return Plan(str(content["profile"]), experiments)
    except FileNotFoundError:
        raise UserError(f"{path}: not found; make reproduce PROFILE=laptop writes it") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: no valid YAML: {' '.join(str(error).split())}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: expected profile and experiments with overrides and seeds ({error})") from None
