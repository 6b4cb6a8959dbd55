"""Preparation of features, so that the units of columns do not matter; fitted to the items and saved with the model."""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

#: Maximal number of principal components that are kept.
MAX_COMPONENTS = 100


class ColumnScaler(StandardScaler):
    """Standardisation in which a category counts as much as one number, however many values it has.

    Scaled one by one, the one-hot columns of a category with m values would have the weight of m numbers, and clusters
    would be the values of that category. Here they share a scale, with which their variances add up to 1. The expected
    squared distance of two items is then 2 by a category as by a number (as in Gower's (1971) distance, all columns
    have equal weight). Without one-hot columns this is a StandardScaler.

    Parameters
    ----------
    weights : [D], with which the squared difference of two items in each column is multiplied; None: all are 1
    indicators : columns of 0 and 1 that mark missing numbers. Divided by its own standard deviation, that of a gap in 3
        of 100 items would set these 6 apart, more than any number does, and they would be a cluster. Here the squared
        distance of an item with a gap to one without is 2, as of two items in different categories
    """

    def __init__(
        self, *, with_mean: bool = True, with_std: bool = True, weights: np.ndarray | None = None,
        indicators: Sequence[int] = (),
    ) -> None:  # fmt: skip
        super().__init__(with_mean=with_mean, with_std=with_std)
        self.weights = weights
        self.indicators = indicators

    def fit(self, X: np.ndarray, y: Any = None, sample_weight: np.ndarray | None = None) -> Self:
        """Fit to items [N, D]."""
        self.scale_: Any
        super().fit(X, y, sample_weight)
        if self.with_std:
            for columns in one_hot_columns(X):
                self.scale_[columns] = np.sqrt(self.var_[columns].sum())
            self.scale_[list(self.indicators)] = np.sqrt(0.5)
        if self.weights is not None:
            with np.errstate(divide="ignore"):  # a column of weight 0 is divided by infinity
                self.scale_ = self.scale_ / np.sqrt(self.weights)
        return self


def one_hot_columns(features: np.ndarray) -> Iterator[slice]:
    """Runs of adjacent columns of zeros and ones, of which exactly one is 1 in every row.

    Parameters
    ----------
    features : [N, D]
    """
    binary = ((features == 0) | (features == 1)).all(0)
    # The ones of a category add up to the number of items; a column of other numbers is in no category.
    total = np.cumsum(np.where(binary, np.count_nonzero(features, axis=0), len(features) + 1))
    first = 0
    while first < len(total):
        wanted = (total[first - 1] if first else 0) + len(features)
        last = int(np.searchsorted(total, wanted))
        found = first < last < len(total) and total[last] == wanted
        if found and (features[:, first : last + 1].sum(1) == 1).all():
            yield slice(first, last + 1)
            first = last
        first += 1


def first_columns(features: np.ndarray) -> np.ndarray:
    """The first column of each category and each other column, of features [N, D]."""
    others = [np.arange(one.start + 1, one.stop) for one in one_hot_columns(features)]
    return np.setdiff1d(np.arange(features.shape[1]), np.concatenate([[], *others]))


def fit_preparation(features: np.ndarray, indicators: Sequence[int] = ()) -> Pipeline | None:
    """Drop constant columns, standardise the others, and take their first :data:`MAX_COMPONENTS` principal components.

    Columns are standardised by :class:`ColumnScaler`. Clusters then depend neither on the units of columns nor on
    their order. The sign of each principal axis is chosen so that the items are skewed to its positive side.

    Parameters
    ----------
    features : [N, D]
    indicators : columns that mark missing numbers

    Returns
    -------
    Pipeline or None
        None if no column varies.
    """
    pipeline = components(features, ColumnScaler(indicators=among_varying(features, indicators)), svd_solver="full")
    if pipeline is None:
        return None
    skew = (pipeline.fit_transform(features.astype(np.float64)) ** 3).sum(0)
    pipeline[-1].components_ *= np.where(skew < 0, -1.0, 1.0)[:, None]
    return pipeline


def components(features: np.ndarray, *steps: Any, svd_solver: str) -> Pipeline | None:
    """A pipeline, not fitted, that drops constant columns and applies ``steps`` and PCA; None if no column varies."""
    varying = int(_varies(features).sum())
    if not varying:
        return None
    kept = min(varying, MAX_COMPONENTS, max(len(features) - 1, 1))
    return make_pipeline(VarianceThreshold(), *steps, PCA(kept, svd_solver=svd_solver, random_state=0))


def _varies(features: np.ndarray) -> np.ndarray:
    """The condition of VarianceThreshold: the variance of different tiny numbers can be 0."""
    varies: np.ndarray = np.minimum(np.ptp(features, axis=0), features.var(0)) > 0
    return varies


def among_varying(features: np.ndarray, indicators: Sequence[int]) -> tuple[int, ...]:
    """Numbers of some columns among those that vary; without those that do not."""
    if not len(indicators):
        return ()
    varies = _varies(features)
    return tuple(int(varies[:column].sum()) for column in indicators if varies[column])


def prepared(pipeline: Pipeline | None, features: np.ndarray) -> np.ndarray:
    """Features [N, D] as a model takes them, float32."""
    transformed = features if pipeline is None else pipeline.transform(features.astype(np.float64))
    return np.ascontiguousarray(transformed, dtype=np.float32)
