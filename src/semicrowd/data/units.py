"""Columns of numbers with a unit in each cell, such as "12,1 kW", "45 %" or "€ 12.50": find the unit and remove it.

And columns of numbers without one that have signs between thousands or decimal commas, such as "13,934" and "0,5".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from semicrowd.errors import listed

_MONEY = ("€", "$", "£", "¥", "₹", "EUR", "USD", "GBP", "CHF", "JPY")
#: A number, perhaps with signs or spaces between thousands. Its unit comes after it; that of money may come before.
_CELL = re.compile(
    rf"(?P<money>{'|'.join(map(re.escape, _MONEY))})?\s*"
    r"(?P<number>[+−-]?(?:\d[\d.,'’\u00a0\u202f ]*)?\d(?:[eE][+-]?\d+)?)"
    r"(?P<space>\s*)(?P<unit>(?:[^\W\d_]|[%‰°€$£¥₹\"″′])[^\s;,()]{0,14}(?: [^\d\s;,()][^\s;,()]{0,9})?)?"
)
#: Spaces and apostrophes in front of a group of three digits.
_GROUPS = re.compile(r"(?<=\d)[\u00a0\u202f '’](?=\d{3}(?!\d))")
#: A number with a sign in front of each group of three digits: 1,234,567.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:,\d{3})+)")
#: One whose only sign may also be the decimal one.
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
#: A number without a unit, perhaps with signs or spaces between all of its thousands, unlike a telephone number.
_BARE = re.compile(
    r"[+−-]?(?:\d*|[1-9]\d{0,2}(?:(?:[\u00a0\u202f '’]\d{3})+|(?:,\d{3})+|(?:\.\d{3})+))(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
)
TWO_MEANINGS = "may have a decimal sign or one between thousands"
#: Numbers that need no unit.
_ZEROS = ("0", "0.0", "0,0")
#: Smallest share of the cells of a column that have the same unit; the others may have none.
_NEARLY_ALL = 0.9
#: Cells at the beginning of a column of which half must be numbers, or the others are not looked at.
_SAMPLE = 200
_PREFIXES = ("", "n", "µ", "m", "c", "d", "h", "k", "M", "G", "T")
_SCALED = (
    "m", "g", "s", "W", "A", "V", "Hz", "J", "Pa", "bar", "l", "L", "N", "Wh", "m²", "m³", "m2", "m3", "Ω", "cal",
    "mol",
)  # fmt: skip
#: Units of which a column should have only one. Other words after numbers may be those of categories: 1st, 2nd, 3rd.
_KNOWN = {prefix + unit for prefix in _PREFIXES for unit in _SCALED} | {
    "t", "lb", "lbs", "oz", "ft", "in", "yd", "mi", "min", "h", "hr", "hrs", "d", "PS", "hp", "ha", "kB", "MB", "GB",
    "TB", "°C", "°F", "K", "%", "‰", "mph", "km/h", "m/s", "year", "years", "yr", "yrs", "day", "days", "hour", "hours",
    "Jahr", "Jahre", "Tag", "Tage", "Std", *_MONEY,
}  # fmt: skip


@dataclass(frozen=True)
class Unit:
    """The unit of a column, and how its numbers are written.

    Attributes
    ----------
    name : the unit, as most cells have it; empty if they have none, but signs that are not those of plain numbers
    comma : True if 1,234 is a number with a decimal comma; False if the comma is between thousands
    by : what says so, for the table of the columns; empty if it is the column's own cells
    """

    name: str
    comma: bool = False
    by: str = ""


class Found(NamedTuple):
    """How the numbers of a column are written.

    Attributes
    ----------
    unit : None if there is none, and no sign that has to be read
    problem : why cells that are numbers cannot be used; empty if there is no such problem
    unclear : whether no cell of the column says what 1,234 or 1.234 means in it
    """

    unit: Unit | None = None
    problem: str = ""
    unclear: bool = False


def bare_numbers(cells: Sequence[str], *, few: bool, comma: bool | None = None) -> Found:
    """How numbers without a unit are written, if some of them are no plain numbers, such as 13,934 or 0,5.

    Parameters
    ----------
    cells, few, comma : as of :func:`unit_of`
    """
    head = cells[:_SAMPLE]
    if 2 * sum(_BARE.fullmatch(cell) is not None for cell in head) < len(head):
        return Found()
    found = [cell for cell in cells if _BARE.fullmatch(cell) and _is_number(cell)]
    numbers = [_GROUPS.sub("", cell) for cell in found]
    plain = all(map(_is_plain, found)) and not (comma and any(map(_EITHER.fullmatch, numbers)))
    if plain or len(found) < (1 if few else _NEARLY_ALL) * len(cells):
        return Found()
    return _read(Unit(""), found, numbers, comma)


def unit_of(cells: Sequence[str], *, few: bool, comma: bool | None = None) -> Found:
    """The unit of a column, if all or nearly all of its cells are numbers with the same one.

    Parameters
    ----------
    cells : texts of the cells that are not empty
    few : whether these are few different texts, so that they may be categories: the unit then has to be a known one,
        as in 5 kg and not in 3rd or 12 Main St, and all cells numbers, and different units are no problem
    comma : the meaning of 1,234 where no cell of the column says it, as of :class:`Unit`; None: not known
    """
    head = cells[:_SAMPLE]
    if 2 * sum(_CELL.fullmatch(cell) is not None for cell in head) < len(head):
        return Found()
    found = [one for cell in cells if (one := _CELL.fullmatch(cell)) and _is_number(one["number"])]
    names = pd.Series([_unit(one) for one in found if _unit(one)], dtype=str)
    nearly_all = _NEARLY_ALL * len(cells)
    if names.empty or len(found) < (len(cells) if few else nearly_all):
        return Found()
    most = names.map(_same).value_counts()  # kg and KG are the same unit
    zeros = sum(one[0] in _ZEROS for one in found)
    if len(most) > 1 or most.iloc[0] + zeros < nearly_all:
        return Found(problem="" if few else _several(found))
    unit = str(names.mode()[0])
    if few and (not is_known(unit) or all(_has_letter(one) and one["number"].isdecimal() for one in found)):
        return Found()
    return _read(Unit(unit), [one[0] for one in found], [_GROUPS.sub("", one["number"]) for one in found], comma)


def _read(unit: Unit, cells: Sequence[str], numbers: Sequence[str], comma: bool | None) -> Found:
    """How the signs of ``numbers`` are read, those of ``cells`` without unit and spaces."""
    own = _own_comma(numbers)
    said = own if own is not None else comma if comma is not None else _usual(numbers)
    if said is None:
        example = next(cell for cell, one in zip(cells, numbers, strict=True) if _EITHER.fullmatch(one))
        what = f"numbers with unit {unit.name}; " if unit.name else ""
        return Found(problem=f"{what}{example} {TWO_MEANINGS}", unclear=True)
    return Found(replace(unit, comma=said), unclear=own is None and any(map(_EITHER.fullmatch, numbers)))


def has_decimal_comma(cells: Sequence[str]) -> bool | None:
    """Whether a column of numbers, with or without units, has decimal commas; None if no cell says so, or both."""
    found = [one["number"] for cell in cells if (one := _CELL.fullmatch(cell)) and _is_number(one["number"])]
    if len(found) < _NEARLY_ALL * len(cells):
        return None
    return next(iter(said)) if len(said := _meanings([_GROUPS.sub("", one) for one in found])) == 1 else None


def without_unit(cells: pd.Series, unit: Unit) -> np.ndarray:
    """Numbers [N] float64 of texts and numbers; NaN for texts that are no numbers, or have another unit."""
    plain = cells.map(lambda cell: _plain(cell, unit) if isinstance(cell, str) else cell)
    return pd.to_numeric(plain, errors="coerce").to_numpy(np.float64)


def first_with_two_meanings(cells: pd.Series, unit: Unit) -> tuple[int, str] | None:
    """Row and text of the first number, such as 1.234, whose sign is read as in the fit but may mean something else.

    It may where another cell of the column clearly has the other decimal sign, such as 1234.50 after a fit to
    € 1.234,00. That cell itself has one meaning, and so has 1.234,50. Cells with and without unit are told apart, as
    they may be from different sources. None if there is no such number.
    """
    found = [(row, one) for row, cell in enumerate(cells) if isinstance(cell, str)
             and (one := _CELL.fullmatch(cell.strip())) and _is_number(one["number"])]  # fmt: skip
    ambiguous: list[tuple[int, str]] = []
    for with_unit in (False, True):
        alike = [(row, one, _GROUPS.sub("", one["number"])) for row, one in found if bool(_unit(one)) == with_unit]
        if ("." if unit.comma else ",") in _decimal_signs([number for *_, number in alike]):
            ambiguous += [(row, one[0]) for row, one, number in alike if _EITHER.fullmatch(number)]
    return min(ambiguous, default=None)


def has_unit(cell: str) -> bool | None:
    """Whether a text is a number with a unit, of whatever kind; None if it is no number."""
    found = _CELL.fullmatch(cell)
    return bool(_unit(found)) if found and _is_number(found["number"]) else None


def may_be_ids(cells: Sequence[str]) -> bool:
    """Whether numbers with the same unit may be ids instead, as 12a, 13a or 7 Paris, 8 Paris.

    12kg is no id, because kg is a unit, and neither is 12 %.
    """
    found = [one for cell in cells if (one := _CELL.fullmatch(cell))]
    return all(_has_letter(one) or not is_known(_unit(one)) or one["number"].startswith("0") for one in found)


def is_known(unit: str) -> bool:
    """Whether this is the name of a unit, in whatever capitals."""
    return _same(unit) in _KNOWN_SAME


def _has_letter(cell: re.Match[str]) -> bool:
    """Whether a single letter is attached to a number, as in 5A, 1.1a or 12m, which may be of a flat or a class."""
    unit = _unit(cell)
    return not cell["space"] and len(unit) == 1 and unit.isalpha()


def _is_number(text: str) -> bool:
    """Whether digits and signs are those of a number, unlike 1.2.3 and 5'11."""
    try:
        float(_with_point(text, comma=False))
    except ValueError:
        return False
    return True


def may_be_thousands(cells: pd.Series) -> str | None:
    """A number such as 1.234, if all numbers of a column that are not whole are such; None if one is not, or none is.
    """
    parted = [cell.strip() for cell in cells if isinstance(cell, str) and "." in cell]
    return parted[0] if parted and all(map(_EITHER.fullmatch, parted)) else None


def _is_plain(text: str) -> bool:
    """Whether a number has a decimal point or none, and nothing between thousands."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _unit(cell: re.Match[str]) -> str:
    return (cell["unit"] or cell["money"] or "").rstrip(".")


def _same(unit: str) -> str:
    """A spelling that two names of the same unit share: capitals do not matter, except those of mW and MW."""
    if unit not in _KNOWN and unit.lower() in _KNOWN:  # MM, MIN
        unit = unit.lower()
    return unit[:1] + unit[1:].casefold() if unit.startswith(("m", "M")) else unit.casefold()


def _several(cells: Sequence[re.Match[str]]) -> str:
    """What is wrong with numbers that do not have the same unit; empty if they may be categories or texts."""
    units = {_unit(cell) for cell in cells} - {""}
    # One letter that is attached may be that of a class or a flat: 5A, 5B.
    clear = any(len(name) > 1 or not name.isalpha() for name in units) or any(cell["space"] for cell in cells)
    if not clear or not units <= _KNOWN:
        return ""
    examples: dict[str, str] = {}
    for cell in cells:
        if cell[0] not in _ZEROS:
            examples.setdefault(_same(_unit(cell)), cell[0])
    return f"numbers with different units, or with and without one: {listed(list(examples.values()), 3)}; use one unit"


def _decimal_signs(numbers: Sequence[str]) -> set[str]:
    """Signs that are the decimal one for sure, since no three digits follow them."""
    return {sign for one in numbers if not _THOUSANDS.fullmatch(one) for sign in re.findall("[.,]", one)[-1:]}


def _meanings(numbers: Sequence[str]) -> set[bool]:
    """What numbers with one meaning say: True that the comma is the decimal sign, False that the point is."""
    said = {sign == "," for sign in _decimal_signs(numbers)}
    said |= {sign == "." for sign in ".," if any(one.count(sign) > 1 for one in numbers)}
    return said


def _own_comma(numbers: Sequence[str]) -> bool | None:
    """Whether 1,234 is a number with a decimal comma in this column; None if no cell says so, or both."""
    said = _meanings(numbers)
    if len(said) > 1:  # does no harm where every number has one meaning
        return None if any(map(_EITHER.fullmatch, numbers)) else True
    return next(iter(said), None)


def _usual(numbers: Sequence[str]) -> bool | None:
    """As :func:`_own_comma` where no cell says so, and nothing else does: False, a decimal point, or None.

    1.234 has a decimal point if all numbers have three digits after one; beside 999, it may have one between thousands.
    Beside numbers that say both, nothing is clear.
    """
    either = sum(bool(_EITHER.fullmatch(one)) for one in numbers)
    unclear = any("," in one for one in numbers) or 0 < either < len(numbers) or len(_meanings(numbers)) > 1
    return None if unclear else False


def _plain(cell: str, unit: Unit) -> str:
    """The number in a cell with a decimal point and nothing between thousands; empty if it has another unit.

    Another text is returned as it is: it may be a number in a further way of writing, such as .5 or inf.
    """
    found = _CELL.fullmatch(cell)
    if not found:
        return cell
    if _unit(found) and _same(_unit(found)) != _same(unit.name):
        return ""
    return _with_point(found["number"], comma=unit.comma)


def _with_point(text: str, *, comma: bool) -> str:
    """A number with a decimal point and nothing between thousands; ``comma`` is that of :class:`Unit`."""
    number = _GROUPS.sub("", text).replace("−", "-")
    signs = re.findall("[.,]", number)
    if not signs:
        return number
    if _THOUSANDS.fullmatch(number) and not (_EITHER.fullmatch(number) and signs[0] == ("," if comma else ".")):
        return re.sub("[.,]", "", number)
    whole, decimal, fraction = number.rpartition(signs[-1])
    if _THOUSANDS.fullmatch(whole) and decimal not in whole:
        whole = re.sub("[.,]", "", whole)
    return f"{whole}.{fraction}"


_KNOWN_SAME = frozenset(map(_same, _KNOWN))
