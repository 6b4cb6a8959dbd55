"""Choosing one of several functions by name and calling it with the user's options."""

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from semicrowd.errors import UserError

T = TypeVar("T")


def choose(group: str, name: str, choices: Mapping[str, T]) -> T:
    """The choice called ``name``.

    Raises
    ------
    UserError
        With the nearest match and all names, where there is none.
    """
    if name not in choices:
        raise UserError(f"{group}={name}: no such {group}{_nearest(name, choices)}; there are {', '.join(choices)}")
    return choices[name]


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
