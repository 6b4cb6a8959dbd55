"""Results of recent co-training: fits in one process with the same data, answers and seed share them."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import astuple
from typing import NamedTuple

import joblib
import numpy as np
from jaxtyping import Float

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.starts.answer_classifier import Annotators
from semicrowd.starts.epochs import ProgressCallback
from semicrowd.starts.portfolio import Portfolio
from semicrowd.starts.selection import Verdict

#: Bytes of the kept probabilities, at most: 64 MiB.
_MOST_BYTES = 2**26


class Cotrained(NamedTuple):
    """The winner of a portfolio: posteriors of the annotators, probabilities of all items, comparison of candidates."""

    annotators: Annotators
    probabilities: Float[np.ndarray, "N K"]
    verdict: Verdict


class RecentPortfolios:
    """The latest results, found by the contents of their inputs."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Cotrained] = OrderedDict()

    def clear(self) -> None:
        """Forget all results."""
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
        if key in self._kept:
            progress("start: co-training as in an earlier fit of this process")
            self._kept.move_to_end(key)
            return self._kept[key]
        portfolio = Portfolio(features, annotations, seed, progress, max_clusters, restart, image_shape, previous)
        winner, verdict = portfolio.winner()
        found = Cotrained(winner.annotators, portfolio.probabilities(winner)[1], verdict)
        self._kept[key] = found
        while sum(one.probabilities.nbytes for one in self._kept.values()) > _MOST_BYTES:
            self._kept.popitem(last=False)
        return found
