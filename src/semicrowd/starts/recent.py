"""Results of slow parts of a start, which fits of one process with the same data, answers and seed share."""

import pickle
from collections.abc import Callable
from threading import Lock, local
from time import perf_counter
from typing import Any, TypeVar

import joblib

T = TypeVar("T")
#: Is called with a line about the current step.
ProgressCallback = Callable[[str], None]

#: Bytes of the kept results, at most: 256 MiB.
_MOST_BYTES = 2**28


class Remark(str):
    """A line that is shown however soon it comes after another one, and stays on a terminal."""


class RecentResults:
    """The latest results, found by the contents of their inputs; the oldest are forgotten first.

    Results are kept pickled (by this process, in memory): their size is known, and each fit has a copy of its own.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[bytes, float]] = {}
        self._lock = Lock()
        self._of_thread = local()

    @property
    def saved(self) -> float:
        """Seconds that kept results have saved in this thread."""
        return getattr(self._of_thread, "saved", 0.0)

    def clock(self) -> float:
        """A clock in seconds that also counts the saved ones: differences are those of a fit without kept results."""
        return perf_counter() + self.saved

    def clear(self) -> None:
        """Forget all results."""
        with self._lock:
            self._kept.clear()

    def of(self, compute: Callable[[], T], inputs: Any, progress: ProgressCallback, name: str) -> T:
        """The kept result for these inputs; without one, what ``compute`` returns, which is then kept.

        Parameters
        ----------
        inputs : all that the result depends on, arrays included
        progress : is told if the result is an earlier one
        name : of the result; results with other names are others, even with the same inputs
        """
        key = joblib.hash((name, inputs))
        if (kept := self._kept.get(key)) is not None:
            progress(Remark(f"start: {name} as in an earlier fit of this process"))
            pickled, seconds = kept
            self._of_thread.saved = self.saved + seconds
            earlier: T = pickle.loads(pickled)
            return earlier
        start = self.clock()
        result = compute()
        self._keep(key, pickle.dumps(result), self.clock() - start)
        return result

    def _keep(self, key: str, result: bytes, seconds: float) -> None:
        if len(result) > _MOST_BYTES:
            return
        with self._lock:
            self._kept[key] = result, seconds
            while sum(len(kept) for kept, _ in self._kept.values()) > _MOST_BYTES:
                del self._kept[next(iter(self._kept))]


#: Of this process. SCDC, BayesSCDC and co-training itself need the same for the same data, answers and seed.
RECENT = RecentResults()
