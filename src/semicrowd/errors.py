"""The one exception for what the user can mend."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

_Arguments = ParamSpec("_Arguments")


class UserError(ValueError):
    """Bad input or settings; the message names what is wrong and what was expected, in one line.

    A ``ValueError``, as libraries in the manner of scikit-learn expect.
    """


def without_traceback(main: Callable[_Arguments, int]) -> Callable[_Arguments, int]:
    """Decorator of a command line: a :class:`UserError` is one line on the error stream and exit code 2."""

    @wraps(main)
    def run(*args: _Arguments.args, **options: _Arguments.kwargs) -> int:
        try:
            return main(*args, **options)
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2

    return run
