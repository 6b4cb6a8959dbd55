"""How signatures are checked while the tests run: by beartype, which does not know two ways to write a type here."""

import ast
import builtins
import sys
import warnings
from collections.abc import Callable
from typing import Any, Self, TypeVar

from beartype import BeartypeConf, beartype
from beartype.roar import BeartypeDecorHintPep585DeprecationWarning

#: A whole number is a float, as for the type checker (PEP 484).
_CONF = BeartypeConf(is_pep484_tower=True)
#: Modules of dataclasses that are settings, or parameters of an estimator.
_CHECK_THEMSELVES = ("semicrowd.settings.", "semicrowd.estimators.")
F = TypeVar("F", bound=Callable[..., Any])


def checked(function: F) -> F:
    """The function with its arguments and its result checked.

    Settings are left out: their rules check whatever is given, and say in a line what was expected, which tests try.
    ``Self`` is the class that the method was written in. A name that a module imports for the type checker alone says
    nothing at run time: such a hint is left out.
    """
    if function.__name__ == "__init__" and function.__module__.startswith(_CHECK_THEMSELVES):
        return function
    names = vars(sys.modules[function.__module__]) | vars(builtins)
    owners = function.__qualname__.split(".")[:-1]
    hints = function.__annotations__
    for name, hint in hints.items():
        hints[name] = readable(hint, names, owners)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeartypeDecorHintPep585DeprecationWarning)  # of OmegaConf's containers
        return beartype(function, conf=_CONF)  # type: ignore[call-overload]


def readable(hint: Any, names: dict[str, Any], owners: list[str]) -> Any:
    """``hint`` in words that beartype knows, ``Any`` where there are none.

    Parameters
    ----------
    names : of the module, and Python's own
    owners : the classes, from the outside in, that the function was written in
    """
    if hint is Self:
        return owners[-1]
    if isinstance(hint, str):
        known = {node.id for node in ast.walk(ast.parse(hint, mode="eval")) if isinstance(node, ast.Name)}
        return hint if all(name in names or name in owners for name in known) else Any
    return hint
