"""Base class of methods that can go on from the clusters of an earlier fit, and whose items may have weights."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.utils.validation import _num_samples

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.columns import id_text
from semicrowd.errors import UnreliableResultWarning, UserError, naming_extras, warn
from semicrowd.estimators import docstrings
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.estimators.inputs import names_of_rows
from semicrowd.fitting.monitor import Monitor

#: What the docstring of ``fit`` has besides that of other methods.
_MORE = """
sample_weight : weights of the items, numbers from 0 on: [N], or a series that calls the items as the index of X does.
    Only their ratios count. Where clusters are described by means, covariances, sizes or borders, an item of weight 2
    counts as two items with its features; an item of weight 0 gets a cluster, and has no influence. Weights do not
    act on the answers about an item, on the scaling of columns, on graphs of nearest neighbours, and on what networks
    learn from transformed images
previous : clusters of an earlier fit: [N] whole numbers, −1 of a row that is new, or a series that calls its items as
    the index of X does, such as ``pd.Series(before.labels_, index=…)``. Co-training uses them as one more start, and
    clusters keep their numbers. ``pairs`` are all answers, old and new
"""


class ContinuedClusterer(CrowdClusterer):
    """With more answers or more items the clusters of an earlier fit are a start, and their numbers are kept.

    Items may have weights. ``fit`` warns (:class:`semicrowd.UnreliableResultWarning`) if the result is unreliable."""

    #: Clusters of an earlier fit, −1 of items that are new; None without one.
    _previous: Int[np.ndarray, "N"] | None = None
    #: Weights of the items, whose mean is 1; None: all are 1.
    _weights: Float[np.ndarray, "N"] | None = None

    def fit(
        self,
        X: Any,
        y: Any = None,
        pairs: Any = None,
        *,
        sample_weight: Any = None,
        previous: Any = None,
        monitor: Monitor | None = None,
    ) -> Self:
        try:
            if previous is not None:
                self._previous = _checked(previous, _num_samples(X), names_of_rows(X))
            if sample_weight is not None:
                self._weights = checked_weights(sample_weight, _num_samples(X), names_of_rows(X))
            features, answers = self._inputs(X, y, pairs)
            with naming_extras():
                result = self._run(features, answers, monitor or Monitor(progress=bool(self.verbose)))
            if result is not None:  # not in the other ones of several processes
                self._set_result(result, answers)
                if monitor is None:  # a run warns itself
                    self._warn(answers)
                self.number_clusters(self._previous)
            return self
        finally:
            self._previous = self._weights = None

    def _warn(self, answers: PairAnnotations | None) -> None:
        """Warn if the result is unreliable."""
        # Imported here: it needs torch, and this module is imported by simple methods, too.
        from semicrowd.evaluation.trust import reliability_warnings

        for line in reliability_warnings(self.result_, answers):
            warn(line, UnreliableResultWarning)

    fit.__doc__ = docstrings.with_parameter(CrowdClusterer.fit.__doc__, _MORE, before="monitor")


def _by_rows(named: pd.Series, ids: Sequence[str] | None, what: str, example: str) -> pd.Series:
    """A series in the order of the rows, NaN of a row that it does not name; as it is if its index is 0, 1, 2, …"""
    if named.index.equals(pd.RangeIndex(len(named))):
        return named
    if ids is None:
        raise UserError(f"{what}: a series with names, but rows of X have none; expected X with the same index")
    named = named.set_axis([id_text(name) for name in named.index])
    if not named.index.is_unique:
        raise UserError(f"{what}: the index has one name twice; expected each item once")
    if not named.index.isin(list(ids)).any():
        raise UserError(f"{what}: no name of its index is a row of X; expected pd.Series({example}, index=X.index)")
    return named.reindex(list(ids))


def checked_weights(sample_weight: Any, num_items: int, ids: Sequence[str] | None = None) -> np.ndarray:
    """Weights [N] of the items with mean 1, from those of a user.

    Raises
    ------
    UserError
        If there is not one for each item, or one is no finite number from 0 on, or all are 0.
    """
    if isinstance(sample_weight, pd.Series):
        sample_weight = _by_rows(sample_weight, ids, "sample_weight", "weights")
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise UserError("sample_weight: expected a number for each item") from error
    if weights.shape != (num_items,):
        raise UserError(f"sample_weight: shape {list(weights.shape)}; expected [{num_items}], a number for each item")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise UserError(f"sample_weight: {weights[wrong[0]]:g} of item {wrong[0] if ids is None else ids[wrong[0]]}; "
                        "expected a finite number from 0 on for each item")
    largest = weights.max()
    if largest == 0:
        raise UserError("sample_weight: all weights are zero; expected a number above 0 for one item at least")
    weights = weights / largest  # the sum of very large ones could overflow
    return weights / weights.mean()


def _checked(previous: Any, num_items: int, ids: Sequence[str] | None) -> np.ndarray:
    if isinstance(previous, pd.Series):
        previous = _by_rows(previous, ids, "previous", "labels_").fillna(-1)
    clusters = np.asarray(previous)
    if clusters.shape != (num_items,):
        raise UserError(f"previous: shape {clusters.shape}; expected [{num_items}], −1 of a row of X that is new")
    if clusters.dtype.kind not in "iuf" or (clusters != np.round(clusters)).any() or not (clusters >= -1).all():
        raise UserError("previous: expected whole numbers from −1 on, as labels_ has them")
    if (clusters > len(clusters)).any():
        raise UserError(f"previous: cluster {clusters.max():.0f} of {len(clusters)} items; expected labels_ of a fit")
    return clusters.astype(np.int64)
