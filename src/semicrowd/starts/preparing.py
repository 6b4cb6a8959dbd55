"""Features as classifiers take them, in more than one way: which is right for data nobody can say beforehand.

Embeddings have columns in one unit, which scaling would spoil; tables have columns in units of their own, which would
hide each other unscaled; of texts and pictures the direction may say more than the length.
"""

import numpy as np
from jaxtyping import Float
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from semicrowd.data.preparation import components

#: Items that two preparations are compared on, and the correlation of their distances from which on they are one.
_COMPARED, _THE_SAME = 300, 0.98


def preparations(features: Float[np.ndarray, "N D"]) -> dict[str, Pipeline]:
    """Name → fitted preparation; those that change no distance much are left out, none of constant features.

    ``standardised`` gives every column variance 1, ``raw`` leaves them, ``unit`` gives every row length 1. All of them
    then take principal components.
    """
    ways = {"standardised": [StandardScaler()], "raw": [], "unit": [Normalizer()]}
    found: dict[str, Pipeline] = {}
    distances: list[np.ndarray] = []
    some = np.linspace(0, len(features) - 1, min(_COMPARED, len(features))).astype(int)
    for name, steps in ways.items():
        pipeline = components(features, *steps, svd_solver="auto")
        if pipeline is None:
            break
        prepared = pipeline.fit_transform(features)
        pair = prepared[some]
        squared = ((pair[:, None] - pair[None]) ** 2).sum(-1)[np.triu_indices(len(some), 1)]
        if squared.std() > 0 and all(np.corrcoef(squared, other)[0, 1] < _THE_SAME for other in distances):
            distances.append(squared)
            found[name] = pipeline
    return found


def prepared(pipeline: Pipeline, features: Float[np.ndarray, "N D"]) -> Float[np.ndarray, "N C"]:
    """Principal components, scaled as a whole so that their mean variance is 1."""
    size = np.sqrt(pipeline[-1].explained_variance_.mean())
    return np.ascontiguousarray(pipeline.transform(features) / size, dtype=np.float64)
