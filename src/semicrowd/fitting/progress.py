"""Number of threads of a fit, and its progress bar; lines if the output is not a terminal.

One thread by default, for single runs and for sweeps: operations of these models take microseconds, so that several
threads would mostly wait for each other in busy loops. `python benchmarks/run.py threads` measures the time of a fit
beside another busy process (docs/BENCHMARKS.md).
"""

import contextlib
import multiprocessing
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from threadpoolctl import threadpool_limits

from semicrowd.starts.recent import Remark

#: Least number of seconds before the first line, and between two.
_LINE_SECONDS = 5.0
#: Share of the time so far after which the next line comes, so that the log file of a long fit stays short.
_LINE_SHARE = 0.1


class Progress:
    """A bar over the iterations on the standard error stream, with the latest metrics beside it.

    Parameters
    ----------
    enabled : show a bar; if the stream is not a terminal but, for example, a log file, lines: one in five seconds,
        later one whenever a tenth more time has passed
    """

    def __init__(self, iterations: int, enabled: bool = True) -> None:
        self._console = Console(stderr=True)
        # Neither in parallel jobs, whose bars would overwrite each other.
        alone = multiprocessing.current_process().name == "MainProcess"
        bars, lines = alone and self._console.is_terminal, alone and not self._console.is_terminal
        self._progress = RichProgress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("<"),
            TimeRemainingColumn(), TextColumn("{task.fields[metrics]}"),
            console=self._console, disable=not (enabled and bars), transient=True,
        )  # fmt: skip
        self._task = self._progress.add_task("starting", total=iterations, metrics="")
        self._shown, self._lines = enabled and (bars or lines), enabled and lines
        self._begun = self._last_line = time.monotonic()

    def __enter__(self) -> "Progress":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def progress(self, text: str) -> None:
        """Show ``text``, the current work before the iterations."""
        self._progress.update(self._task, description=text)
        self._line(text, at_once=isinstance(text, Remark))

    def reach(self, iterations: float, metrics: str | None = None) -> None:
        """Show that ``iterations`` are done; a fraction is part of an iteration."""
        shown: dict[str, Any] = {} if metrics is None else {"metrics": metrics}
        self._progress.update(self._task, description="iteration", completed=iterations, **shown)
        task = self._progress.tasks[0]
        if self._lines and task.total != 1:  # a method without iterations has a total of 1
            left = "" if task.time_remaining is None else f", {task.time_remaining:.0f} s left"
            self._line(f"iteration {iterations:.0f}/{task.total:.0f}{left}")

    def _line(self, text: str, *, at_once: bool = False) -> None:
        now = time.monotonic()
        due = self._lines and now - self._last_line >= max(_LINE_SECONDS, _LINE_SHARE * (now - self._begun))
        if due or (at_once and self._shown):
            self._last_line = now
            self._console.print(f"[{now - self._begun:.0f} s] {text}", markup=False, highlight=False, soft_wrap=True)


#: Threads of a fit, where trainer.threads does not say otherwise.
DEFAULT = 1


@contextlib.contextmanager
def threads_of_a_fit(threads: int = DEFAULT) -> Iterator[None]:
    """Within the block, torch and the libraries of linear algebra use ``threads`` threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with threadpool_limits(threads):
            yield
    finally:
        torch.set_num_threads(before)
