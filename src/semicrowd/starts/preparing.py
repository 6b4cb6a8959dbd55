"""Several preparations of the features for classifiers: which suits a data set is not known beforehand.

Columns of embeddings share a unit, and scaling would lose their relative variances; columns of tables have different
units, and need scaling; some of them have nothing to do with what people were asked, and need a small weight; for texts
and pictures the direction of a row may be more informative than its length; for images patches are more informative
than single pixels.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial.distance import pdist
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.preparation import ColumnScaler, among_varying, components, first_columns
from semicrowd.random import stream
from semicrowd.starts.patches import PatchFeatures, has_patches
from semicrowd.starts.weighting import column_weights

#: Items on which the distances under two preparations are compared.
_COMPARED_ITEMS = 300
#: Correlation of these distances from which on two preparations count as the same.
_SAME_CORRELATION = 0.98
#: Distances of fewer rounding errors of the rows' length than this count as 0.
_ROUNDING_ERRORS = 100.0
#: Name of the preparation that gives every column variance 1.
STANDARDISED = "standardised"
#: Images whose patches are in memory together.
_PIECE = 4096


class Prepared(NamedTuple):
    """Features prepared in one way.

    Attributes
    ----------
    pipeline : fitted, for further items
    items : the items it was fitted to, as :func:`prepared` gives them
    """

    pipeline: Pipeline
    items: Float[np.ndarray, "N C"]


def preparations(
    features: Float[np.ndarray, "N D"], image_shape: Sequence[int] | None = None, indicators: Sequence[int] = ()
) -> Iterator[tuple[str, Prepared]]:
    """Names and preparations, by falling priority, each computed when it is requested; none if no column varies.

    ``patches``, for images, has features of their parts (:mod:`semicrowd.starts.patches`). ``standardised`` gives
    every column variance 1, ``raw`` leaves columns as they are, ``unit`` gives every row length 1. Principal components
    follow in each. ``raw`` and ``unit`` are left out if the distances between items are nearly those of an earlier
    preparation, or nothing but rounding, as for rows that are multiples of one another, scaled to length 1.

    Parameters
    ----------
    image_shape : (height, width) or (colours, height, width) where a row is an image
    indicators : columns that mark missing numbers
    """
    marks = among_varying(features, indicators)
    if has_patches(image_shape):
        assert image_shape is not None
        patches = PatchFeatures(tuple(image_shape)).fit(features)
        seen = patches.transform(features)
        rest = components(seen, StandardScaler(), svd_solver="auto")
        if rest is not None:
            rest.fit(seen)
            yield "patches", Prepared(make_pipeline(patches, *rest), _scaled(rest, seen))
    # Centred before PCA: with means far from 0 the covariance would be dominated by rounding errors.
    steps_by_name = {STANDARDISED: [], "raw": [], "unit": [Normalizer()]}
    distances: list[np.ndarray] = []
    some = _compared_items(len(features))
    for name, steps in steps_by_name.items():
        scale = ColumnScaler(with_std=name == STANDARDISED, indicators=marks)
        pipeline = components(features, *steps, scale, svd_solver="auto")
        if pipeline is None:
            return
        squared = pdist(pipeline.fit(features).transform(features[some]), "sqeuclidean")
        lengths = np.square(pipeline[:-2].transform(features[some])).sum(1)
        rounding = _ROUNDING_ERRORS * np.finfo(lengths.dtype).eps
        varies = squared.std() > 0 and squared.max() > rounding**2 * lengths.max()
        if not distances or (varies and all(_differ(squared, other) for other in distances)):
            distances.append(squared)
            yield name, Prepared(pipeline, prepared(pipeline, features))


def weighted(
    features: Float[np.ndarray, "N D"], standardised: Pipeline, answers: PairAnnotations
) -> Prepared | None:
    """Standardised columns with weights by the answers (:mod:`semicrowd.starts.weighting`).

    None if the distances between items are nearly those of equal weights.

    Parameters
    ----------
    standardised : the preparation of this name, fitted to the features
    """
    columns = standardised[:-1]
    groups = first_columns(columns[0].transform(features))
    weights = column_weights(columns.transform(features[answers.annotated]), answers, groups)
    compared = columns.transform(features[_compared_items(len(features))])
    distances = [pdist(x, "sqeuclidean") for x in (compared * np.sqrt(weights), compared)]
    if not (all(one.std() > 0 for one in distances) and _differ(*distances)):
        return None
    pipeline = components(features, ColumnScaler(weights=weights, indicators=columns[-1].indicators), svd_solver="auto")
    assert pipeline is not None
    return Prepared(pipeline.fit(features), prepared(pipeline, features))


def _compared_items(number: int) -> Int[np.ndarray, "n"]:
    return stream(0, "preparing/compared").permutation(number)[:_COMPARED_ITEMS]


def _differ(squared: Float[np.ndarray, "P"], other: Float[np.ndarray, "P"]) -> bool:
    return other.std() == 0 or bool(np.corrcoef(squared, other)[0, 1] < _SAME_CORRELATION)


def prepared(pipeline: Pipeline, features: Float[np.ndarray, "N D"]) -> Float[np.ndarray, "N C"]:
    """Principal components, scaled as a whole so that their mean variance is 1."""
    if not isinstance(pipeline[0], PatchFeatures):
        return _scaled(pipeline, features)
    pieces = (features[first : first + _PIECE] for first in range(0, len(features), _PIECE))
    return np.concatenate([_scaled(pipeline, piece) for piece in pieces])


def _scaled(pipeline: Pipeline, features: np.ndarray) -> np.ndarray:
    size = np.sqrt(pipeline[-1].explained_variance_.mean())
    return np.ascontiguousarray(pipeline.transform(features) / size, dtype=np.float64)
