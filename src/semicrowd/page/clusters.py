"""What a report shows of each cluster: size, certainty, distinctive features, typical and uncertain items."""

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from sklearn.metrics.pairwise import nan_euclidean_distances

from semicrowd.data.preparation import ColumnScaler
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
#: Standardised mean differences below the first are not shown (0.2 is "small" on Cohen's scale), above the second cut.
_LEAST, _LARGEST = 0.2, 99.0


class Distances:
    """Squared distances of items to cluster means, in dimensions that ColumnScaler has scaled.

    Dimensions in which an item has a missing value are left out of its distances, which the others make up for.

    Attributes
    ----------
    numbers : [K] clusters that have items
    group : [N] position of each item's cluster in ``numbers``
    own, other : [N] squared distance to the mean of the item's cluster, and to the nearest other mean
    nearest : [N] position of the cluster of this other mean
    """

    def __init__(self, place: Float[np.ndarray, "N d"], cluster: Int[np.ndarray, "N"]) -> None:
        """Of the clusters [N] of items that lie at ``place``: latent means, or the features."""
        self.numbers, self.group = np.unique(cluster, return_inverse=True)
        scaled = ColumnScaler().fit_transform(place)
        groups = [np.flatnonzero(self.group == k) for k in range(len(self.numbers))]
        centres = np.stack([pd.DataFrame(scaled[rows]).mean().fillna(0).to_numpy(np.float64) for rows in groups])
        self.own, self.other = np.empty((2, len(cluster)))
        self.nearest = np.empty(len(cluster), np.int64)
        for k, rows in enumerate(groups):  # the distances of all items at once may not fit in memory
            squared = np.nan_to_num(nan_euclidean_distances(scaled[rows], centres, squared=True))
            self.own[rows] = squared[:, k]
            squared[:, k] = np.inf
            self.nearest[rows], self.other[rows] = squared.argmin(1), squared.min(1)

    @property
    def ambiguity(self) -> Float[np.ndarray, "N"]:
        """2 a / (a + b), where a is the distance to the own mean and b to the nearest other one.

        It is 0 of an item at its own mean, 1 of one that is as near to another, up to 2 of one that is nearer to it. Of
        a single cluster: the distance to its mean over the largest.
        """
        if len(self.numbers) == 1:
            return self.own / max(float(self.own.max()), 1e-300)
        total = self.own + self.other
        return np.divide(2 * self.own, total, out=np.ones(len(total)), where=total > 0)


def typical_items(
    assignment: Assignment, distance: Distances, k: int, first: Bool[np.ndarray, "N"] | None = None
) -> Int[np.ndarray, "n"]:
    """At most eight items of the cluster at position k, nearest to its mean in the half of them that is surer.

    Items of this half that are ``first`` come before all others.
    """
    own = np.flatnonzero(distance.group == k)
    probability = np.nan_to_num(assignment.probability[own], nan=1.0)  # of a method without probabilities: all
    surer = own[probability >= np.median(probability)]
    later = np.zeros(len(surer), bool) if first is None else ~first[surer]
    return surer[np.lexsort((distance.own[surer], later))[:_SHOWN]]


def clusters(items: Items, assignment: Assignment, distance: Distances, annotated: np.ndarray) -> list[dict[str, Any]]:
    """All clusters that have items, the largest first.

    Each has its number, size, share of all items, mean probability, shares of uncertain and annotated items, traits,
    columns with which its items are shown, typical items, and the least certain ones, which are those with the lowest
    probabilities, or nearly as near to another mean where there are none.

    A trait is a feature whose mean inside the cluster differs from its mean in all other items. The difference is
    standardised: (inside − outside) / s, where s² is the mean of both variances. Of a feature that is 0 or 1 for each
    item the mean is a share. Pictures have no traits.

    Parameters
    ----------
    distance : of the items to the means of these clusters
    annotated : [N] bool, whether there are answers about an item
    """
    sizes, found = np.bincount(distance.group), []
    known = bool(np.isfinite(assignment.probability).all())
    doubt = 1 - assignment.probability if known else distance.ambiguity
    with_traits = len(sizes) > 1 and not items.have_pictures
    means = _standardised(items.data.features, distance.group) if with_traits else None
    for k in np.argsort(-sizes, kind="stable").tolist():
        own = np.flatnonzero(distance.group == k)
        traits: list[dict[str, Any]] = []
        columns: dict[str, None] = {}  # each once
        if means is not None:
            inside, outside, difference = (one[k] for one in means)
            order = np.argsort(-np.abs(difference), kind="stable")[: 4 * _TRAITS]
            order = order[np.abs(difference[order]) >= _LEAST]
            traits = [
                {"name": items.feature_names[d], "inside": inside[d], "outside": outside[d],
                 "difference": difference[d], "share": np.isin(items.data.features[:, d], (0, 1)).all()}
                for d in order[:_TRAITS]
            ]  # fmt: skip
            columns = dict.fromkeys(items.columns[d][0] for d in order)
        typical = typical_items(assignment, distance, k)
        unsure = own[np.argsort(-doubt[own], kind="stable")[:_SHOWN]]
        found.append({
            "number": distance.numbers[k], "size": len(own), "share": len(own) / len(distance.group),
            "probability": assignment.probability[own].mean(), "annotated": annotated[own].mean(),
            "uncertain": (assignment.probability[own] < SURE).mean() if known else np.nan,
            "traits": traits, "columns": list(columns)[:_TRAITS], "typical": typical.tolist(),
            "least_certain": unsure[~np.isin(unsure, typical)].tolist(),
        })  # fmt: skip
    return found


def _standardised(
    features: Float[np.ndarray, "N D"], group: Int[np.ndarray, "N"]
) -> tuple[Float[np.ndarray, "K D"], Float[np.ndarray, "K D"], Float[np.ndarray, "K D"]]:
    """Means inside and outside each cluster, and their standardised differences: 0 where a side has no value."""
    centre, spread = (moment(features, axis=0, dtype=np.float64) for moment in (np.nanmean, np.nanstd))
    spread = np.where(spread > 1e-12 * np.abs(centre), spread, np.nan)  # a constant feature sets nothing apart
    frame = pd.DataFrame((features - centre) / spread)
    sums = [of.groupby(group).sum() for of in (frame.notna(), frame, frame**2)]

    def moments(count: pd.DataFrame, total: pd.DataFrame, squares: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
        mean = total / count
        return mean, (squares / count - mean**2).clip(lower=0)

    (inside, own), (outside, others) = moments(*sums), moments(*(one.sum() - one for one in sums))
    difference = ((inside - outside) / np.sqrt((own + others) / 2)).clip(-_LARGEST, _LARGEST).fillna(0.0)
    return (centre + spread * inside).to_numpy(), (centre + spread * outside).to_numpy(), difference.to_numpy()
