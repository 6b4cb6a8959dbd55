"""The experiments of params.yaml: their settings and seeds, and the folder of each run.

A profile, conf/profile/<name>.yaml, says which experiments are run, with how many seeds and epochs.
"""

import json
import re
import shlex
from argparse import ArgumentTypeError
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from pathlib import Path
from typing import Any

import yaml

from semicrowd.errors import UserError
from semicrowd.files import write_text
from semicrowd.run.commandline.arguments import folder_name
from semicrowd.settings.sources import EncodedSettings

PARAMS = Path("params.yaml")
PROFILES = Path("conf/profile")
#: Experiments of ``make record``: those of the profile ``laptop``, and some that take longer than any profile allows.
RECORDED = Path("recorded/experiments.yaml")
#: Line of params.yaml that names its profile.
_BASE = re.compile(r"^base: .*$", re.MULTILINE)
#: The pipeline's data are always in the project's folder, since the stages of dvc.yaml name this path.
DATA = Path("data")
CONFIGURATIONS = Path("configurations")
ANNOTATIONS = Path("annotations")
RESULTS = Path("results")


def format_ranges(numbers: Sequence[int]) -> str:
    """Numbers as the command line takes seeds: ``0-4`` or ``0-2,7``."""
    runs = groupby(enumerate(sorted(set(numbers))), lambda pair: pair[1] - pair[0])
    parts = [[number for _, number in run] for _, run in runs]
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def parse_ranges(text: str) -> list[int]:
    """Numbers from a text such as :func:`format_ranges` writes.

    Raises
    ------
    ValueError, ArgumentTypeError
        For other text; argparse then names the option.
    """
    numbers: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        if int(high or low) < int(low):
            raise ArgumentTypeError(f"{text}: the range {part} runs backwards, expected first-last")
        numbers += range(int(low), int(high or low) + 1)
    return numbers


def arguments(settings: Mapping[str, Any]) -> list[str]:
    """Settings as ``src/train.py`` takes them: ``name=value``."""
    values = {n: v if isinstance(v, str) else json.dumps(v, separators=(",", ":")) for n, v in settings.items()}
    return [f"{name}={value}" for name, value in values.items()]


def is_setting(option: str) -> bool:
    """Whether an option of a sweep is a setting of the run, such as model.K; one without a dot is of the answers."""
    return "." in option


@dataclass(frozen=True)
class Job:
    """One run of an experiment.

    Attributes
    ----------
    seed : of the run and of its answers
    point : its values of the sweep's options: option of the answers, or setting → value; empty without a sweep
    """

    seed: int
    point: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Name of its folder within the experiment's folder, as ``src/train.py -m`` names it."""
        return folder_name([*(f"{option}={value}" for option, value in self.point.items()), f"seed={self.seed}"])


@dataclass(frozen=True)
class Answers:
    """Answers as a run would draw or read them by itself: ``annotations=<kind>`` with its options.

    Attributes
    ----------
    kind : ``two_coin``, ``quota``, ``tasks`` or ``crowd``
    options : options of that kind (``settings/sources.py``); the others keep their defaults
    fallback : answers to simulate if these are not available
    shared : name of the set, where several experiments share these answers
    """

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    fallback: "Answers | None" = None
    shared: str | None = None

    def overrides(self, point: Mapping[str, Any] | None = None) -> list[str]:
        """Arguments of ``src/train.py``, at a point of a sweep over options."""
        options = {**self.options, **(point or {})}
        return [f"annotations={self.kind}", *arguments({f"annotations.{n}": value for n, value in options.items()})]


@dataclass(frozen=True)
class Experiment:
    """One experiment of the selected profile: the same run with several seeds, possibly for several points of a sweep.

    Attributes
    ----------
    settings : settings of ``src/train.py``, without seed, answers and run directory
    seeds : one run each, at every point of the sweep
    answers : answers that the stage ``answers`` writes, None for an experiment without answers
    sweep : option of the answers, or setting of the run (``model.K``) → its values; every combination of them is a
        point. With a sweep, even an empty one, all runs are one task in one process, which suits runs that take less
        time than a start of Python. None: a task for each seed
    needs : data sets that all runs need
    """

    name: str
    settings: Mapping[str, Any]
    seeds: tuple[int, ...]
    answers: Answers | None = None
    needs: tuple[str, ...] = field(default_factory=tuple)
    sweep: Mapping[str, Sequence[Any]] | None = None

    @property
    def overrides(self) -> list[str]:
        """The settings as arguments."""
        return arguments(self.settings)

    def command(self) -> str:
        """The command that repeats these runs by hand; each run then draws or reads its answers itself."""
        answers = self.answers.overrides() if self.answers else []
        points = [
            f"{'' if is_setting(option) else 'annotations.'}{option}={','.join(map(str, of))}"
            for option, of in (self.sweep or {}).items()
        ]
        sweep = ["-m"] if len(self.jobs) > 1 else []
        seeds = f"seed={format_ranges(self.seeds)}"
        return shlex.join(["python", "src/train.py", *sweep, *self.overrides, *answers, *points, seeds])

    def arguments(self, job: Job) -> list[str]:
        """The arguments of ``src/train.py`` that repeat one run, which then draws or reads its answers itself."""
        answers = {name: value for name, value in job.point.items() if not is_setting(name)}
        settings = {name: value for name, value in job.point.items() if is_setting(name)}
        drawn = self.answers.overrides(answers) if self.answers else []
        return [*self.overrides, *drawn, *arguments(settings), f"seed={job.seed}"]

    @property
    def jobs(self) -> list[Job]:
        """Its runs, seed after seed at each point of the sweep."""
        options = self.sweep or {}
        points = [dict(zip(options, values, strict=True)) for values in product(*options.values())]
        return [Job(seed, point) for point in points for seed in self.seeds]

    @property
    def encoded(self) -> list[str]:
        """Data sets whose codes it clusters."""
        if self.settings.get("data") != "encoded":
            return []
        swept = (self.sweep or {}).get("data.which", ())
        return [*swept] or [self.settings.get("data.which", EncodedSettings.which)]

    @property
    def answers_name(self) -> str:
        """Name of its set of answers: that of the shared set if it has one, else that of the experiment."""
        return (self.answers and self.answers.shared) or self.name

    def annotation_dir(self, job: Job) -> Path:
        """Where the stage ``answers`` writes this run's answers."""
        return ANNOTATIONS / self.answers_name / job.folder

    def run_dir(self, job: Job, results: Path = RESULTS) -> Path:
        """Where this run writes."""
        return results / self.name / job.folder


@dataclass(frozen=True)
class Plan:
    """The selected profile.

    Attributes
    ----------
    jobs : number of tasks that run at once
    together : names of experiments that one process runs one after the other, because they share their starts
    spaces : experiments of deep DPM in whose feature spaces other methods are run, too
    autoencoder : data set → numbers of steps of its autoencoder's training
    slpd : trials of the SLPD paper's tables, and which data sets they are of
    """

    profile: str
    experiments: dict[str, Experiment]
    jobs: int = 1
    together: tuple[tuple[str, ...], ...] = ()
    spaces: tuple[str, ...] = ()
    autoencoder: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    slpd: Mapping[str, Any] = field(default_factory=dict)

    def experiment(self, name: str) -> Experiment:
        """The experiment called ``name``."""
        if name not in self.experiments:
            there = ", ".join(self.experiments)
            raise UserError(f"experiment {name!r} is not in profile {self.profile}; it has {there}")
        return self.experiments[name]

    def with_answers(self, name: str) -> list[Experiment]:
        """The experiments whose set of answers is called ``name``; if there are none, the experiment of that name."""
        found = [experiment for experiment in self.experiments.values() if experiment.answers_name == name]
        return found or [self.experiment(name)]


def _answers(entry: dict[str, Any] | None, shared: str | None = None) -> Answers | None:
    if entry is None:
        return None
    options = {name: value for name, value in entry.items() if name not in ("kind", "fallback")}
    return Answers(entry["kind"], options, _answers(entry.get("fallback")), shared)


def _experiment(name: str, group: Mapping[str, Any], content: Mapping[str, Any]) -> Experiment:
    """An experiment that a group names: an entry, or ``<set>_<entry>`` with one of the shared sets of answers."""
    entries, sets = content["experiments"], content.get("answers", {})
    known = {f"{shared}_{entry}": (entry, shared) for shared in sets for entry in entries}
    known |= {entry: (entry, None) for entry in entries}
    if name not in known:
        raise UserError(f"experiment {name!r} of a group: expected one of experiments, or <answers>_<experiment>")
    entry, shared = known[name]
    said = {**group, **entries[entry]}
    return Experiment(
        name=name,
        settings=dict(said["settings"]),
        seeds=tuple(said["seeds"]),
        answers=_answers(said.get("answers") if shared is None else sets[shared], shared),
        needs=tuple(said.get("needs", ())),
        sweep=said.get("sweep"),
    )


def load_plan(path: Path = PARAMS) -> Plan:
    """Read params.yaml or a profile. An experiment has the values of its group, unless it sets its own."""
    content = _read(path)
    try:
        experiments, together = dict[str, Experiment](), list[tuple[str, ...]]()
        for group in content["groups"].values():
            for entry in group["experiments"]:
                names = (entry,) if isinstance(entry, str) else tuple(entry)
                experiments |= {name: _experiment(name, group, content) for name in names}
                if len({(experiments[name].sweep is None, experiments[name].seeds) for name in names}) > 1:
                    raise ValueError(f"{' and '.join(names)} are one task, but differ in seeds or in having a sweep")
                together += [names] if len(names) > 1 else []
        return Plan(
            str(content["profile"]), experiments, int(content.get("jobs", 1)), tuple(together),
            tuple(content.get("spaces", ())), content.get("autoencoder", {}), content.get("slpd", {}),
        )  # fmt: skip
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        expected = "expected profile, groups of experiments with seeds, and experiments with settings"
        raise UserError(f"{path}: {expected} ({error})") from None


def _read(path: Path) -> dict[str, Any]:
    """A profile, merged with its ``base``: the path of another profile, relative to its folder and without .yaml.

    The profile has only the values that differ. A value replaces that of the base, null removes it, and ``<name>+``
    adds to a list.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: not found") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: no valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected a mapping: a profile, or base (the path of another one) and what differs")
    base = content.pop("base", None)
    return content if base is None else _merged(_read(path.parent / f"{base}.yaml"), content)


def _merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in own.items():
        if (key.endswith("+") or value is None) and key.removesuffix("+") not in merged:
            raise UserError(f"{key}: the base profile has no {key.removesuffix('+')}")
        if key.endswith("+"):
            merged[key[:-1]] = [*merged[key[:-1]], *value]
        elif value is None:
            merged.pop(key)
        else:
            below = merged.get(key)
            nested = isinstance(value, Mapping) and isinstance(below, Mapping)
            merged[key] = _merged(below or {}, value) if nested else value
    return merged


def profile_path(name: str) -> Path:
    """File of a profile."""
    path = PROFILES / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(path.stem for path in PROFILES.glob("*.yaml")))
        raise UserError(f"unknown profile {name!r}: expected one of {known}")
    return path


def select_profile(name: str) -> None:
    """Make the profile called ``name`` the base of params.yaml; the rest of params.yaml is not changed."""
    chosen = f"base: {profile_path(name).with_suffix('').as_posix()}"
    text = PARAMS.read_text(encoding="utf-8") if PARAMS.is_file() else f"{chosen}\n"
    if not _BASE.search(text):
        raise UserError(f"{PARAMS}: has no line base: …, which names a profile; expected {chosen}")
    write_text(PARAMS, _BASE.sub(chosen, text, count=1))
