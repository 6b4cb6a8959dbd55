"""Clusters of the features alone, standardised: neither modularity nor silhouette tells which preparation is best."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from sklearn.pipeline import Pipeline

from semicrowd.starts.of_features import clusters_of_features
from semicrowd.starts.portfolio import most_clusters
from semicrowd.starts.preparing import preparations, prepared
from semicrowd.starts.spreading import NeighbourSpread


class Unsupervised(NamedTuple):
    """What the features alone have led to.

    Attributes
    ----------
    memberships : [N, K] probabilities
    preparations, prepared : of the features, by name: the first, standardised one
    said : what the clusters are, in a few words
    """

    memberships: np.ndarray
    preparations: dict[str, Pipeline]
    prepared: dict[str, np.ndarray]
    said: str


def clusters_of_preparations(
    features: Float[np.ndarray, "N D"], rng: np.random.Generator, say: Callable[[str], None], most: int | None = None
) -> Unsupervised:
    """At most ``most`` clusters of the items."""
    name, pipeline = next(preparations(features), ("none", None))
    if pipeline is None:
        return Unsupervised(np.ones((len(features), 1)), {}, {}, "no feature varies: one cluster")
    x = prepared(pipeline, features)
    most = min(most or most_clusters(len(features)), len(features) - 1)
    clusters, said = clusters_of_features(x, max(most, 2), rng)
    say(f"{said} of {name} features")
    known = np.eye(int(clusters.max()) + 1)[clusters]
    # An item is of its cluster as far as its neighbours are; the clusters themselves stay.
    near = NeighbourSpread(x).out_of_sample(np.arange(len(x)), known, np.arange(len(x)) % 2)
    memberships = 0.5 * (known + near)
    return Unsupervised(memberships, {name: pipeline}, {name: x}, f"{said} of {name} features")
