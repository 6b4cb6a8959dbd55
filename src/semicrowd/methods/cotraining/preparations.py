"""Several preparations of the features for classifiers: which suits a data set is not known beforehand.

Columns of tables have different units, and need scaling; some of them have nothing to do with what people were asked,
and need a small weight (:func:`weighted`); columns of embeddings share a unit, so that scaling would lose their
relative variances, and the direction of a row may be more informative than its length, as for texts and pictures; for
images patches are more informative than single pixels (:class:`PatchFeatures`).
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import minimize
from scipy.spatial.distance import pdist
from scipy.special import expit
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import MiniBatchKMeans
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from threadpoolctl import threadpool_limits
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d, unfold

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.preparation import ColumnScaler, among_varying, components, first_columns
from semicrowd.random import stream

#: Items on which the distances under two preparations are compared.
_COMPARED_ITEMS = 300
#: Correlation of these distances from which on two preparations count as the same.
_SAME_CORRELATION = 0.98
#: Distances of fewer rounding errors of the rows' length than this count as 0.
_ROUNDING_ERRORS = 100.0
#: Name of the preparation that gives every column variance 1.
STANDARDISED = "standardised"
#: Name of the preparation that depends on the answers.
WEIGHTED = "weighted"
#: Images whose patches are in memory together.
_PIECE = 4096
#: Answers that are used, at most.
_MAX_ANSWERS = 10_000
#: Answers × columns, at most: 128 MiB.
_MAX_VALUES = 2**24
#: Maximal number of means of k-means.
MEANS = 400
#: Number of parts along each side of an image, over which features are pooled.
PARTS = 3
#: Number of random patches to which k-means is fitted.
DRAWN = 50_000
#: Approximate number of patches along the shorter side of an image of any size.
ALONG = 16
#: Least distance of neighbouring patches, in pixels.
LEAST_STRIDE = 2
#: Images whose shorter side has fewer pixels have no patch features.
LEAST_SIDE = 12
#: Added to a patch's variance in the contrast normalisation, as a share of the variance of all pixels.
_CONTRAST = 0.0025
#: Added to the eigenvalues of the patches' covariance in the whitening.
_WHITENING = 0.1
#: Number of images that are processed together.
_IMAGES = 32


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

    ``patches``, for images, has features of their parts. ``standardised`` gives every column variance 1, ``unit`` every
    row length 1, and leaves columns as they are. Principal components follow in each. ``unit`` is left out if the
    distances between items are nearly those of ``standardised``, or nothing but rounding, as for rows that are
    multiples of one another.

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
    steps_by_name = {STANDARDISED: [], "unit": [Normalizer()]}
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
    """Standardised columns with weights by the answers (:func:`column_weights`).

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


def column_weights(
    x: Float[np.ndarray, "n D"], answers: PairAnnotations, first: Int[np.ndarray, "G"]
) -> Float[np.ndarray, "D"]:
    """Weights r of the columns by the answers.

    p(same) = logit⁻¹(b − s/G Σ_g r_g Σ_d∈g ½ (x_id − x_jd)²), r_g >= 0, with the prior r_g ~ N(1, 1): with few answers,
    or many columns, weights stay near 1. Answers about the same items are not independent: all together count as no
    more than one for each item. b and s >= 0 have the highest likelihood under equal weights, then b and r
    the highest posterior density. If people's answers do not depend on the distance, s is 0 and r is 1.

    Parameters
    ----------
    x : the annotated items, columns on one scale
    first : first column of each of G groups of adjacent columns that have the same weight, such as a category
    """
    number = min(answers.num_pairs, _MAX_ANSWERS, max(_MAX_VALUES // x.shape[1], 1))
    some = stream(0, "weighting/answers").permutation(answers.num_pairs)[:number]
    same = answers.label[some].astype(np.float64)
    i, j = (np.searchsorted(answers.annotated, ends[some]) for ends in (answers.i, answers.j))
    distance = 0.5 * np.square(x[i] - x[j], dtype=np.float64)
    distance = np.add.reduceat(distance, first, axis=1)
    mean = distance.mean(1, keepdims=True)
    offset, scale = _regression(mean, same, np.array([0.0, 1.0]), precision=0.0)
    distance *= scale / len(first)
    precision = max(1.0, number / len(x))
    weights = _regression(distance, same, np.r_[offset, np.ones(len(first))], precision)[1:]
    return np.repeat(weights, np.diff(np.r_[first, x.shape[1]]))


def _regression(
    distance: Float[np.ndarray, "P D"], same: Float[np.ndarray, "P"], first: Float[np.ndarray, "D+1"], precision: float
) -> Float[np.ndarray, "D+1"]:
    """Offset b and weights r >= 0 with the prior N(1, 1 / precision) of the weights; ``first``: initial values."""

    def loss(b_and_r: np.ndarray) -> tuple[float, np.ndarray]:
        logit, off = b_and_r[0] - distance @ b_and_r[1:], b_and_r[1:] - 1
        error = expit(logit) - same
        value = np.logaddexp(0, logit).sum() - same @ logit + 0.5 * precision * (off @ off)
        return value, np.r_[error.sum(), precision * off - error @ distance]

    bounds = [(None, None), *[(0, None)] * distance.shape[1]]
    found: np.ndarray = minimize(loss, first, jac=True, bounds=bounds, method="L-BFGS-B").x
    return found


def has_patches(image_shape: Sequence[int] | None) -> bool:
    """Whether rows are images that are large enough for patches."""
    return image_shape is not None and min(image_shape[-2:]) >= LEAST_SIDE


class PatchFeatures(TransformerMixin, BaseEstimator):
    """Images [N, D] → similarity of each of nine parts to each mean patch, [N, 9 × means].

    Parameters
    ----------
    image_shape : (height, width) or (colours, height, width)
    seed : of the random patches and of k-means

    Attributes
    ----------
    eps_ : added to the variance of a patch in the contrast normalisation
    mean_, whitening_ : of the patches, [C] and [C, C]
    means_ : [means, C], of the whitened patches
    """

    def __init__(self, image_shape: Sequence[int] = (28, 28), seed: int = 0) -> None:
        self.image_shape = image_shape
        self.seed = seed

    @property
    def _geometry(self) -> tuple[tuple[int, ...], int, int]:
        *colours, height, width = self.image_shape
        stride = max(LEAST_STRIDE, round(min(height, width) / ALONG))
        return (*(colours or (1,)), height, width), stride, 2 * stride + 1

    def fit(self, X: Float[np.ndarray, "N D"], y: Any = None) -> Self:  # noqa: ARG002 - as scikit-learn has it
        """Fit the whitening and the means of the patches."""
        shape, _, side = self._geometry
        rng = stream(self.seed, "patches")
        self.eps_ = float(_CONTRAST * X.var()) or 1.0
        image = rng.integers(len(X), size=DRAWN)
        top, left = (rng.integers(size - side + 1, size=DRAWN) for size in shape[1:])
        windows = np.lib.stride_tricks.sliding_window_view(X.reshape(-1, *shape), (side, side), (2, 3))
        # torch.unfold has the colours outermost as well.
        drawn = torch.from_numpy(windows[image, :, top, left].reshape(DRAWN, -1)).float()
        patches = self._one_contrast(drawn)
        self.mean_ = patches.mean(0).numpy()
        values, axes = torch.linalg.eigh(torch.cov(patches.T))
        self.whitening_ = ((axes / (values.clamp(min=0) + _WHITENING).sqrt()) @ axes.T).numpy()
        with threadpool_limits(1):  # with more threads sums have another order, and the result differs
            kmeans = MiniBatchKMeans(
                min(MEANS, len(X)), batch_size=4096, n_init=1, max_iter=15, random_state=self.seed
            ).fit(self._whitened(patches).numpy())
        self.means_ = kmeans.cluster_centers_.astype(np.float32)
        return self

    def transform(self, X: Float[np.ndarray, "N D"]) -> Float[np.ndarray, "N F"]:
        """Similarity to each mean, averaged over each part."""
        shape, stride, side = self._geometry
        means = torch.from_numpy(self.means_)
        squares, pooled = means.square().sum(1), []
        for first in range(0, len(X), _IMAGES):
            images = torch.from_numpy(np.ascontiguousarray(X[first : first + _IMAGES])).float().reshape(-1, *shape)
            windows = unfold(images, side, stride=stride).transpose(1, 2)
            patches = self._whitened(self._one_contrast(windows.flatten(0, 1)))
            distance = torch.addmm(squares, patches, means.T, alpha=-2)
            distance = distance.add_(patches.square().sum(1, keepdim=True)).clamp_(min=0).sqrt_()
            nearer = (distance.mean(1, keepdim=True) - distance).clamp_(min=0)
            height, width = ((size - side) // stride + 1 for size in shape[1:])
            maps = nearer.reshape(len(images), height, width, -1).movedim(-1, 1)
            pooled.append(adaptive_avg_pool2d(maps, PARTS).flatten(1))
        return torch.cat(pooled).numpy()

    def _one_contrast(self, patches: Tensor) -> Tensor:
        centred = patches - patches.mean(1, keepdim=True)
        return centred / (centred.square().mean(1, keepdim=True) + self.eps_).sqrt()

    def _whitened(self, patches: Tensor) -> Tensor:
        return (patches - torch.from_numpy(self.mean_)) @ torch.from_numpy(self.whitening_)
