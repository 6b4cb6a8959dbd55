"""What the user typed to get here, for the messages that say what to type next."""

import sys
from pathlib import Path


def program(command: str) -> str:
    """``semicrowd train`` where the installed command runs, else ``python src/train.py``; of predict and check too."""
    installed = Path(sys.argv[0]).name in ("semicrowd", "semicrowd.exe", "__main__.py")
    return f"semicrowd {command}" if installed else f"python src/{command}.py"


def as_typed(text: str) -> str:
    """A text with commands of the source tree, as they are typed here."""
    for command in ("train", "predict", "check"):
        text = text.replace(f"python src/{command}.py", program(command))
    return text
