"""How far a slow look at many pictures is: a bar on a terminal, and lines now and then in a log file."""

import multiprocessing
import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import Progress

#: Seconds between two lines in a log file, at least; nothing is said of what takes less.
_LINE_SECONDS = 5.0
#: A last step has a line of its own after so many seconds: it takes longer than all that was before.
_LAST_STEP_SECONDS = 1.0


def outlets() -> tuple[Console, bool, bool]:
    """The console of the standard error stream, whether it is for bars, as a terminal is, and whether for lines.

    It is for neither in parallel jobs, whose bars would overwrite each other.
    """
    console = Console(stderr=True)
    alone = multiprocessing.current_process().name == "MainProcess"
    return console, alone and console.is_terminal, alone and not console.is_terminal


class PictureProgress:
    """A bar on the standard error stream, or lines where it is no terminal; neither in parallel jobs.

    To be used in a ``with`` statement.

    Parameters
    ----------
    what : is done with the pictures
    total : number of pictures
    """

    def __init__(self, what: str, total: int) -> None:
        console, bars, self._lines = outlets()
        self._bar = Progress(console=console, disable=not bars, transient=True)
        self._what, self._total, self._done = what, total, 0
        self._task = self._bar.add_task(what, total=total)
        self._begun = self._last_line = time.monotonic()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def reach(self, done: int) -> None:
        """Show that so many pictures are done."""
        self._done = done
        self._bar.update(self._task, completed=done)
        if time.monotonic() - self._last_line >= _LINE_SECONDS:
            self._line(f"{self._what}: {done:,} of {self._total:,} pictures")

    def advance(self) -> None:
        """Show that another picture is done."""
        self.reach(self._done + 1)

    def last_step(self, what: str) -> None:
        """Show what is done with all pictures together; nobody knows how far it is."""
        self._bar.update(self._task, description=what, total=None)
        if time.monotonic() - self._begun >= _LAST_STEP_SECONDS:
            self._line(what)

    def _line(self, text: str) -> None:
        self._last_line = time.monotonic()
        if self._lines:
            print(f"[{self._last_line - self._begun:.0f} s] {text}", file=sys.stderr)
