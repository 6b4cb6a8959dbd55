"""What the generality suite measures: data sets × regimes of answers × methods × seeds."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from semicrowd.defaults.facts import Facts
from semicrowd.defaults.resolution import fit_settings
from semicrowd.errors import UserError
from semicrowd.estimators import ESTIMATORS
from semicrowd.pipeline.generality.baselines import VARIANTS, Variant, expanded
from semicrowd.pipeline.generality.regimes import OWN, REGIMES
from semicrowd.pipeline.generality.tables import DEVELOPMENT, LOCKED, TABLES, Table
from semicrowd.settings.fields import nearest

#: Ours get no number of clusters. A name here, of any estimator that needs none, is all that the suite asks for.
OURS = ("cotrain", "scdc", "bayes")


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
        return TABLES[self.data]

    @property
    def estimator(self) -> str:
        """Its method's name among the estimators."""
        return self.variant.baseline

    @property
    def variant(self) -> Variant:
        """The variant of a baseline, which is given the number of clusters."""
        return VARIANTS.get(self.method, Variant(base_of(self.method)))

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
    fit_settings(base, given, Facts(num_items=1000, num_features=10, num_classes=2))
    return given


def parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a method without a rule for its settings: ``model.max_iter`` is ``max_iter``."""
    return {name.removeprefix("model."): value for name, value in given.items()}


def cells(
    data: Sequence[str], regimes: Sequence[str], methods: Sequence[str], seeds: Sequence[int], *, locked: bool
) -> Iterator[Cell]:
    """The fits that are asked for; those of a method that needs answers under ``none`` are left out.

    A baseline stands for all of its variants.

    Raises
    ------
    UserError
        For a name that there is not, and for a locked data set without ``locked``.
    """
    if not locked and (shut := [name for name in data if name in LOCKED]):
        raise UserError(f"--data {shut[0]}: a locked data set, which is looked at once, at the end; with --locked")
    _check("--data", data, LOCKED if locked else DEVELOPMENT)
    _check("--regimes", regimes, REGIMES)
    _check("--methods", [base_of(method) for method in methods], [*ESTIMATORS, *VARIANTS])
    methods = expanded(methods)
    for method in methods:
        settings_of(method)
    # A variant is compared with what it varies.
    methods = list(dict.fromkeys([*(base_of(method) for method in methods if base_of(method) in OURS), *methods]))
    for seed in seeds:
        for name in data:
            own = TABLES[name].regimes
            for regime in regimes:
                if regime not in own if own is not None else regime in OWN:
                    continue
                for method in methods:
                    cell = Cell(name, regime, method, seed)
                    if regime != "none" or not ESTIMATORS[cell.estimator].requires_answers:
                        yield cell


def _check(option: str, given: Sequence[str], there: Mapping[str, Any] | Sequence[str]) -> None:
    for name in given:
        if name not in there:
            raise UserError(f"{option} {name}: no such name{nearest(name, there)}; there are {', '.join(there)}")
