"""Settings as fields of dataclasses: default, rule and line of help of each; and functions that check values.

A rule returns None for a valid value, else a text that describes valid values. It does not look at the data.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Self

from semicrowd.errors import UserError

#: Function of a value: None if it is valid, else what was expected.
Rule = Callable[[Any], str | None]
#: Largest whole number of a setting: larger values are probably typing errors.
LARGEST = 2**32 - 1


def whole(low: int, high: int = LARGEST) -> Rule:
    """A whole number from ``low`` to ``high``."""
    expected = f"a whole number >= {low}" if high == LARGEST else f"a whole number from {low} to {high}"
    return lambda value: None if _is_whole(value) and low <= value <= high else expected


def number_of_jobs(value: Any) -> str | None:
    """A number of processes, or −1 for one on each core."""
    return None if _is_whole(value) and (value == -1 or 1 <= value <= 1024) else "a whole number from 1 to 1024, or -1"


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
        """None if the value is one of the words, else the words."""
        return None if isinstance(value, str) and value in self.names else " or ".join(self.names)


choice = Choice


def flag() -> Rule:
    """True or false."""
    return lambda value: None if isinstance(value, bool) else "true or false"


def file_path(what: str = "file") -> Rule:
    """A path that need not exist; ``what`` names it in the message."""
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


def keywords(names: Sequence[str], example: str) -> Rule:
    """A mapping from some of ``names`` to values that a library's function checks."""

    def check(value: Any) -> str | None:
        fits = isinstance(value, Mapping) and all(name in names for name in value)
        return None if fits else f"some of {', '.join(names)}, such as {example}"

    return check


def either(*rules: Rule) -> Rule:
    """A value that fits one of the rules."""

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
    default : value if the setting is not given; a list is kept as a tuple
    help : one line for ``--help``
    rule : of its values
    optional : whether None is valid
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
    """Settings of several dataclasses by their dotted names; settings of the group "" have no prefix."""
    return {f"{group}.{one.spelled}" if group else one.spelled: one
            for group, kind in groups.items() for one in described(kind)}


def names(settings: type) -> list[str]:
    """Names of the settings of a dataclass."""
    return [one.name for one in described(settings)]


def check(settings: type, values: Mapping[str, Any], where: str = "") -> None:
    """Check that the values are valid settings of the dataclass.

    Parameters
    ----------
    where : group, such as ``model``, which is put before the name in messages
    """
    known = {one.name: one for one in described(settings)}
    spelled = {name: one.spelled if where else name for name, one in known.items()}
    prefix = f"{where}." if where else ""
    for name, value in values.items():
        if name not in known:
            there = ", ".join(spelled.values())
            raise UserError(f"{prefix}{name}: no such setting; there are {there or 'none'}")
        if value is None and known[name].optional:
            continue
        expected = known[name].rule(value)
        if expected is not None:
            raise UserError(f"{prefix}{spelled[name]}={shown(value)}: expected {expected}")


class Settings:
    """Base class of the frozen dataclasses of settings. Values are checked when an object is made.

    Lists become tuples, so that two equal settings are equal. If the class is a choice
    of the command line, ``--help`` shows the first line of its docstring.
    """

    #: Group of the command line to which they belong.
    group = ""
    #: Other group → the choice that these settings select there, unless the user selects another.
    chooses: ClassVar[Mapping[str, str]] = {}

    def __post_init__(self) -> None:
        for name in names(type(self)):
            value = getattr(self, name)
            if isinstance(value, Sequence) and not isinstance(value, str | tuple):
                object.__setattr__(self, name, tuple(value))
        check(type(self), {name: getattr(self, name) for name in names(type(self))}, self.group)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Settings from ``values``; missing ones keep their defaults, and so does None where None is not valid."""
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
