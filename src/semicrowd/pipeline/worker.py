"""A process that runs tasks one after the other. It reads each task as a line of JSON from standard input, and answers
with a line of JSON: the exit code and the CPU seconds.

One process runs many tasks, since starting an interpreter with PyTorch and a tracking store takes longer than most of
them.
"""

import json
import os
import resource
import sys
import traceback
from importlib import import_module
from pathlib import Path


def run(module: str, arguments: list[str]) -> int:
    """Run ``python -m module arguments``, but in this process; returns the exit code."""
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
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    """Run the tasks from standard input until it ends; the output of a task goes to its log file."""
    replies = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        task = json.loads(line)
        log = Path(task["log"])
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as file:  # redirects the file descriptors: libraries in C write to these
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        before = _seconds()
        code = run(task["module"], task["arguments"])
        sys.stdout.flush()
        sys.stderr.flush()
        print(json.dumps([code, _seconds() - before]), file=replies, flush=True)


if __name__ == "__main__":
    main()
