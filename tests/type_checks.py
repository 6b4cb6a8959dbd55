"""How signatures are checked while the tests run: by beartype, which does not know two ways to write a type here."""

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import wraps
from inspect import isclass, isgeneratorfunction
from typing import Any, Self, TypeVar

import jaxtyping
from beartype import BeartypeConf, beartype
from jaxtyping import config, install_import_hook, jaxtyped

#: Calls of a function that are checked in each test, the first ones: a check takes longer than many a function does.
CHECKED_CALLS = 20
#: The same of a function within another, whose check has to be made anew whenever the other is called.
CHECKED_LOCAL_CALLS = 2
#: A whole number is a float, as for the type checker (PEP 484).
_CONF = BeartypeConf(is_pep484_tower=True)
#: Modules whose classes check what they are given themselves: parameters of an estimator, and data of a user.
_CHECK_THEMSELVES = ("semicrowd.estimators.", "semicrowd.methods.", "semicrowd.data.dataset")
F = TypeVar("F", bound=Callable[..., Any])
#: How many calls of each piece of code this test has had, by its id: its hash takes all its constants.
_calls: Counter[int] = Counter()


def install() -> None:
    """Have the signatures of the package checked, at no cost to anyone else; before it is imported."""
    jaxtyping.jaxtyped = sparingly  # type: ignore[assignment] # by this name the hook's code asks for it
    install_import_hook("semicrowd", "tests.type_checks.checked")


def begin_test() -> None:
    """The next :data:`CHECKED_CALLS` calls of each function are checked."""
    _calls.clear()


def sparingly(*, typechecker: Callable[..., Any]) -> Callable[[F], F]:
    """As jaxtyping's own decorator, but what a check needs is made at a function's first call, not at its import.

    Arguments are checked once. jaxtyping's own decorator checks them before the call, and again with the result.
    """

    def decorate(function: F) -> F:
        if isclass(function):
            if is_dataclass(function) and "__init__" in vars(function):
                function.__init__ = decorate(function.__init__)  # type: ignore[method-assign]
            return function
        if isgeneratorfunction(function):
            return function  # checked with its first value, among the letters of whoever asks for it
        whole: Callable[..., Any] | None = None
        code = id(function.__code__)
        most = CHECKED_LOCAL_CALLS if "<locals>" in function.__qualname__ else CHECKED_CALLS

        @wraps(function)
        def sparing(*args: Any, **options: Any) -> Any:
            nonlocal whole
            if _calls[code] >= most or config.jaxtyping_disable:
                return function(*args, **options)
            _calls[code] += 1
            if whole is None:
                whole = typechecker(function)
            with jaxtyped("context"):  # the same letter of a shape is the same number
                return whole(*args, **options)

        return sparing  # type: ignore[return-value]

    return decorate


def checked(function: F) -> F:
    """The function with its arguments and its result checked.

    Classes that check their values themselves are left out: tests try what they say about a wrong value.
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
