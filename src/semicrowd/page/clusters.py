"""Description of each cluster for a report: size, certainty, distinctive features, typical and uncertain items."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from semicrowd.data.preparation import one_hot_columns
from semicrowd.page.items import Items
from semicrowd.result import Assignment

#: An item is called uncertain if the probability of its cluster is below this.
SURE = 0.9
#: Maximal number of typical items, and of uncertain items, that are shown of a cluster.
_SHOWN = 8
#: Items are shown of at most this many clusters, the largest ones.
MAX_CLUSTERS = 25
#: Maximal number of distinctive features of a cluster, and of table columns with which its items are shown.
_TRAITS = 5
#: Standardised mean differences below this are not shown; 0.2 is "small" on Cohen's scale.
_LEAST = 0.2
#: Standardised mean differences are clipped to ± this.
_LARGEST = 99.0


@dataclass(frozen=True)
class Trait:
    """A feature whose mean in a cluster differs from its mean in all other items.

    Attributes
    ----------
    name : name of the feature
    inside, outside : mean of the feature in the cluster, and in all other items
    difference : standardised mean difference: (inside − outside) / s, where s² is the mean of the feature's variance in
        the cluster and its variance in all other items
    share : whether the feature is 0 or 1 for each item, so that its mean is a share of items
    """

    name: str
    inside: float
    outside: float
    difference: float
    share: bool


@dataclass(frozen=True)
class Cluster:
    """A cluster of the result.

    Attributes
    ----------
    number, size : label of the cluster, and its number of items
    share : share of all items that are in this cluster; with weights of items, share of their sum
    sure : mean of its items' cluster probabilities; None for a method without probabilities
    uncertain : share of its items with a probability below :data:`SURE`; None for a method without probabilities
    annotated : share of its items with answers
    traits : its distinctive features, the largest difference first; empty for images
    columns : columns of the table with which its items are shown
    typical : items nearest to the cluster mean, among the half of its items with the higher probabilities
    least_certain : items with the lowest probabilities; for a method without probabilities, those whose distance to
        the nearest other cluster mean is hardly larger than to their own
    """

    number: int
    size: int
    share: float
    sure: float | None
    uncertain: float | None
    annotated: float
    traits: tuple[Trait, ...]
    columns: tuple[str, ...]
    typical: tuple[int, ...]
    least_certain: tuple[int, ...]


def clusters(
    items: Items, assignment: Assignment, distance: "Distances", annotated: np.ndarray
) -> Iterator[Cluster]:
    """All clusters that have items, the largest first.

    Parameters
    ----------
    distance : of the items to the means of these clusters
    annotated : [N] bool, whether there are answers about an item
    """
    numbers, group = distance.numbers, distance.group
    sizes = np.bincount(group)
    known = bool(np.isfinite(assignment.probability).all())
    differences = None if items.have_pictures else Differences(items.data.features, group)
    names, shares = (items.feature_names, items.shares) if differences is not None else ([], np.zeros(0, bool))
    for k in np.argsort(-sizes, kind="stable").tolist():
        own = np.flatnonzero(group == k)
        probability = assignment.probability[own]
        traits: tuple[Trait, ...] = ()
        columns: tuple[str, ...] = ()
        if differences is not None and len(numbers) > 1:
            difference, outside = differences.of(k), differences.outside(k)
            order = _largest(difference)
            traits = tuple(
                Trait(names[d], float(differences.inside[k, d]), float(outside[d]),
                      float(np.clip(difference[d], -_LARGEST, _LARGEST)), bool(shares[d]))
                for d in order[:_TRAITS]
            )  # fmt: skip
            columns = tuple(items.columns_of(order, _TRAITS))
        margin = probability if known else distance.margin(k)
        typical = typical_items(assignment, distance, k)
        unsure = own[np.argsort(margin, kind="stable")[:_SHOWN]]
        yield Cluster(
            int(numbers[k]), len(own), float(sizes[k] / len(group)), float(probability.mean()) if known else None,
            float((probability < SURE).mean()) if known else None, float(annotated[own].mean()), traits, columns,
            tuple(typical.tolist()), tuple(unsure[~np.isin(unsure, typical)].tolist()),
        )  # fmt: skip


def typical_items(
    assignment: Assignment, distance: "Distances", k: int, first: Bool[np.ndarray, "N"] | None = None
) -> Int[np.ndarray, "n"]:
    """At most eight typical items of the cluster at position k of ``distance.numbers``, the most typical first.

    They are those nearest to its mean, among the half of its items with the higher probabilities.

    Parameters
    ----------
    first : items that come before all others of the half; None: all are alike
    """
    own = np.flatnonzero(distance.group == k)
    probability = np.nan_to_num(assignment.probability[own], nan=1.0)  # of a method without probabilities: all
    surer = own[probability >= np.median(probability)]
    later = np.zeros(len(surer), bool) if first is None else ~first[surer]
    return surer[np.lexsort((distance.to_own(surer), later))[:_SHOWN]]


class Distances:
    """Squared distances of items to cluster means, each dimension divided by its standard deviation.

    A category counts as one dimension, as in :class:`semicrowd.data.preparation.ColumnScaler`. Dimensions in which an
    item has a missing value are left out of its distances.

    Attributes
    ----------
    numbers : [K] clusters that have items
    group : [N] position of each item's cluster in ``numbers``
    """

    def __init__(self, place: Float[np.ndarray, "N d"], cluster: Int[np.ndarray, "N"]) -> None:
        """Of the clusters [N] of items that lie at ``place``: latent means, or the features."""
        self.numbers, self.group = np.unique(cluster, return_inverse=True)
        spread = np.nanstd(place, axis=0, dtype=np.float64)
        for category in one_hot_columns(place):
            spread[category] = np.sqrt(np.square(spread[category]).sum())
        self._scale = np.where(spread > 0, 1 / np.maximum(spread, 1e-300), 0.0)
        self._place = place
        of = (place[self.group == k] for k in range(len(self.numbers)))
        self._centres = np.stack([np.nansum(x, 0, np.float64) / np.maximum((~np.isnan(x)).sum(0), 1) for x in of])

    def to_own(self, rows: np.ndarray) -> np.ndarray:
        """[rows] squared distance of items to the mean of their own cluster."""
        return self._to(rows, self._centres[self.group[rows]])

    def margin(self, k: int) -> np.ndarray:
        """(b − a) / (a + b) of the items of cluster k, from −1 to 1.

        a is the squared distance to the mean of cluster k, b to the nearest other mean.
        """
        rows, others = np.flatnonzero(self.group == k), np.delete(self._centres, k, axis=0)
        if not len(others):
            return np.ones(len(rows))
        own, other = self._to(rows, self._centres[k]), np.min([self._to(rows, centre) for centre in others], axis=0)
        return np.divide(other - own, other + own, out=np.zeros(len(rows)), where=other + own > 0)

    @cached_property
    def ambiguity(self) -> Float[np.ndarray, "N"]:
        """1 of an item that is as near to another mean as to its own or nearer, 0 at its own.

        Of a single cluster: the distance to its mean over the largest.
        """
        if len(self.numbers) == 1:
            own = self.to_own(np.arange(len(self.group)))
            return own / max(float(own.max()), 1e-300)
        found = np.empty(len(self.group))
        for k in range(len(self.numbers)):
            found[self.group == k] = 1 - np.clip(self.margin(k), 0, 1)
        return found

    def nearest_other(self, item: int) -> int:
        """Position of the cluster other than its own whose mean is nearest to an item."""
        each = [float(self._to(np.array([item]), centre)[0]) for centre in self._centres]
        each[self.group[item]] = np.inf
        return int(np.argmin(each))

    def _to(self, rows: np.ndarray, centre: np.ndarray) -> np.ndarray:
        return (np.nan_to_num((self._place[rows] - centre) * self._scale) ** 2).sum(1)


class Differences:
    """Means of all features inside and outside each cluster, and the standardised differences of these means."""

    def __init__(self, features: Float[np.ndarray, "N D"], group: Int[np.ndarray, "N"]) -> None:
        shape = int(group.max()) + 1, features.shape[1]
        self._count, self._sum, self._within = (np.zeros(shape) for _ in range(3))
        self.inside = np.zeros(shape)
        for k in range(shape[0]):  # one cluster at a time, because a float64 copy of all features may not fit in memory
            one = features[group == k].astype(np.float64)
            self._count[k], self._sum[k] = (~np.isnan(one)).sum(0), np.nansum(one, axis=0)
            self.inside[k] = self._sum[k] / np.maximum(self._count[k], 1)
            self._within[k] = np.nansum((one - self.inside[k]) ** 2, axis=0)  # centred, against cancellation

    def outside(self, k: int) -> np.ndarray:
        """[D] means of the items outside cluster k."""
        count = self._count.sum(0) - self._count[k]
        return (self._sum.sum(0) - self._sum[k]) / np.maximum(count, 1)

    def of(self, k: int) -> np.ndarray:
        """[D] standardised mean differences; 0 for features that have no value inside or no value outside cluster k."""
        outside, others = self.outside(k), np.arange(len(self._count)) != k
        left = self._count[others].sum(0)
        between = (self._count[others] * (self.inside[others] - outside) ** 2).sum(0)
        variance = (self._within[others].sum(0) + between) / np.maximum(left, 1)
        own = self._within[k] / np.maximum(self._count[k], 1)
        spread, difference = np.sqrt((variance + own) / 2), self.inside[k] - outside
        there = (self._count[k] > 0) & (left > 0)
        constant = np.sign(difference) * _LARGEST  # for features that are constant inside and outside
        standardised = np.divide(difference, spread, out=constant, where=spread > 1e-12 * np.abs(self.inside[k]))
        return np.where(there, standardised, 0.0)


def _largest(difference: np.ndarray) -> list[int]:
    size = np.abs(difference)
    order = np.argsort(-size, kind="stable")
    return [int(d) for d in order[: 4 * _TRAITS] if size[d] >= _LEAST]
