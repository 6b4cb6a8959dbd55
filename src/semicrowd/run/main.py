"""``python src/train.py``: arguments in, exit code out."""

import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from semicrowd.errors import UserError, naming_extras
from semicrowd.run.commandline import as_typed, program
from semicrowd.run.commandline.arguments import Command, completed, parse
from semicrowd.run.commandline.mistakes import explain, is_mistake
from semicrowd.run.composition import CONF, composed, register
from semicrowd.run.settings import check_given


def main(arguments: Sequence[str]) -> int:
    """Run ``src/train.py`` with the arguments after its name; returns the exit code.

    Raises
    ------
    BrokenPipeError
        If nobody reads the output any more.
    """
    sweep = False
    try:
        others, more = completed(arguments)
        command = parse([*others, *more])
        if more and not command.help:
            print(f"note: {' and '.join(more)}, as the paths imply", file=sys.stderr)
        sweep = command.sweep
        _prepare_environment(arguments)
        with naming_extras():
            if command.help or command.showing:
                _show(command)
                return 0
            if sweep:
                from semicrowd.run.sweep import run_sweep

                run_sweep(command.overrides)
                return 0
            given = composed(command.overrides)
            check_given(given)
            if (launcher := given.launcher["name"]) != "basic":
                raise UserError(f"hydra/launcher={launcher}: only for sweeps; expected -m, even for a single job")
            # Imported here: it takes time, and most wrong arguments have been found by now.
            from semicrowd.run.commandline.show import show_run
            from semicrowd.run.execute import execute

            run_dir = Path(given.run_dir).absolute()
            if metrics := execute(given, run_dir):  # of several processes of the run, only the first has metrics
                show_run(metrics, run_dir)
    except BrokenPipeError:
        raise
    except (Exception, KeyboardInterrupt) as error:
        return _failed(error, sweep)
    return 0


def _failed(error: BaseException, sweep: bool) -> int:
    """Say on the error stream what went wrong; returns the exit code."""
    if isinstance(error, KeyboardInterrupt):
        how = "continues from what the run has kept, if it had got that far, or begins again"
        print(f"interrupted; the same command with resume=true {how}", file=sys.stderr)
        return 130
    if isinstance(error, Exception) and is_mistake(error):
        print(as_typed(f"error: {explain(error)}"), file=sys.stderr)
        return 2
    if isinstance(error, MemoryError) and not sweep:
        print(f"error: the memory is too small for these settings: {error}", file=sys.stderr)
        return 2
    if isinstance(error, OSError) and not sweep:
        print(f"error: {error.filename or 'a file'}: cannot be used: {error.strerror or error}", file=sys.stderr)
        return 2
    traceback.print_exception(error)
    return 1


def _show(command: Command) -> None:
    """Print the page of all settings, or one of Hydra's own, such as ``--cfg job``, where what rules set is null."""
    if command.help:
        from semicrowd.run.commandline.help import help_page

        print(as_typed(help_page(command.overrides)), end="")
        return
    import hydra

    register()
    os.environ["HYDRA_FULL_ERROR"] = "1"  # exceptions come here instead of being printed by Hydra
    sys.argv = [sys.argv[0], *command.overrides, *command.showing, *(["-m"] if command.sweep else [])]
    hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(lambda _: None)()


def _prepare_environment(arguments: Sequence[str]) -> None:
    """Set the environment variables that torch, MLflow and the worker processes read when they start."""
    os.environ["SEMICROWD_COMMAND"] = shlex.join([*program("train").split(), *arguments])
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # makes sums on a GPU reproducible
    # A run gives up a tracking server that does not answer within half a minute.
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "5")
