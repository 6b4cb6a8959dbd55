"""Features as classifiers take them, in more than one way: which is right for data nobody can say beforehand.

Embeddings have columns in one unit, which scaling would spoil; tables have columns in units of their own, which would
hide each other unscaled; of texts and pictures the direction may say more than the length; of images neighbouring
pixels say more together than each alone.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from semicrowd.data.preparation import components
from semicrowd.random import stream
from semicrowd.starts.patches import PatchFeatures, has_patches

#: Items that two preparations are compared on.
_COMPARED = 300
#: Correlation of their distances from which on two preparations are one.
_THE_SAME = 0.98
#: A spread of this many rounding errors of the rows' length is none.
_ROUNDING = 100.0
#: Images whose patches are in memory together.
_PIECE = 4096


class Prepared(NamedTuple):
    """Features prepared in one way.

    Attributes
    ----------
    pipeline : fitted, for further items
    items : [N, C] the items it was fitted to, as :func:`prepared` gives them
    """

    pipeline: Pipeline
    items: np.ndarray


def preparations(
    features: Float[np.ndarray, "N D"], image_shape: Sequence[int] | None = None
) -> Iterator[tuple[str, Prepared]]:
    """Names and preparations, the most telling first, each made when it is asked for; none where no column varies.

    ``patches``, of images, says what their parts look like (:mod:`semicrowd.starts.patches`). ``standardised`` gives
    every column variance 1, ``raw`` leaves them, ``unit`` gives every row length 1. All of them then take principal
    components. ``raw`` and ``unit`` are left out where the distances between items are nearly those of a preparation
    before, and where nothing varies but rounding: rows that are multiples of one another, made of length 1.

    Parameters
    ----------
    image_shape : (height, width) or (colours, height, width) where a row is an image
    """
    if has_patches(image_shape):
        assert image_shape is not None
        patches = PatchFeatures(tuple(image_shape)).fit(features)
        seen = patches.transform(features)
        rest = components(seen, StandardScaler(), svd_solver="auto")
        if rest is not None:
            rest.fit(seen)
            yield "patches", Prepared(make_pipeline(patches, *rest), _scaled(rest, seen))
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
            yield name, Prepared(pipeline, prepared(pipeline, features))


def _differ(squared: Float[np.ndarray, "P"], other: Float[np.ndarray, "P"]) -> bool:
    return other.std() == 0 or bool(np.corrcoef(squared, other)[0, 1] < _THE_SAME)


def prepared(pipeline: Pipeline, features: Float[np.ndarray, "N D"]) -> Float[np.ndarray, "N C"]:
    """Principal components, scaled as a whole so that their mean variance is 1."""
    if not isinstance(pipeline[0], PatchFeatures):
        return _scaled(pipeline, features)
    pieces = (features[first : first + _PIECE] for first in range(0, len(features), _PIECE))
    return np.concatenate([_scaled(pipeline, piece) for piece in pieces])


def _scaled(pipeline: Pipeline, features: np.ndarray) -> np.ndarray:
    size = np.sqrt(pipeline[-1].explained_variance_.mean())
    return np.ascontiguousarray(pipeline.transform(features) / size, dtype=np.float64)
