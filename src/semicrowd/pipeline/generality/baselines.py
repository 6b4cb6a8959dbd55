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


def _variants(baseline: str) -> dict[str, Variant]:
    """Two variants: raw and standardised columns."""
    return {f"{baseline}_{name}": Variant(baseline, scaled) for name, scaled in (("raw", False), ("scaled", True))}


#: Switches off the estimator's own standardisation, since the suite scales the columns or leaves them raw.
_AS_GIVEN = {"standardize": False}
#: Name → how it is run. The baselines are given the true number of clusters.
VARIANTS: dict[str, Variant] = {
    **_variants("kmeans"),
    **_variants("gmm"),
    **{
        f"crowd_logistic_{columns}{suffix}": Variant("crowd_logistic", scaled, _AS_GIVEN, predicted)
        for columns, scaled in (("raw", False), ("scaled", True))
        for suffix, predicted in (("", False), ("_predict", True))
    },
    **{
        f"mcvc_{columns}_{views}": Variant("mcvc", scaled, {**_AS_GIVEN, "n_views": number})
        for columns, scaled in (("raw", False), ("scaled", True))
        for views, number in (("one", 1), ("five", 5))
    },
    **_variants("constrained_kmeans"),
}
#: Baseline → its variants.
BASELINES: dict[str, tuple[str, ...]] = {
    baseline: tuple(name for name, variant in VARIANTS.items() if variant.baseline == baseline)
    for baseline in dict.fromkeys(variant.baseline for variant in VARIANTS.values())
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
