"""Clusters of the features alone, in one preparation: neither modularity nor silhouette tells which is best.

It is the first one: the patches of images, else standardised columns.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from semicrowd.starts.of_features import clusters_of_features
from semicrowd.starts.portfolio import most_clusters
from semicrowd.starts.preparing import Prepared, preparations
from semicrowd.starts.spreading import NeighbourSpread


class Unsupervised(NamedTuple):
    """What the features alone have led to.

    Attributes
    ----------
    memberships : [N, K] probabilities
    preparations : of the features, by name: the one that was used
    said : what the clusters are, in a few words
    """

    memberships: np.ndarray
    preparations: dict[str, Prepared]
    said: str


def clusters_of_preparations(
    features: Float[np.ndarray, "N D"],
    rng: np.random.Generator,
    say: Callable[[str], None],
    most: int | None = None,
    image_shape: Sequence[int] | None = None,
) -> Unsupervised:
    """At most ``most`` clusters of the items, which are images where they have an ``image_shape``."""
    name, way = next(preparations(features, image_shape), ("none", None))
    if way is None:
        return Unsupervised(np.ones((len(features), 1)), {}, "no feature varies: one cluster")
    x = way.items
    most = min(most or most_clusters(len(features)), len(features) - 1)
    clusters, said = clusters_of_features(x, max(most, 2), rng)
    say(f"{said} of {name} features")
    known = np.eye(int(clusters.max()) + 1)[clusters]
    # An item is of its cluster as far as its neighbours are; the clusters themselves stay.
    near = NeighbourSpread(x).out_of_sample(np.arange(len(x)), known, np.arange(len(x)) % 2)
    memberships = 0.5 * (known + near)
    return Unsupervised(memberships, {name: way}, f"{said} of {name} features")
