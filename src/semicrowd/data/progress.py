"""Where progress is shown."""

import multiprocessing

from rich.console import Console


def outlets() -> tuple[Console, bool, bool]:
    """The console of the standard error stream, whether it is for bars, as a terminal is, and whether for lines.

    It is for neither in parallel jobs, whose bars would overwrite each other.
    """
    console = Console(stderr=True)
    alone = multiprocessing.current_process().name == "MainProcess"
    return console, alone and console.is_terminal, alone and not console.is_terminal
