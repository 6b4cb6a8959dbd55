"""``trainer=ddp``: the other processes of a run, ``python -m semicrowd.run.rank <run directory>``.

The first process owns the run's folder and its tracker, and evaluates. The others read its config.yaml, train with it,
and write nothing.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import semicrowd
from semicrowd.errors import UserError
from semicrowd.fitting.monitor import Monitor
from semicrowd.run.estimator import make_estimator
from semicrowd.run.files.config import CONFIG, read_config
from semicrowd.run.inputs import load_inputs

#: What Lightning tells the processes by; left behind, it would make the next job of a sweep one of them.
_VARIABLES = ("LOCAL_RANK", "NODE_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


@contextlib.contextmanager
def as_others(run_dir: Path) -> Iterator[None]:
    """Within the block, Lightning starts the other processes of the run in ``run_dir`` as this module.

    It repeats the command of the main module, which would be the whole run, or the whole sweep.
    """
    main = sys.modules["__main__"]
    before = sys.argv, main.__spec__, os.environ.get("PYTHONPATH")
    source = str(Path(semicrowd.__file__).parents[1])
    sys.argv, main.__spec__ = [sys.argv[0], str(run_dir)], find_spec(__name__)
    os.environ["PYTHONPATH"] = os.pathsep.join([source, *filter(None, [before[2]])])
    try:
        yield
    finally:
        sys.argv, main.__spec__, path = before
        for name in _VARIABLES:
            os.environ.pop(name, None)
        if path is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = path
        _leave_group()


def _leave_group() -> None:
    """The next job of a sweep makes a group of its own."""
    from torch import distributed

    if distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()


def _end_with(parent: int) -> None:
    """End this process when the first one has gone, which it would otherwise wait for."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main(arguments: Sequence[str]) -> int:
    """Train as one of several processes; the exit code."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    run_dir = Path(arguments[0])
    content = read_config(run_dir / CONFIG)
    data, answers = load_inputs(content)
    # Of the folder only the checkpoint is read.
    monitor = Monitor(folder=run_dir, resume=content["resume"], snapshots=content["snapshots"])
    try:
        make_estimator(content, data).fit(data.features, answers, monitor=monitor)
    except KeyboardInterrupt:
        return 130
    except UserError:  # the first process has the same to say, and says it
        return 2
    finally:
        _leave_group()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
