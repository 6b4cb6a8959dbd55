"""Calling a function with the user's options."""

import difflib
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from semicrowd.errors import UserError


def check_options(group: str, function: Callable[..., Any], options: Iterable[str]) -> None:
    """Refuse options that ``function`` does not take by keyword.

    Raises
    ------
    UserError
        With the nearest match and all options.
    """
    parameters = inspect.signature(function).parameters.values()
    known = [parameter.name for parameter in parameters if parameter.kind is inspect.Parameter.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            there = f"there are {', '.join(known)}" if known else "there are none"
            raise UserError(f"{group}.{option}: no such option{_nearest(option, known)}; {there}")


def _nearest(name: str, choices: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(choices), n=1, cutoff=0.5)
    return f"; the nearest is {close[0]}" if close else ""
