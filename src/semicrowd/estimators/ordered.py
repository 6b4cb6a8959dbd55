"""Methods for items in the order of time."""

from typing import Any, ClassVar, Self

import numpy as np

from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.fitting.monitor import Monitor


class OrderedClusterer(CrowdClusterer):
    """What an item is depends on its neighbours, so that there is no prediction item by item."""

    requires_answers = False
    #: Whether ``fit`` takes ``sequence``.
    sequential: ClassVar[bool] = True

    def fit(
        self, X: Any, y: Any = None, pairs: Any = None, *, sequence: Any = None, monitor: Monitor | None = None
    ) -> Self:
        """Find states of the rows of X, which are in order of time.

        Parameters
        ----------
        X : [N, D] numbers, an array or a data frame
        y, pairs : ignored
        sequence : [N] whole numbers, which sequence a row is of; None: all are of one
        monitor : takes curves, keeps checkpoints; None: nothing is kept

        Raises
        ------
        UserError
            For parameters out of range, and items that cannot be used.
        """
        self._sequence = sequence
        try:
            return super().fit(X, y, pairs=pairs, monitor=monitor)
        finally:
            del self._sequence

    def _order(self, items: int) -> np.ndarray:
        """Sequence of each item [N]."""
        if self._sequence is None:
            return np.zeros(items, np.int64)
        found = np.asarray(self._sequence)
        if found.shape != (items,) or found.dtype.kind not in "iu":
            raise UserError(f"sequence: {found.dtype} {list(found.shape)}; expected {items} whole numbers, one a row")
        return found
