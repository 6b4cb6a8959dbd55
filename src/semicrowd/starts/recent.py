"""Results of recent co-training: fits in one process with the same data, answers and seed share them."""

import pickle
from collections.abc import Sequence
from dataclasses import astuple
from threading import Lock
from typing import NamedTuple

import joblib
import numpy as np
from jaxtyping import Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.starts.answer_classifier import Annotators
from semicrowd.starts.epochs import ProgressCallback
from semicrowd.starts.portfolio import Portfolio, default_max_clusters
from semicrowd.starts.preparing import Prepared
from semicrowd.starts.selection import Verdict

#: Bytes of the kept results, at most: 256 MiB.
_MOST_BYTES = 2**28


class Cotrained(NamedTuple):
    """The winner of a portfolio.

    Attributes
    ----------
    annotators : posteriors of the annotators' rates
    alone, probabilities : cluster probabilities of all items from their features alone, and with the answers
    verdict : comparison of the candidates
    rows : indices of the items that the candidates were fitted to
    preparations : the preparations of their features that the winner uses, by name
    shares : weight of each preparation in the winner's classifiers, by name
    """

    annotators: Annotators
    alone: Float[np.ndarray, "N K"]
    probabilities: Float[np.ndarray, "N K"]
    verdict: Verdict
    rows: Int[np.ndarray, "n"]
    preparations: dict[str, Prepared]
    shares: dict[str, float]


class RecentPortfolios:
    """The latest results, found by the contents of their inputs; the oldest are forgotten first.

    Results are kept pickled (by this process, in memory): their size is known, and each fit has a copy of its own.
    """

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}
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
        max_clusters: int | None = None,
        restart: int = 0,
        image_shape: Sequence[int] | None = None,
        previous: Int[np.ndarray, "N"] | None = None,
    ) -> Cotrained:
        """The result of a :class:`Portfolio` with these arguments, computed if it is not kept."""
        if max_clusters is None:
            max_clusters = default_max_clusters(len(annotations.annotated))
        inputs = features, astuple(annotations), seed, max_clusters, restart, image_shape, previous
        key = str(joblib.hash(inputs))
        if (kept := self._kept.get(key)) is not None:
            progress("start: co-training as in an earlier fit of this process")
            earlier: Cotrained = pickle.loads(kept)
            return earlier
        portfolio = Portfolio(features, annotations, seed, progress, max_clusters, restart, image_shape, previous)
        winner, verdict = portfolio.winner()
        shares = portfolio.shares_of_preparations(winner)
        used = {name: one for name, one in portfolio.preparations.items() if shares[name] > 0}
        found = Cotrained(winner.annotators, *portfolio.probabilities(winner), verdict, portfolio.rows, used, shares)
        self._keep(key, pickle.dumps(found))
        return found

    def _keep(self, key: str, found: bytes) -> None:
        if len(found) > _MOST_BYTES:
            return
        with self._lock:
            self._kept[key] = found
            while sum(map(len, self._kept.values())) > _MOST_BYTES:
                del self._kept[next(iter(self._kept))]


#: Of this process. SCDC, BayesSCDC and co-training itself need the same for the same data, answers and seed.
RECENT = RecentPortfolios()
