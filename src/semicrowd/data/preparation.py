"""Preparation of features, so that the units of columns do not matter; fitted to the items and saved with the model."""

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

#: Maximal number of principal components that are kept.
MAX_COMPONENTS = 100


def fit_preparation(features: np.ndarray) -> Pipeline | None:
    """Drop constant columns, standardise the others, and take their first :data:`MAX_COMPONENTS` principal components.

    Clusters then depend neither on the units of columns nor on their order. The sign of each principal axis is chosen
    so that the items are skewed to its positive side.

    Parameters
    ----------
    features : [N, D]

    Returns
    -------
    Pipeline or None
        None if no column varies.
    """
    pipeline = components(features, StandardScaler(), svd_solver="full")
    if pipeline is None:
        return None
    skew = (pipeline.fit_transform(features.astype(np.float64)) ** 3).sum(0)
    pipeline[-1].components_ *= np.where(skew < 0, -1.0, 1.0)[:, None]
    return pipeline


def components(features: np.ndarray, *steps: Any, svd_solver: str) -> Pipeline | None:
    """A pipeline, not fitted, that drops constant columns and applies ``steps`` and PCA; None if no column varies."""
    # The condition of VarianceThreshold: the variance of different tiny numbers can be 0.
    varying = int((np.minimum(np.ptp(features, axis=0), features.var(0)) > 0).sum())
    if not varying:
        return None
    kept = min(varying, MAX_COMPONENTS, max(len(features) - 1, 1))
    return make_pipeline(VarianceThreshold(), *steps, PCA(kept, svd_solver=svd_solver, random_state=0))


def prepared(pipeline: Pipeline | None, features: np.ndarray) -> np.ndarray:
    """Features [N, D] as a model takes them, float32."""
    transformed = features if pipeline is None else pipeline.transform(features.astype(np.float64))
    return np.ascontiguousarray(transformed, dtype=np.float32)
