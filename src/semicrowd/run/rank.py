"""``trainer=ddp``: all processes of a run but the first, ``python -m semicrowd.run.rank <run directory> <process id>``.

The process id is that of the first process, which writes the run's files and evaluates. The other processes read the
settings from its config.yaml, take part in the training, and write nothing. If torchrun or srun has started all
processes (:mod:`semicrowd.run.processes`), each reads the settings from its own arguments instead.
"""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import semicrowd
from semicrowd.errors import UserError
from semicrowd.fitting.monitor import Monitor
from semicrowd.run.composition import Given
from semicrowd.run.estimator import fitted
from semicrowd.run.files.config import CONFIG, read_config
from semicrowd.run.inputs import facts_of, load_inputs
from semicrowd.run.processes import place
from semicrowd.run.settings import resolved, sources

#: Environment variables by which Lightning distinguishes the processes. If an earlier job of a sweep, or the user's
#: shell, has set them, the next run would wait for a first process that does not exist.
_VARIABLES = ("LOCAL_RANK", "NODE_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
#: Those of them that a user sets on each machine if a run uses several machines.
_OF_THE_MACHINE = ("NODE_RANK", "MASTER_ADDR", "MASTER_PORT")


@contextlib.contextmanager
def as_others(run_dir: Path, machines: int = 1) -> Iterator[None]:
    """Within the block, Lightning runs this module in the other processes of the run in ``run_dir``.

    Otherwise Lightning would repeat the command of the main module in them, and so the whole run or sweep. If torchrun
    or srun has started the other processes, Lightning starts none.
    """
    if place() is not None:
        try:
            yield
        finally:
            _leave_group()
        return
    main = sys.modules["__main__"]
    before = sys.argv, main.__spec__
    variables = {name: os.environ.get(name) for name in (*_VARIABLES, "PYTHONPATH")}
    for name in _VARIABLES:
        if machines == 1 or name not in _OF_THE_MACHINE:
            os.environ.pop(name, None)
    source = str(Path(semicrowd.__file__).parents[1])
    sys.argv, main.__spec__ = [sys.argv[0], str(run_dir)], find_spec(__name__)
    os.environ["PYTHONPATH"] = os.pathsep.join([source, *filter(None, [variables["PYTHONPATH"]])])
    try:
        yield
    finally:
        sys.argv, main.__spec__ = before
        for name, value in variables.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        _leave_group()


def _leave_group() -> None:
    from torch import distributed

    if distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()


def train_along(given: Given, run_dir: Path) -> None:
    """Train as one of several processes of a run, not the first; only the checkpoint in ``run_dir`` is read."""
    data, answers = load_inputs(sources(given).content)
    settings = resolved(given, facts_of(data, answers), data.chosen)
    monitor = Monitor(folder=run_dir, resume=settings.values["resume"], snapshots=settings.values["snapshots"])
    try:
        fitted(settings, data, answers, monitor)
    finally:
        _leave_group()


def main(arguments: Sequence[str]) -> int:
    """Train as one of several processes of this machine; returns the exit code."""
    run_dir = Path(arguments[0])
    given = Given.read(read_config(run_dir / CONFIG))
    try:
        train_along(given, run_dir)
    except KeyboardInterrupt:
        return 130
    except UserError:  # the first process prints the same message
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
