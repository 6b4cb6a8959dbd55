"""The command line: arguments, help, explanations, what a person reads at the end.

Here: how the user has started the program, for messages that tell which command to type next.
"""

import sys
from pathlib import Path


def program(command: str) -> str:
    """``semicrowd <command>`` if the installed program is running, else ``python src/<command>.py``."""
    installed = Path(sys.argv[0]).name in ("semicrowd", "semicrowd.exe", "__main__.py")
    return f"semicrowd {command}" if installed else f"python src/{command}.py"


def as_typed(text: str) -> str:
    """The text, in which ``python src/<command>.py`` is replaced by :func:`program`."""
    for command in ("train", "predict"):
        text = text.replace(f"python src/{command}.py", program(command))
    return text
