"""Features as classifiers take them, in more than one way: which is right for data nobody can say beforehand.

Embeddings have columns in one unit, which scaling would spoil; tables have columns in units of their own, which would
hide each other unscaled; of texts and pictures the direction may say more than the length.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from semicrowd.data.preparation import components
from semicrowd.random import stream

#: Items that two preparations are compared on, and the correlation of their distances from which on they are one.
_COMPARED, _THE_SAME = 300, 0.98
#: A spread of this many rounding errors of the rows' length is none.
_ROUNDING = 100.0


def preparations(features: Float[np.ndarray, "N D"]) -> Iterator[tuple[str, Pipeline]]:
    """Names and fitted preparations, each fitted when it is asked for; none where no column varies.

    ``standardised`` gives every column variance 1, ``raw`` leaves them, ``unit`` gives every row length 1. All of them
    then take principal components. ``raw`` and ``unit`` are left out where the distances between items are nearly those
    of a preparation before, and where nothing varies but rounding: rows that are multiples of one another, made of
    length 1.
    """
    # Centred before principal components are: far from 0 their covariance would be rounding.
    ways = {"standardised": [], "raw": [], "unit": [Normalizer()]}
    distances: list[np.ndarray] = []
    some = stream(0, "preparing/compared").permutation(len(features))[:_COMPARED]
    for name, steps in ways.items():
        scale = StandardScaler(with_std=name == "standardised")
        pipeline = components(features, *steps, scale, svd_solver="auto")
        if pipeline is None:
            return
        pair = pipeline.fit(features).transform(features[some])
        squared = ((pair[:, None] - pair[None]) ** 2).sum(-1)[np.triu_indices(len(some), 1)]
        lengths = np.square(pipeline[:-2].transform(features[some])).sum(1)
        rounding = _ROUNDING * np.finfo(lengths.dtype).eps
        varies = squared.std() > 0 and squared.max() > rounding**2 * lengths.max()
        if not distances or (varies and all(_differ(squared, other) for other in distances)):
            distances.append(squared)
            yield name, pipeline


def _differ(squared: Float[np.ndarray, "P"], other: Float[np.ndarray, "P"]) -> bool:
    return other.std() == 0 or bool(np.corrcoef(squared, other)[0, 1] < _THE_SAME)


def prepared(pipeline: Pipeline, features: Float[np.ndarray, "N D"]) -> Float[np.ndarray, "N C"]:
    """Principal components, scaled as a whole so that their mean variance is 1."""
    size = np.sqrt(pipeline[-1].explained_variance_.mean())
    return np.ascontiguousarray(pipeline.transform(features) / size, dtype=np.float64)
