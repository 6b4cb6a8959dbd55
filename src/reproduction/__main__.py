"""The command ``semicrowd`` of the installed package, the same as ``python -m reproduction``."""

import os
import sys
from importlib import import_module

from reproduction.commandline import without_traceback

#: Command → the module whose ``main`` takes its arguments, and what it does.
COMMANDS = {
    "train": ("reproduction.app", "cluster items from their features and a few noisy answers"),
    "predict": ("reproduction.predict", "assign new items to the clusters of a finished run"),
    "report": ("reproduction.report.engine", "make the page of a finished run anew, or the papers' tables and figures"),
    "ui": ("reproduction.ui", "open the tracking UI on this machine"),
}


@without_traceback
def main(given: list[str] | None = None) -> int:
    """Run a command with the arguments after its name; the exit code."""
    name, *others = [*(sys.argv[1:] if given is None else given)] or ["--help"]
    if name not in COMMANDS and "LOCAL_RANK" in os.environ:  # Lightning has started it, with Hydra's arguments alone
        name, others = "train", [name, *others]
    if name in COMMANDS:
        code: int = import_module(COMMANDS[name][0]).main(others)
        return code
    lines = [f"  {command:<9}{what}" for command, (_, what) in COMMANDS.items()]
    asked = name in ("-h", "--help")
    if not asked:
        print(f"error: {name}: no such command", file=sys.stderr)
    print("\n".join(["usage: semicrowd COMMAND [--help] …", "", *lines]), file=sys.stdout if asked else sys.stderr)
    return 0 if asked else 2


if __name__ == "__main__":
    sys.exit(main())
