"""Methods that can go on from the clusters of an earlier fit."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd

from semicrowd.errors import UserError
from semicrowd.estimators import docstrings
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.estimators.frames import names_of_rows
from semicrowd.fitting.monitor import Monitor

#: What the docstring of ``fit`` has besides that of other methods.
_PREVIOUS = """
previous : clusters of an earlier fit: [N] whole numbers, −1 of a row that is new, or a series that calls its items as
    the index of X does, such as ``pd.Series(before.labels_, index=…)``. Co-training uses them as one more start, and
    clusters keep their numbers. ``pairs`` are all answers, old and new
"""


class ContinuedClusterer(CrowdClusterer):
    """With more answers or more items the clusters of an earlier fit are a start, and their numbers are kept."""

    #: Clusters [N] of an earlier fit, −1 of items that are new; None without one.
    _previous: np.ndarray | None = None

    def fit(
        self, X: Any, y: Any = None, pairs: Any = None, *, previous: Any = None, monitor: Monitor | None = None
    ) -> Self:
        if previous is not None:
            self._previous = _checked(previous, X.shape[0] if hasattr(X, "shape") else len(X), names_of_rows(X))
        try:
            return super().fit(X, y, pairs=pairs, monitor=monitor)
        finally:
            self._previous = None

    fit.__doc__ = docstrings.with_parameter(CrowdClusterer.fit.__doc__, _PREVIOUS, before="monitor")


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
