"""A setting of a dataclass: its default, what it may be, and its line of help; and the checks of all of them.

A rule takes a value and says what was expected instead, or None where the value is fine. Rules know nothing of data.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Self

from semicrowd.errors import UserError

#: What was expected of a value that does not fit; None of one that does.
Rule = Callable[[Any], str | None]
#: Largest whole number of a setting: sizes and seeds beyond it are slips of the finger.
LARGEST = 2**32 - 1


def whole(low: int, high: int = LARGEST) -> Rule:
    """A whole number from ``low`` to ``high``."""
    expected = f"a whole number >= {low}" if high == LARGEST else f"a whole number from {low} to {high}"
    return lambda value: None if _is_whole(value) and low <= value <= high else expected


def number(low: float = -math.inf, high: float = math.inf, *, above: float | None = None) -> Rule:
    """A finite number from ``low`` to ``high``, or above ``above``."""
    lower = f" above {above:g}" if above is not None else "" if low == -math.inf else f" >= {low:g}"
    expected = f"a number{lower}" + ("" if high == math.inf else f" and at most {high:g}")

    def rule(value: Any) -> str | None:
        fits = _is_number(value) and low <= value <= high and (above is None or value > above)
        return None if fits else expected

    return rule


class Choice:
    """One of some words, which ``names`` lists."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def __call__(self, value: Any) -> str | None:
        """What was expected."""
        return None if isinstance(value, str) and value in self.names else " or ".join(self.names)


choice = Choice


def flag() -> Rule:
    """True or false."""
    return lambda value: None if isinstance(value, bool) else "true or false"


def file_path(what: str = "file") -> Rule:
    """Rule: the path of a file, or of what is named, which need not exist."""
    return lambda value: None if isinstance(value, str | Path) and str(value).strip() else f"the path of a {what}"


def text() -> Rule:
    """A word or a path, not empty."""
    return lambda value: None if isinstance(value, str) and value.strip() else "a text that is not empty"


def each(rule: Rule, example: str, *, length: int | None = None, least: int = 0) -> Rule:
    """A list of values that each fit ``rule``."""

    def check(value: Any) -> str | None:
        listed = isinstance(value, Sequence) and not isinstance(value, str)
        if not listed or len(value) < least or (length is not None and len(value) != length):
            return f"a list, such as {example}"
        wrong = next((expected for one in value if (expected := rule(one)) is not None), None)
        return None if wrong is None else f"a list of values, each {wrong}, such as {example}"

    return check


def mapping(keys: Sequence[str], example: str) -> Rule:
    """A mapping from some of ``keys`` to texts."""

    def check(value: Any) -> str | None:
        fits = isinstance(value, Mapping) and all(key in keys and text()(one) is None for key, one in value.items())
        return None if fits else f"a name for some of {', '.join(keys)}, such as {example}"

    return check


def either(*rules: Rule) -> Rule:
    """What fits one of the rules."""

    def check(value: Any) -> str | None:
        expected = [rule(value) for rule in rules]
        return None if None in expected else " or ".join(str(one) for one in expected)

    return check


def expecting(expected: str, rule: Rule) -> Rule:
    """``rule`` with another message."""
    return lambda value: None if rule(value) is None else expected


def setting(default: Any, help: str, rule: Rule, *, optional: bool = False) -> Any:
    """A field of a dataclass of settings.

    Parameters
    ----------
    default : its value where nobody says otherwise; a list is kept as a tuple
    help : one line for ``--help``
    rule : what it may be
    optional : whether None is a value of it
    """
    return field(default=default, metadata={"help": help, "rule": rule, "optional": optional})


@dataclass(frozen=True)
class Description:
    """A setting as ``--help`` shows it; the command line has it as ``spelled``."""

    name: str
    default: Any
    spelled: str
    help: str
    rule: Rule
    optional: bool


def described(settings: type) -> list[Description]:
    """The settings of a dataclass, in their order; each has a default."""
    spelling = getattr(settings, "spelling", {})
    settings_fields = [f for f in fields(settings) if "rule" in f.metadata]
    assert all(f.default is not MISSING for f in settings_fields)
    return [Description(f.name, f.default, spelled=spelling.get(f.name, f.name), **f.metadata) for f in settings_fields]


def described_by_name(groups: Mapping[str, type]) -> dict[str, Description]:
    """Settings of several dataclasses by their dotted names; those of the group "" have none before theirs."""
    return {f"{group}.{one.spelled}" if group else one.spelled: one
            for group, kind in groups.items() for one in described(kind)}


def names(settings: type) -> list[str]:
    """Names of the settings of a dataclass."""
    return [one.name for one in described(settings)]


def nearest(word: str, words: Iterable[str], prefix: str = "") -> str:
    """``"; the nearest is …"`` for the word most like ``word``, large and small letters alike, or nothing."""
    lower = {one.lower(): one for one in words}
    close = get_close_matches(word.lower(), lower, n=1, cutoff=0.5)
    return f"; the nearest is {prefix}{lower[close[0]]}" if close else ""


def check(settings: type, values: Mapping[str, Any], where: str = "") -> None:
    """Refuse values that are no settings of the dataclass, or do not fit.

    Parameters
    ----------
    where : group of the settings, which a message names them by: ``model``

    Raises
    ------
    UserError
        Naming the setting, its value and what was expected, or the setting that is most like an unknown one.
    """
    known = {one.name: one for one in described(settings)}
    spelled = {name: one.spelled if where else name for name, one in known.items()}
    prefix = f"{where}." if where else ""
    for name, value in values.items():
        if name not in known:
            near, there = nearest(name, spelled.values(), prefix), ", ".join(spelled.values())
            raise UserError(f"{prefix}{name}: no such setting{near}; there are {there or 'none'}")
        if value is None and known[name].optional:
            continue
        expected = known[name].rule(value)
        if expected is not None:
            raise UserError(f"{prefix}{spelled[name]}={shown(value)}: expected {expected}")


class Settings:
    """Base of the frozen dataclasses of settings: made is checked.

    Lists become tuples, so that two equal settings are equal. Of a choice of the command line the first line of its
    docstring stands in ``--help``.
    """

    #: Group of the command line that they belong to.
    group = ""
    #: Other group → the choice of it that comes with these settings, where nobody names another.
    chooses: ClassVar[Mapping[str, str]] = {}

    def __post_init__(self) -> None:
        for name in names(type(self)):
            value = getattr(self, name)
            if isinstance(value, Sequence) and not isinstance(value, str | tuple):
                object.__setattr__(self, name, tuple(value))
        check(type(self), {name: getattr(self, name) for name in names(type(self))}, self.group)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Settings from ``values``; what is left out keeps its default, and so does None where it is not a value.

        Raises
        ------
        UserError
            As :func:`check`.
        """
        optional = {one.name for one in described(cls) if one.optional}
        given = {name: value for name, value in values.items() if value is not None or name in optional}
        check(cls, given, cls.group)
        return cls(**given)


def shown(value: Any) -> str:
    """A value as the command line writes it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(shown(one) for one in value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {shown(one)}' for key, one in value.items())}}}"
    return str(value)


def plain(value: Any) -> Any:
    """A value as YAML has it: a tuple is a list."""
    return list(value) if isinstance(value, tuple) else value


def dotted(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings by their dotted names: ``{"model": {"K": 4}}`` is ``{"model.K": 4}``."""
    flat: dict[str, Any] = {}
    for key, value in content.items():
        flat |= dotted(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return flat


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
