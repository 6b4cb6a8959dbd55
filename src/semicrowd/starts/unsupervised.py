"""Clusters of the features alone, in their first preparation: patches of images, else standardised columns.

Neither modularity nor silhouette can tell which preparation is best.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from semicrowd.starts.initial_clusters import default_max_clusters
from semicrowd.starts.item_classifiers import LabelPropagation
from semicrowd.starts.of_features import clusters_of_features
from semicrowd.starts.preparing import Prepared, preparations


class Unsupervised(NamedTuple):
    """Clusters of the features alone.

    Attributes
    ----------
    memberships : cluster probabilities
    preparations : the preparation that was used, by name
    description : how the clusters were made, in a few words
    """

    memberships: Float[np.ndarray, "N K"]
    preparations: dict[str, Prepared]
    description: str


def clusters_of_preparations(
    features: Float[np.ndarray, "N D"],
    rng: np.random.Generator,
    progress: Callable[[str], None],
    max_clusters: int | None = None,
    image_shape: Sequence[int] | None = None,
    indicators: Sequence[int] = (),
) -> Unsupervised:
    """At most ``max_clusters`` clusters of the items; ``image_shape`` is given if they are images."""
    name, preparation = next(preparations(features, image_shape, indicators), ("none", None))
    if preparation is None:
        return Unsupervised(np.ones((len(features), 1)), {}, "no feature varies: one cluster")
    x = preparation.items
    max_clusters = min(max_clusters or default_max_clusters(len(features)), len(features) - 1)
    clusters, description = clusters_of_features(x, max(max_clusters, 2), rng)
    progress(f"{description} of {name} features")
    known = np.eye(int(clusters.max()) + 1)[clusters]
    # Probabilities by label propagation, averaged with the clusters so that the most probable cluster stays.
    near = LabelPropagation(x).out_of_sample(np.arange(len(x)), known, np.arange(len(x)) % 2)
    memberships = 0.5 * (known + near)
    return Unsupervised(memberships, {name: preparation}, f"{description} of {name} features")
