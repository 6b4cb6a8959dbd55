"""Methods that can go on from the clusters of an earlier fit."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd

from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.estimators.frames import names_of_rows
from semicrowd.fitting.monitor import Monitor


class ContinuedClusterer(CrowdClusterer):
    """With more answers or more items the clusters of an earlier fit are a start, and their numbers are kept."""

    #: Clusters [N] of an earlier fit, −1 of items that are new; None without one.
    _previous: np.ndarray | None = None

    def fit(
        self, X: Any, y: Any = None, pairs: Any = None, *, previous: Any = None, monitor: Monitor | None = None
    ) -> Self:
        """Cluster the rows of X with the help of answers about them.

        Parameters
        ----------
        X : [N, D] numbers, an array, a sparse matrix, or a data frame, whose categories and gaps are made numbers
            (:func:`semicrowd.estimators.frames.items_to_fit`)
        y : answers, too, as the second argument. Labels, one for each item, are not used, as in scikit-learn's own
            clusterings; without ``pairs`` a warning says so
        pairs : answers about the rows of X, as PairAnnotations, array, data frame or path of a csv file; see
            :func:`semicrowd.estimators.inputs.checked_answers`. They call the rows as the index of a data frame does,
            if that is more than 0, 1, 2, …
        previous : clusters of an earlier fit: [N] whole numbers, −1 of a row that is new, or a series that calls its
            items as the index of X does, such as ``pd.Series(before.labels_, index=…)``. Co-training begins with them,
            beside other starts, and clusters keep their numbers. ``pairs`` are all answers, old and new
        monitor : takes curves, keeps checkpoints; None: nothing is kept

        Raises
        ------
        UserError
            For parameters out of range, items or answers that cannot be used, and where answers are needed and missing.
        """
        if previous is not None:
            self._previous = _checked(previous, len(X) if hasattr(X, "__len__") else X.shape[0], names_of_rows(X))
        try:
            return super().fit(X, y, pairs=pairs, monitor=monitor)
        finally:
            self._previous = None


def _checked(previous: Any, num_items: int, ids: Sequence[str] | None) -> np.ndarray:
    if isinstance(previous, pd.Series) and not previous.index.equals(pd.RangeIndex(len(previous))):
        if ids is None:
            raise UserError("previous: a series with names, but rows of X have none; expected X with the same index")
        named = previous.set_axis(previous.index.map(str))
        if not named.index.is_unique:
            raise UserError("previous: the index has one name twice; expected each item once")
        previous = named.reindex(list(ids)).fillna(-1)
    clusters = np.asarray(previous)
    if clusters.shape != (num_items,):
        raise UserError(f"previous: shape {clusters.shape}; expected [{num_items}], −1 of a row of X that is new")
    if clusters.dtype.kind not in "iuf" or (clusters != np.round(clusters)).any() or not (clusters >= -1).all():
        raise UserError("previous: expected whole numbers from −1 on, as labels_ has them")
    if (clusters > len(clusters)).any():
        raise UserError(f"previous: cluster {int(clusters.max())} of {len(clusters)} items; expected labels_ of a fit")
    return clusters.astype(np.int64)
