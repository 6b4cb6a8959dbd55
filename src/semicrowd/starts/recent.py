"""Results of recent co-training: fits in one process with the same data, answers and seed share them."""

from collections.abc import Sequence
from dataclasses import astuple, replace
from threading import Lock
from typing import NamedTuple

import joblib
import numpy as np
from jaxtyping import Float

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.starts.answer_classifier import Annotators
from semicrowd.starts.epochs import ProgressCallback
from semicrowd.starts.portfolio import Portfolio
from semicrowd.starts.selection import Verdict

#: Bytes of the kept probabilities, at most: 256 MiB.
_MOST_BYTES = 2**28


class Cotrained(NamedTuple):
    """The winner of a portfolio: posteriors of the annotators, probabilities of all items, comparison of candidates.

    The probabilities are float32.
    """

    annotators: Annotators
    probabilities: Float[np.ndarray, "N K"]
    verdict: Verdict


class RecentPortfolios:
    """The latest results, found by the contents of their inputs; the oldest are forgotten first."""

    def __init__(self) -> None:
        self._kept: dict[str, Cotrained] = {}
        self._lock = Lock()

    def clear(self) -> None:
        """Forget all results."""
        with self._lock:
            self._kept.clear()

    def of(
        self,
        features: Float[np.ndarray, "N D"],
        annotations: PairAnnotations,
        seed: int,
        progress: ProgressCallback,
        max_clusters: int,
        restart: int,
        image_shape: Sequence[int] | None,
        previous: np.ndarray | None,
    ) -> Cotrained:
        """The result of a :class:`Portfolio` with these arguments, computed if it is not kept."""
        inputs = features, astuple(annotations), seed, max_clusters, restart, image_shape, previous
        key = str(joblib.hash(inputs))
        found = self._kept.get(key)
        if found is None:
            portfolio = Portfolio(features, annotations, seed, progress, max_clusters, restart, image_shape, previous)
            winner, verdict = portfolio.winner()
            found = Cotrained(winner.annotators, portfolio.probabilities(winner)[1].astype(np.float32), verdict)
            self._keep(key, found)
        else:
            progress("start: co-training as in an earlier fit of this process")
        return found._replace(verdict=replace(found.verdict, table=found.verdict.table.copy()))

    def _keep(self, key: str, found: Cotrained) -> None:
        if found.probabilities.nbytes > _MOST_BYTES:
            return
        with self._lock:
            self._kept[key] = found
            while sum(one.probabilities.nbytes for one in self._kept.values()) > _MOST_BYTES:
                del self._kept[next(iter(self._kept))]
