"""Clusters that may hold items of two classes: people tell their items apart more often than those of others."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.starts.selection import mean_difference

#: Standard errors by which the share of answers "different" has to exceed that in the other clusters.
_MIN_Z_VALUE = 3.0


@dataclass(frozen=True)
class Mixed:
    """A cluster that may hold items of two classes.

    Attributes
    ----------
    number : label of the cluster
    answers : number of answers about two of its items
    different : share of "different" among these answers
    elsewhere : the same share among the answers about two items of another cluster
    """

    number: int
    answers: int
    different: float
    elsewhere: float


def mixed_clusters(cluster: Int[np.ndarray, "N"], answers: PairAnnotations) -> Iterator[Mixed]:
    """Clusters in which the share of answers "different" is significantly higher than in the other clusters together.

    Parameters
    ----------
    cluster : of all items
    """
    own = cluster[answers.i]
    inside = own == cluster[answers.j]
    for number in np.unique(own[inside]).tolist():
        here, others = inside & (own == number), inside & (own != number)
        if not others.any():
            return
        some = answers.some(here)
        different, elsewhere = 1.0 - some.label, 1.0 - float(answers.label[others].mean())
        # Of answers that share items, as in the selection of a candidate; at least that of independent answers.
        ahead, error = mean_difference(different, np.full(len(different), elsewhere), some)
        share = (different.sum() + (1 - answers.label[others]).sum()) / (len(different) + others.sum())
        chance = np.sqrt(share * (1 - share) * (1 / len(different) + 1 / others.sum()))
        if ahead > _MIN_Z_VALUE * max(error, chance):
            yield Mixed(number, len(different), float(different.mean()), elsewhere)
