"""Baselines of the generality suite, each run in several ways, of which the best one counts.

What a method of the literature gets here should not be worse than what somebody who knows it would give it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Variant:
    """One way to run a baseline.

    Attributes
    ----------
    baseline : its name, which is its estimator's too
    scaled : whether each column has been given mean 0 and variance 1
    options : of the estimator
    predicted : whether all items count as it predicts them from their features, those with answers too
    """

    baseline: str
    scaled: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    predicted: bool = False


def _variants(baseline: str) -> dict[str, Variant]:
    """Raw and standardised columns."""
    return {f"{baseline}_{name}": Variant(baseline, scaled) for name, scaled in (("raw", False), ("scaled", True))}


#: Its own standardisation is switched off where it has one: the columns are as the suite gives them.
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
    "Each baseline counts with the best of several variants in each cell, by the mean NMI, so that it is chosen with "
    "hindsight, too: all of them on raw and on standardised columns; MCVC with one view and with five; answers + LR "
    "by the clusters of its graph, and by its own prediction of all items."
)
#: Methods that have been given less than they could use, and why.
BOUNDS = {
    "gmm": "three starts; of more than 50 features the first 50 principal components",
}


def expanded(methods: Iterable[str]) -> list[str]:
    """Methods with the variants of a baseline in its place."""
    return list(dict.fromkeys(name for method in methods for name in BASELINES.get(method, (method,))))
