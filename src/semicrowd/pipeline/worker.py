"""A process that runs tasks one after the other: a line of JSON in, one with exit code and seconds of a core out.

One process for many tasks: an interpreter with PyTorch and a tracking store takes longer to start than most of them
run.
"""

import json
import os
import resource
import sys
import traceback
from importlib import import_module
from pathlib import Path

from semicrowd.run.interrupts import end_with


def run(module: str, arguments: list[str]) -> int:
    """``python -m module arguments``, but in this process; the exit code."""
    try:
        return int(import_module(module).main(arguments) or 0)
    except KeyboardInterrupt:
        return 130
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
        return 1


def _seconds() -> float:
    """Of a core, that this process and those that it has started have taken."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    """Take tasks from standard input until it ends; what a task says goes to its log."""
    end_with(os.getppid())
    replies = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        task = json.loads(line)
        log = Path(task["log"])
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as file:  # by its number: libraries in C write there, too
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        before = _seconds()
        code = run(task["module"], task["arguments"])
        sys.stdout.flush()
        sys.stderr.flush()
        print(json.dumps([code, _seconds() - before]), file=replies, flush=True)


if __name__ == "__main__":
    main()
