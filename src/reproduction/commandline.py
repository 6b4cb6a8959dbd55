"""What all commands share: a mistake is one line and exit code 2, a reader that has gone is no error."""

import atexit
import getpass
import io
import os
import select
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TextIO

from semicrowd.errors import UserError, missing_extra

_Arguments = ParamSpec("_Arguments")
_SCRIPT = Path(__file__).resolve().parents[1] / "train.py"
#: How a person starts a training in this folder.
PROGRAM = "python src/train.py" if Path("src/train.py").resolve() == _SCRIPT else "semicrowd train"
#: Exit code if the reader of the output has gone: that which a shell reports for a program ended by SIGPIPE.
_UNREAD = 128 + signal.SIGPIPE


def without_traceback(main: Callable[_Arguments, int]) -> Callable[_Arguments, int]:
    """Decorator of a command line: a :class:`UserError` is one line on the error stream and exit code 2.

    Ctrl-C is exit code 130. Where the reader of the output has gone, as ``head`` does when it has its lines, the exit
    code is 141, without a word. SIGPIPE as other programs have it would do, but it would end a run for a tracking
    server that hangs up, too.
    """

    @wraps(main)
    def run(*args: _Arguments.args, **options: _Arguments.kwargs) -> int:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # of a terminal that is latin-1 or ascii
                stream.reconfigure(errors="replace")
        _name_the_user()
        try:
            try:
                return main(*args, **options)
            finally:
                sys.stdout.flush()  # while what goes wrong with it can still be caught
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130
        except SystemExit as error:  # rich makes one of a pipe that nobody reads
            if isinstance(error.__context__, BrokenPipeError):
                return _UNREAD
            raise
        except BrokenPipeError:
            unread = [stream for stream in (sys.stdout, sys.stderr) if _is_unread(stream)]
            if not unread:  # another pipe: to a process of ours
                raise
            for stream in unread:  # what is left to write goes nowhere
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            return _UNREAD
        except Exception as error:
            mistake = mistake_in(error)
            if mistake is None:
                raise
            print(f"error: {mistake}", file=sys.stderr)
            return 2

    return run


def mistake_in(error: BaseException) -> UserError | None:
    """What the user can correct; None for an error of the program.

    Those are a :class:`UserError`, scikit-learn's refusal of a parameter, a missing extra, and an argument that a
    class or function does not have, as Hydra says it when it makes an object.
    """
    if isinstance(error, UserError):
        return error
    if isinstance(error, ModuleNotFoundError):
        return missing_extra(error)
    from hydra.errors import InstantiationException
    from omegaconf.errors import OmegaConfBaseException
    from sklearn.utils._param_validation import InvalidParameterError

    if isinstance(error, InstantiationException) and error.__cause__ is not None:
        unknown = "unexpected keyword argument" in str(error.__cause__)  # of a class or function
        return UserError(error) if unknown else mistake_in(error.__cause__)
    known = isinstance(error, InvalidParameterError | OmegaConfBaseException | InstantiationException)
    return UserError(error) if known else None


def _name_the_user() -> None:
    """Set HOME and USER where the system does not know them: MLflow and torch stop without."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, os.environ["HOME"], ignore_errors=True)
    try:
        getpass.getuser()
    except (KeyError, OSError):  # OSError since Python 3.13
        os.environ["USER"] = str(os.getuid())


def _is_unread(stream: TextIO) -> bool:
    """Whether a stream is a pipe whose reader has gone."""
    try:
        pipe = select.poll()
        pipe.register(stream, 0)
    except (OSError, ValueError):  # no file behind it: captured
        return False
    return any(event & select.POLLERR for _, event in pipe.poll(0))
