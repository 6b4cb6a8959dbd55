"""Features on one scale, whatever units their columns came in; fitted to the items, and kept with the model."""

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

#: Most principal components that are kept.
MOST = 100


def fit_preparation(features: np.ndarray) -> Pipeline | None:
    """Constant columns out, the others standardised, then their principal components (the first :data:`MOST`).

    Clusters then depend neither on the units of columns nor on their order: a principal axis points to where its
    items reach furthest.

    Parameters
    ----------
    features : [N, D]

    Returns
    -------
    Pipeline or None
        None where no column varies: there is nothing to prepare.
    """
    pipeline = components(features, StandardScaler(), svd_solver="full")
    if pipeline is None:
        return None
    skew = (pipeline.fit_transform(features.astype(np.float64)) ** 3).sum(0)
    pipeline[-1].components_ *= np.where(skew < 0, -1.0, 1.0)[:, None]
    return pipeline


def components(features: np.ndarray, *steps: Any, svd_solver: str) -> Pipeline | None:
    """Not fitted: constant columns out, then ``steps``, then the first :data:`MOST` components; None of nothing."""
    # As VarianceThreshold counts: the variance of tiny numbers can be 0 where they differ.
    varying = int((np.minimum(np.ptp(features, axis=0), features.var(0)) > 0).sum())
    if not varying:
        return None
    kept = min(varying, MOST, max(len(features) - 1, 1))
    return make_pipeline(VarianceThreshold(), *steps, PCA(kept, svd_solver=svd_solver, random_state=0))


def prepared(pipeline: Pipeline | None, features: np.ndarray) -> np.ndarray:
    """Features [N, D] as a model takes them, float32."""
    transformed = features if pipeline is None else pipeline.transform(features.astype(np.float64))
    return np.ascontiguousarray(transformed, dtype=np.float32)
