"""The command ``semicrowd`` of the installed package, the same as ``python -m semicrowd``."""

import sys
from importlib import import_module

from semicrowd.errors import without_traceback

#: Command → the module whose ``main`` takes its arguments, and what it does.
COMMANDS = {
    "train": ("semicrowd.run.main", "cluster items from their features and a few noisy answers"),
    "predict": ("semicrowd.run.predict", "assign new items to the clusters of a finished run"),
    "report": ("semicrowd.report.build", "make the page of a finished run anew, or the papers' tables and figures"),
    "ui": ("semicrowd.tracking.ui", "open the tracking UI on this machine"),
}


def help_page() -> str:
    """What there is, a line each."""
    lines = [f"  {name:<9}{what}" for name, (_, what) in COMMANDS.items()]
    return "\n".join(["usage: semicrowd COMMAND [--help] …", "", *lines, ""])


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """Run a command with the arguments after its name; the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given or given[0] in ("-h", "--help"):
        print(help_page(), end="")
        return 0 if given else 2
    if given[0] not in COMMANDS:
        print(f"error: {given[0]}: no such command; expected {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    code: int = import_module(COMMANDS[given[0]][0]).main(given[1:])
    return code


if __name__ == "__main__":
    sys.exit(main())
