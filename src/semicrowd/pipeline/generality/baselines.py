"""Baselines of the generality suite, each run in several ways, of which the best one counts.

A method of the literature should be run here at least as well as an expert for this method would run it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


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
#: Name → how it is run. The baselines are given the true number of clusters.
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
