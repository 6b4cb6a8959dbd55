"""What the generality suite measures: data sets × regimes of answers × methods × seeds."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from semicrowd.errors import UserError, nearest
from semicrowd.estimators import ESTIMATORS
from semicrowd.pipeline.generality.tables import DEVELOPMENT, LOCKED, OWN, REGIMES, TABLES, Table
from semicrowd.settings.rule import Facts, fit_settings


@dataclass(frozen=True)
class Variant:
    """One way to run a baseline.

    Attributes
    ----------
    baseline : name of the baseline and of its estimator
    scaled : whether each column is standardised to mean 0 and variance 1
    options : parameters of the estimator
    predicted : whether all items, also those with answers, get the clusters predicted from their features
    """

    baseline: str
    scaled: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    predicted: bool = False


#: Switches off the estimator's own standardisation, since the suite scales the columns or leaves them raw.
_AS_GIVEN = {"standardize": False}
#: Baseline → ends of the names of its variants → parameters. Each is run on raw and on standardised columns.
_KINDS: dict[str, dict[str, dict[str, Any]]] = {
    "kmeans": {"": {}},
    "gmm": {"": {}},
    "crowd_logistic": {"": _AS_GIVEN, "_predict": _AS_GIVEN},
    "mcvc": {"_one": {**_AS_GIVEN, "n_views": 1}, "_five": {**_AS_GIVEN, "n_views": 5}},
    "constrained_kmeans": {"": {}},
}
#: Name → how it is run: at least as well as an expert for this method would. Baselines are given the true number of
#: clusters.
VARIANTS: dict[str, Variant] = {
    f"{baseline}_{columns}{end}": Variant(baseline, columns == "scaled", options, end == "_predict")
    for baseline, kinds in _KINDS.items()
    for columns in ("raw", "scaled")
    for end, options in kinds.items()
}
#: Baseline → its variants.
BASELINES: dict[str, tuple[str, ...]] = {
    baseline: tuple(name for name, variant in VARIANTS.items() if variant.baseline == baseline)
    for baseline in _KINDS
}
#: What the variants are, for the reader.
EXPLAINED = (
    "Each baseline is run in several variants. In each cell the variant with the highest mean NMI counts, so it is "
    "chosen with hindsight, too. All baselines are run on raw and on standardised columns, MCVC with one view and with "
    "five, answers + LR with the clusters of its graph and with its own prediction of all items."
)
#: Limits on how some methods are run, to save time.
BOUNDS = {
    "gmm": "three initialisations; data of more than 50 features are reduced to 50 principal components",
}


def expanded(methods: Iterable[str]) -> list[str]:
    """The methods, in which each baseline is replaced by its variants."""
    return list(dict.fromkeys(name for method in methods for name in BASELINES.get(method, (method,))))


#: Our methods, which are not given the number of clusters. The name of any estimator that needs none can be added.
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
        """Path of its file within the folder of cells, without the suffix."""
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
        """How the method is run: a variant of a baseline, or the method itself."""
        return VARIANTS.get(self.method, Variant(base_of(self.method)))

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of a variant of one of our methods, by dotted name."""
        return settings_of(self.method)


def base_of(method: str) -> str:
    """The method that ``method`` is a variant of: ``scdc`` of ``scdc[model.latent_dim=4]``; itself without brackets."""
    return method.partition("[")[0]


def settings_of(method: str) -> dict[str, Any]:
    """Dotted name → value of a variant, ``scdc[model.latent_dim=4;epochs=0]``; none without brackets.

    Raises
    ------
    UserError
        For brackets with other content or after a method that is not ours, and for wrong settings.
    """
    base = base_of(method)
    if base == method:
        return {}
    match = re.fullmatch(r"\w+\[([\w.]+=[^;=/]*(?:;[\w.]+=[^;=/]*)*)\]", method)
    if match is None or base not in OURS:
        raise UserError(f"--methods {method}: expected {' or '.join(OURS)} with [name=value;name=value]")
    try:
        given = {name: yaml.safe_load(value) for name, _, value in (one.partition("=") for one in match[1].split(";"))}
    except yaml.YAMLError:
        raise UserError(f"--methods {method}: a value is not valid YAML") from None
    fit_settings(base, given, Facts(num_items=1000, num_features=10, num_classes=2))
    return given


def cells(
    data: Sequence[str], regimes: Sequence[str], methods: Sequence[str], seeds: Sequence[int], *, locked: bool
) -> Iterator[Cell]:
    """The requested fits; under the regime ``none``, methods that need answers are left out.

    A baseline stands for all of its variants.

    Raises
    ------
    UserError
        For an unknown name, and for a locked data set without ``locked``.
    """
    if not locked and (shut := [name for name in data if name in LOCKED]):
        raise UserError(f"--data {shut[0]}: a locked data set, which is evaluated once, at the end; needs --locked")
    _check("--data", data, LOCKED if locked else DEVELOPMENT)
    _check("--regimes", regimes, REGIMES)
    _check("--methods", [base_of(method) for method in methods], [*ESTIMATORS, *VARIANTS])
    methods = expanded(methods)
    for method in methods:
        settings_of(method)
    # A variant is compared with the method that it varies, which therefore must be run, too.
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
