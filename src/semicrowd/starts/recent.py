"""Results of slow parts of a start: fits in one process with the same data, answers and seed share the recent ones,
and an interrupted run finds those in its folder that it had."""

import os
import pickle
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Lock, local
from time import perf_counter
from typing import Any, TypeVar

import joblib
import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from semicrowd.data.arrays import read_npz
from semicrowd.errors import UserError
from semicrowd.files import write_arrays
from semicrowd.interrupts import end_with

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
        key = self.digest((name, inputs))
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

    @staticmethod
    def digest(inputs: Any) -> str:
        """A digest of the contents of ``inputs``, arrays included."""
        return str(joblib.hash(inputs))

    @contextmanager
    def kept_in(self, folder: Path) -> Iterator[None]:
        """Within the block, :meth:`arrays` and :meth:`one` keep results in this folder; it is removed without an error.
        """
        with self._set("folder", folder):
            yield
        shutil.rmtree(folder, ignore_errors=True)

    def in_processes(self, number: int | None) -> AbstractContextManager[None]:
        """Within the block, :meth:`arrays` uses so many processes; None: as many as outside of it; −1: the cores."""
        return nullcontext() if number is None else self._set("processes", number)

    @contextmanager
    def _set(self, name: str, value: Any) -> Iterator[None]:
        before = getattr(self._of_thread, name, None)
        setattr(self._of_thread, name, value)
        try:
            yield
        finally:
            setattr(self._of_thread, name, before)

    def arrays(self, computed: Mapping[str, Callable[[], np.ndarray]]) -> Iterator[np.ndarray]:
        """What each function returns; within :meth:`kept_in`, what an interrupted fit has kept under the same key.

        Parameters
        ----------
        computed : key → function; a key is a :meth:`digest` of all that the result depends on
        """
        folder: Path | None = getattr(self._of_thread, "folder", None)
        there = {} if folder is None else {key: _read(folder / f"{key}.npz", "array") for key in computed}
        kept = {key: arrays for key, arrays in there.items() if arrays is not None}
        # Not a backend that the user has chosen for something else: threads of one process would share their settings.
        in_parallel = Parallel(
            getattr(self._of_thread, "processes", None) or 1, backend="loky", return_as="generator", max_nbytes=None,
            pre_dispatch="n_jobs",
        )  # fmt: skip
        here = os.getpid()
        found = in_parallel(delayed(_timed)(one, here) for key, one in computed.items() if key not in kept)
        for key in computed:
            if key in kept:
                self._of_thread.saved = self.saved + float(kept[key]["seconds"])
                yield kept[key]["array"]
                continue
            array, seconds = next(found)
            if folder is not None:
                write_arrays(folder / f"{key}.npz", {"array": array, "seconds": np.array(seconds)})
            yield array

    def one(
        self, key: str, make: Callable[[], T], arrays: Callable[[T], Mapping[str, np.ndarray]],
        of_arrays: Callable[[Mapping[str, np.ndarray]], T],
    ) -> T:  # fmt: skip
        """What ``make`` returns; within :meth:`kept_in`, what an interrupted fit has kept under the same key.

        Parameters
        ----------
        key : a :meth:`digest` of all that the result depends on
        arrays, of_arrays : the result as arrays by name, which are all that is written, and the result from them
        """
        folder: Path | None = getattr(self._of_thread, "folder", None)
        if folder is None:
            return make()
        path = folder / f"{key}.npz"
        if (kept := _read(path)) is not None:
            with suppress(KeyError):  # kept by another version
                found = of_arrays(kept)
                self._of_thread.saved = self.saved + float(kept["seconds"])
                return found
        begin = self.clock()
        made = make()
        write_arrays(path, {**arrays(made), "seconds": np.array(self.clock() - begin)})
        return made

    def _keep(self, key: str, result: bytes, seconds: float) -> None:
        if len(result) > _MOST_BYTES:
            return
        with self._lock:
            self._kept[key] = result, seconds
            while sum(len(kept) for kept, _ in self._kept.values()) > _MOST_BYTES:
                del self._kept[next(iter(self._kept))]


def _read(path: Path, *names: str) -> dict[str, np.ndarray] | None:
    """The arrays ``seconds`` and ``names`` at least; None if they are not there or damaged."""
    try:
        kept = read_npz(path)
    except UserError:
        return None
    return kept if {"seconds", *names} <= kept.keys() else None


def _timed(compute: Callable[[], np.ndarray], parent: int) -> tuple[np.ndarray, float]:
    """What ``compute`` returns, and its seconds.

    A process other than ``parent`` (process id) uses one thread, since others are beside it, and ends with ``parent``.
    """
    begin = perf_counter()
    if os.getpid() == parent:
        return compute(), perf_counter() - begin
    import torch

    end_with(parent)
    torch.set_num_threads(1)
    with threadpool_limits(1):
        return compute(), perf_counter() - begin


#: Of this process. SCDC, BayesSCDC and co-training itself need the same for the same data, answers and seed.
RECENT = RecentResults()
