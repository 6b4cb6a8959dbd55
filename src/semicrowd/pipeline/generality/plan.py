"""What the generality suite measures: data sets, regimes of answers, methods."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from semicrowd.defaults.facts import Facts
from semicrowd.defaults.rule import recipe
from semicrowd.errors import UserError
from semicrowd.estimators import ESTIMATORS
from semicrowd.settings.fields import nearest

#: Items that are drawn of a larger table, for time.
_DRAWN = 2000
#: Fewest items with answers, in tables that are small.
_FEWEST = 20
#: Placements of an annotated item in tasks; annotators who are asked about pairs.
_PLACEMENTS, _ASKED = 3, 10
_TASK_SIZE = (12, 20)


@dataclass(frozen=True)
class Table:
    """A data set of the suite.

    Attributes
    ----------
    loader, options : of :func:`semicrowd.data.load_dataset`
    regimes : those that it is measured under; None: all that are not of one table alone
    """

    loader: str = "benchmark"
    options: Mapping[str, Any] = field(default_factory=dict)
    regimes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Regime:
    """How answers are simulated.

    Attributes
    ----------
    kind : of answers: ``none``, ``two_coin`` (pairs), ``tasks``
    share : of the items that get answers, at least 20 of them
    options : others, of the kind
    """

    kind: str
    share: float = 0.2
    options: Mapping[str, Any] = field(default_factory=dict)

    def settings(self, num_items: int) -> dict[str, Any]:
        """Options of :func:`semicrowd.data.answers.load_annotations`.

        Pairs: ten annotators, ten answers for each annotated item. Tasks: groupings of 12 to 20 items, each annotated
        item in three of them, an annotator for every four tasks (3 to 30 annotators).
        """
        if self.kind == "none":
            return {}
        annotated = min(num_items, max(_FEWEST, round(self.share * num_items)))
        if self.kind == "two_coin":
            return {
                "num_annotators": _ASKED, "pairs_per_annotator": annotated, "num_annotated": annotated, **self.options
            }  # fmt: skip
        tasks = math.ceil(_PLACEMENTS * annotated / (sum(_TASK_SIZE) / 2))
        return {
            "num_annotated": annotated, "num_tasks": tasks, "num_annotators": min(tasks, max(3, min(30, tasks // 4))),
            "task_size": _TASK_SIZE, "sensitivity": 1.0, "specificity": 1.0, **self.options,
        }  # fmt: skip


def _letters(first: str, last: str) -> list[str]:
    return [chr(code) for code in range(ord(first), ord(last) + 1)]


#: On these decisions are made.
DEVELOPMENT: dict[str, Table] = {
    "iris": Table(options={"which": "iris"}),
    "wine": Table(options={"which": "wine"}),
    "digits": Table(options={"which": "digits"}),
    "pen": Table(options={"which": "pen", "subset": _DRAWN}),
    "letter_first": Table(options={"which": "letter", "classes": _letters("A", "J"), "subset": _DRAWN}),
    "pinwheel": Table("pinwheel"),
    "face": Table("face"),
    "mnist": Table("mnist", {"subset": _DRAWN}),
    "families": Table(options={"which": "families"}, regimes=("hard",)),
}
#: These are looked at once, at the end: nothing may be decided on them.
LOCKED: dict[str, Table] = {
    "letter_last": Table(options={"which": "letter", "classes": _letters("Q", "Z"), "subset": _DRAWN}),
    "leukaemia": Table(options={"which": "leukaemia", "columns": 500}),
    "lung": Table(options={"which": "lung", "columns": 500}),
    "activities": Table(options={"which": "activities", "subset": _DRAWN}),
    "texts": Table(options={"which": "texts", "subset": _DRAWN}),
    "wifi_1": Table(options={"which": "wifi_1", "subset": _DRAWN}),
    "wifi_11": Table(options={"which": "wifi_11", "subset": _DRAWN}),
    "wifi_14": Table(options={"which": "wifi_14"}),
}

#: Errors that come on top of those that a regime is named after.
_SOME = 0.05
REGIMES: dict[str, Regime] = {
    "pairs90": Regime("two_coin", options={"sensitivity": 0.9, "specificity": 0.9}),
    "pairs75": Regime("two_coin", options={"sensitivity": 0.75, "specificity": 0.75}),
    "misplaced5": Regime("tasks", 0.05, {"misplaced": 0.1}),
    "misplaced": Regime("tasks", options={"misplaced": 0.1}),
    "misplaced100": Regime("tasks", 1.0, {"misplaced": 0.1}),
    "merging": Regime("tasks", options={"merging": 0.5, "misplaced": _SOME}),
    "guessing": Regime("tasks", options={"guessing": 1 / 3, "misplaced": _SOME}),
    "none": Regime("none"),
    # Of 4,500 items in 14 kinds: real groupings of people, whose kinds are often confused.
    "hard": Regime(
        "tasks", 800 / 4500,
        {"num_tasks": 350, "num_annotators": 50, "sensitivity": 0.87, "specificity": 0.77, "families": 4, "alike": 0.7},
    ),
}  # fmt: skip
#: Regimes of one table alone.
_OWN = ("hard",)

#: Ours get no number of clusters.
OURS = ("bayes", "scdc")
#: These are told the true number.
BASELINES = ("kmeans", "gmm", "crowd_logistic", "mcvc", "constrained_kmeans")
#: Methods that have been given less than they could use, and why.
BOUNDS = {
    "gmm": "three starts; of more than 50 features the first 50 principal components",
}
#: Baselines after each feature has been given mean 0 and variance 1, on request.
SCALED = ("kmeans_scaled", "gmm_scaled")


@dataclass(frozen=True)
class Cell:
    """One fit."""

    data: str
    regime: str
    method: str
    seed: int

    @property
    def name(self) -> str:
        """Of its file."""
        return f"{self.data}/{self.regime}/{self.method}/{self.seed}"

    @property
    def table(self) -> Table:
        """Its data set."""
        return (DEVELOPMENT | LOCKED)[self.data]

    @property
    def estimator(self) -> str:
        """Its method's name among the estimators."""
        return base_of(self.method).removesuffix("_scaled")

    @property
    def settings(self) -> dict[str, Any]:
        """What a variant of one of ours sets, by dotted name."""
        return settings_of(self.method)


def base_of(method: str) -> str:
    """The method that ``method`` is a variant of: ``scdc`` of ``scdc[model.latent_dim=4]``; itself without brackets."""
    return method.partition("[")[0]


def settings_of(method: str) -> dict[str, Any]:
    """Dotted name → value of a variant, ``scdc[model.latent_dim=4;epochs=0]``; none without brackets.

    Raises
    ------
    UserError
        For brackets that hold something else, of a method that is not one of ours, and for what that cannot be set to.
    """
    base = base_of(method)
    if base == method:
        return {}
    match = re.fullmatch(r"\w+\[([\w.]+=[^;=/]*(?:;[\w.]+=[^;=/]*)*)\]", method)
    if match is None or base not in OURS:
        raise UserError(f"--methods {method}: expected {' or '.join(OURS)} with [name=value;name=value]")
    given = {name: yaml.safe_load(value) for name, _, value in (one.partition("=") for one in match[1].split(";"))}
    recipe(base, given, Facts(num_items=1000, num_features=10))
    return given


def cells(
    data: Sequence[str], regimes: Sequence[str], methods: Sequence[str], seeds: Sequence[int], *, locked: bool
) -> Iterator[Cell]:
    """The fits that are asked for; those of a method that needs answers under ``none`` are left out.

    Raises
    ------
    UserError
        For a name that there is not, and for a locked data set without ``locked``.
    """
    if not locked and (shut := [name for name in data if name in LOCKED]):
        raise UserError(f"--data {shut[0]}: a locked data set, which is looked at once, at the end; with --locked")
    _check("--data", data, LOCKED if locked else DEVELOPMENT)
    _check("--regimes", regimes, REGIMES)
    _check("--methods", [base_of(method) for method in methods], [*ESTIMATORS, *SCALED])
    for method in methods:
        settings_of(method)
    # A variant is compared with what it varies.
    methods = list(dict.fromkeys([*(base_of(method) for method in methods if base_of(method) in OURS), *methods]))
    tables = DEVELOPMENT | LOCKED
    for seed in seeds:
        for name in data:
            own = tables[name].regimes
            for regime in regimes:
                if regime not in own if own is not None else regime in _OWN:
                    continue
                for method in methods:
                    cell = Cell(name, regime, method, seed)
                    if regime != "none" or not ESTIMATORS[cell.estimator].requires_answers:
                        yield cell


def _check(option: str, given: Sequence[str], there: Mapping[str, Any] | Sequence[str]) -> None:
    for name in given:
        if name not in there:
            raise UserError(f"{option} {name}: no such name{nearest(name, there)}; there are {', '.join(there)}")
