"""What the drivers share: curves, checkpoints, time, progress, and a clean end on Ctrl-C or SIGTERM."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from semicrowd.files import write_atomic, write_csv
from semicrowd.fitting.progress import Progress
from semicrowd.fitting.snapshots import Snapshots
from semicrowd.starts.recent import RECENT

CHECKPOINT = Path("checkpoints") / "last.ckpt"
CURVES = "curves.csv"


@dataclass
class Monitor:
    """Records the course of a fit: curves, checkpoint, time, progress bar and tracker.

    Attributes
    ----------
    folder : for curves.csv and the checkpoint; None: neither is written
    log : is called with the number of a finished iteration, from 1, and its metrics
    resume : continue from the folder's checkpoint, if there is one
    progress : show a progress bar, or lines if the output is not a terminal
    snapshots : iterations after which a sample of every cluster is stored, by methods that generate images
    kept : the stored snapshots
    rows : rows of curves.csv
    """

    folder: Path | None = None
    log: Callable[[int, Mapping[str, float]], Any] = lambda *_: None
    resume: bool = False
    progress: bool = False
    snapshots: Sequence[int] = ()
    kept: Snapshots | None = None
    rows: list[dict[str, float]] = field(default_factory=list)
    _before: float = 0.0
    _start: float = field(default_factory=RECENT.clock)
    _end: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds of this fit so far, including those before a resume and those saved by results of earlier fits."""
        return self._before + (self._end or RECENT.clock()) - self._start

    @property
    def checkpoint(self) -> Path | None:
        """Path of the checkpoint, which is written after finished iterations."""
        return None if self.folder is None else self.folder / CHECKPOINT

    @property
    def resume_point(self) -> Path | None:
        """The checkpoint to resume from; None: start anew."""
        path = self.checkpoint
        return path if self.resume and path is not None and path.exists() else None

    def begin(self) -> None:
        """Start the clock."""
        self._start, self._end = RECENT.clock(), None

    def end(self) -> None:
        """Stop the clock: later work does not count as fitting."""
        self._end = RECENT.clock()

    def state(self) -> dict[str, Any]:
        """The part of a checkpoint that makes a resumed run's curves.csv equal that of an uninterrupted one."""
        return {"rows": self.rows, "seconds": self.seconds}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`state` returned."""
        self.rows, self._before = list(state["rows"]), float(state["seconds"])
        self._start = RECENT.clock()

    def record(self, iteration: int, metrics: Mapping[str, float]) -> None:
        """Record the metrics of a finished iteration, counted from 1, as a row of the curves."""
        self.rows.append({"epoch": iteration, **metrics})
        if self.folder is not None:
            names = list(dict.fromkeys(name for row in self.rows for name in row))
            write_csv(self.folder / CURVES, names, [[row.get(name) for name in names] for row in self.rows])
        self.log(iteration, metrics)

    def save(self, write: Callable[[Path], Any]) -> None:
        """Replace the checkpoint atomically by the file that ``write`` writes."""
        if self.checkpoint is not None:
            write_atomic(self.checkpoint, write)

    def bar(self, iterations: int) -> Progress:
        """The progress bar of the fit."""
        return Progress(iterations, enabled=self.progress)


@contextlib.contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Within the block SIGTERM raises KeyboardInterrupt, so that the run's status becomes "interrupted"."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can handle signals
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
