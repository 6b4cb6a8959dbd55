"""One progress bar for a fit: its start, then its iterations. Silent where the output is no terminal."""

import multiprocessing
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress


class Progress:
    """A bar over the iterations on the standard error stream, with the latest metrics beside it."""

    def __init__(self, iterations: int, enabled: bool = True) -> None:
        console = Console(stderr=True)
        # The bars of parallel jobs would overwrite each other.
        alone = multiprocessing.current_process().name == "MainProcess"
        self._progress = RichProgress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("<"),
            TimeRemainingColumn(), TextColumn("{task.fields[metrics]}"),
            console=console, disable=not (enabled and alone and console.is_terminal), transient=True,
        )  # fmt: skip
        self._task = self._progress.add_task("starting", total=iterations, metrics="")

    def __enter__(self) -> "Progress":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def progress(self, text: str) -> None:
        """Show what is being done before the iterations."""
        self._progress.update(self._task, description=text)

    def reach(self, iterations: float, metrics: str | None = None) -> None:
        """Show that ``iterations`` are done; a fraction is part of an iteration."""
        shown: dict[str, Any] = {} if metrics is None else {"metrics": metrics}
        self._progress.update(self._task, description="iteration", completed=iterations, **shown)
