"""Detect the type of a table column (numbers, yes or no, categories, dates, text, ids) and convert its cells."""

import re
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from semicrowd.data.units import Unit, bare_numbers, has_unit, is_known, may_be_ids, unit_of, without_unit
from semicrowd.errors import UserError

#: Words that stand for an empty cell, whatever the column.
_NO_CELL = frozenset({
    "", "nan", "na", "n/a", "n.a.", "null", "?", "??", "-", "--", "---", "–", "—", ".", "#n/a", "#nv",
})  # fmt: skip
#: Words that count as one in a column of numbers, or of yes and no; in a column of categories they are categories.
_EMPTY = _NO_CELL | {
    "none", "missing", "unknown", "not available", "not known", "no data", "k.a.", "k. a.", "ka", "keine angabe",
    "unbekannt", "fehlt", "n.v.", "n. v.", "nicht verfügbar",
}
#: Words for yes.
_YES = frozenset({"true", "yes", "y", "t", "ja"})
#: Words for no.
_NO = frozenset({"false", "no", "n", "f", "nein"})
_INFINITE = frozenset({"inf", "-inf", "+inf", "infinity", "-infinity"})
#: Names of columns that are always ids, independent of their content; an index written by pandas has an empty name.
_IDS = frozenset({"", "unnamed: 0", "id", "item", "index", "key", "uuid"})
#: Endings of a column's name with which it counts as ids, if its values are distinct: customer_id, row_nr.
_ID_ENDS = re.compile(r"(?:^|[ _.-])(?:id|uuid|key|index|no|nr|number)$|[a-z](?:ID|Id|Key|No|Nr|Number)$", re.ASCII)
#: The one of these endings that only counts in a first column: another one may be a body_mass_index.
_INDEX = "index"
#: Rows from which on different whole numbers in all of them look like ids: in fewer, measurements often differ, too.
_MANY_ROWS = 30
#: Largest share of empty or repeated cells with which a column of texts is probably meant as ids.
_FEW_WRONG = 0.02
#: A text column with more different values is not a category.
_MOST_CATEGORIES = 30
#: Maximal number of cells of a text column that are checked for dates.
_SAMPLE = 200
#: First and last date that a whole number may be, with the digits of year, month and day: 20210119.
_YEARS = (19000101, 21001231)
#: A column counts as dates if at least this share of the checked cells are dates.
_DATES = 0.9

NUMBER = "number"
YES_NO = "yes or no"
CATEGORY = "category"
DATE = "date"
TEXT = "text"
#: Numbers with units that cannot be removed.
UNITS = "numbers with units"


class Kind(NamedTuple):
    """The type of a column.

    Attributes
    ----------
    name : one of the constants of this module
    reason : why it cannot be a feature, for messages; empty if it can
    unit : that its numbers have in each cell, or how they are written if they are no plain numbers; else None
    unclear : whether no cell of the column says what 1,234 means in it
    """

    name: str
    reason: str = ""
    unit: Unit | None = None
    unclear: bool = False


#: A digit beside a year, three numbers, a time or letters of a month: pandas takes 1-9, 1/4 and T1 for dates, too.
_LIKE_A_DATE = re.compile(r"^(?=.*\d)(?:.*\d{4}|.*\d\D+\d+\D+\d|.*\d:\d\d|.*[^\W\d_]{3})")


def kind_of(cells: pd.Series, comma: bool | None = None) -> Kind:
    """The type of a column.

    Parameters
    ----------
    comma : whether 1,234 has a decimal comma, where no cell of the column says it; None: not known
    """
    if cells.dtype.kind in "fiub":
        return Kind(YES_NO) if cells.dtype.kind == "b" else _number_or_date(cells)
    if cells.dtype.kind in "mM":
        return Kind(DATE, "a date")
    texts = [text(cell) for cell in cells]
    known = without_gaps(texts)
    lower = [one.lower() for one in known]
    words = {one.lower() for one in texts if one.lower() not in _NO_CELL}
    if not lower and len(words) > 1:
        return Kind(CATEGORY)  # such as "none" and "unknown", which then say something
    if not lower or all(word in _YES | _NO for word in lower):
        return Kind(YES_NO if lower else NUMBER)
    numbers = pd.to_numeric(pd.Series(lower), errors="coerce")
    different = len(set(texts))
    few = different < len(texts) and different <= min(max(len(texts) // 2, 5), _MOST_CATEGORIES)
    if (bare := bare_numbers(known, few=few, comma=comma)).unit is not None or bare.problem:
        return Kind(UNITS if bare.problem else NUMBER, bare.problem, bare.unit, bare.unclear)
    if numbers.notna().mean() >= 0.5:
        return _number_or_date(numbers) if numbers.notna().all() else Kind(NUMBER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sample = pd.Series(lower[:_SAMPLE])
        dates = pd.to_datetime(sample, errors="coerce", format="mixed").notna() & sample.str.contains(_LIKE_A_DATE)
    unit, problem, unclear = unit_of(known, few=few, comma=comma)
    if dates.mean() >= _DATES and not (unit is not None and is_known(unit.name)):
        return Kind(DATE, "a date")
    if unit is not None or problem:
        return Kind(UNITS if problem else NUMBER, problem, unit, unclear)
    if few:
        return Kind(CATEGORY)
    if all(has_unit(one) is False for one in known):
        odd = known[int(numbers.isna().argmax())]
        return Kind(TEXT, f"numbers with signs between thousands or decimal commas, such as {odd}; write 1234.5")
    return Kind(TEXT, f"text, {different} different values in {len(texts)} rows{_nearly_ids(texts)}")


def _number_or_date(cells: pd.Series) -> Kind:
    """The type of a column of numbers: dates, if every one that is there is written as year, month and day."""
    there = cells.dropna()
    if len(there) and there.between(*_YEARS).all() and not (there % 1).any():
        digits = pd.Series(there.unique()).astype("int64").astype(str)
        if pd.to_datetime(digits, format="%Y%m%d", errors="coerce").notna().all():
            return Kind(DATE, f"a date written as a number, such as {digits[0]}")
    return Kind(NUMBER)


def _nearly_ids(texts: Sequence[str]) -> str:
    """What keeps a column of texts from being the ids, if only few cells do; empty otherwise."""
    cells = pd.Series(texts)
    wrong = cells[cells.duplicated() | (cells == "")]
    if not 0 < len(wrong) <= max(1, _FEW_WRONG * len(cells)):
        return ""
    item, cell = next(wrong.items())
    example = f"{cell[:50]} occurs again in item {item}" if cell else f"item {item} has none"
    return f", which could be ids if each item had one of its own: {example}"


def called_ids(header: Sequence[str]) -> str | None:
    """The column that is called as ids are: id or similar, or the first one, if it ends so (customer_id)."""
    named = [name for name in header if name.lower() in _IDS]
    if named:
        return named[0]
    return header[0] if _ends_as_ids(header[0]) else None


def _ends_as_ids(name: str) -> bool:
    return bool(_ID_ENDS.search(name) or _ID_ENDS.search(name.lower()))


def id_column(frame: pd.DataFrame) -> str | None:
    """The column with the items' ids; None without one.

    It is called id or similar; or it is the first column and has distinct texts; or it is one of :func:`id_columns`.
    """
    first, called = str(frame.columns[0]), called_ids([str(name) for name in frame.columns])
    if called is not None and called.lower() in _IDS:
        return called
    by_name = called is not None and not _has_fractions(frame[first])
    if (by_name or _may_be_ids(frame[first])) and _are_distinct(frame[first]):
        return first
    return next(iter(id_columns(frame)), None)


def id_columns(frame: pd.DataFrame) -> list[str]:
    """Columns whose names end as those of ids do (customer_id, order_no), whose cells are distinct and no fractions."""
    return [name for name in map(str, frame.columns)
            if _ends_as_ids(name) and not name.lower().endswith(_INDEX)
            and not _has_fractions(frame[name]) and _are_distinct(frame[name])]


def look_like_ids(cells: pd.Series) -> bool:
    """Whether they are a different whole number in each of many rows, as ids are, but amounts may be, too."""
    if cells.dtype.kind not in "iuf" or len(cells) < _MANY_ROWS:
        return False
    return not cells.isna().any() and not _has_fractions(cells) and bool(cells.is_unique)


def _may_be_ids(cells: pd.Series) -> bool:
    """Whether they are texts, or numbers with something attached that is no unit."""
    kind = kind_of(cells)
    with_unit = kind.unit is not None and kind.unit.name
    return kind.name == TEXT or (bool(with_unit) and may_be_ids([text(cell) for cell in cells]))


def _are_distinct(cells: pd.Series) -> bool:
    """Whether each cell has a text of its own."""
    texts = [text(cell) for cell in cells]
    return len(set(texts)) == len(texts) and "" not in texts


def _has_fractions(cells: pd.Series) -> bool:
    """Whether they are numbers some of which are not whole, such as those of a refractive_index."""
    values = numbers(cells, NUMBER)
    return bool((values[~np.isnan(values)] % 1 != 0).any())


def column_called(name: str, frame: pd.DataFrame) -> str | None:
    """The column of this name, in capitals or not (label, Label); None without one."""
    if name in frame:
        return name
    return next((str(one) for one in frame.columns if str(one).lower() == name), None)


def ids_of(frame: pd.DataFrame, column: str, where: str) -> tuple[str, ...]:
    """The items' ids.

    Raises
    ------
    UserError
        If an id is empty or occurs twice; the message names the rows.
    """
    texts = [id_text(cell) for cell in frame[column]]
    first: dict[str, int] = {}
    for row, name in enumerate(texts):
        if not name:
            raise UserError(f"{where}, item {row}, column {column or 'without a name'}: empty; expected its id")
        if name in first:
            raise UserError(f"{where}, column {column or 'without a name'}: {name[:50]} is the id of items "
                            f"{first[name]} and {row}; expected another one for each, or 'data.ignore=[{column}]'")
        first[name] = row
    return tuple(texts)


def id_text(cell: Any) -> str:
    """An id as text: whole numbers without a decimal point, which pandas adds if another cell is empty."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else text(cell)


def first_bad(cells: pd.Series, kind: str, unit: Unit | None = None) -> tuple[int, str] | None:
    """Row and content of the first cell that is not empty and not a number (or yes or no, in such a column).

    Parameters
    ----------
    unit : that numbers of the column may have
    """
    if cells.dtype.kind in "fiub":
        return None
    texts = pd.Series([text(cell) for cell in cells])
    words = _EMPTY | _INFINITE | (_YES | _NO if kind == YES_NO else frozenset())
    fine = pd.to_numeric(texts, errors="coerce").notna() | texts.str.lower().isin(words)
    if unit is not None:
        fine |= ~np.isnan(without_unit(texts, unit))
    bad = np.flatnonzero(~fine.to_numpy())
    return (int(bad[0]), texts.iloc[bad[0]]) if len(bad) else None


def gap_words(cells: pd.Series) -> tuple[str, ...]:
    """The different words of a column of numbers that count as empty cells, as they are written."""
    if cells.dtype.kind in "fiub":
        return ()
    return tuple(sorted({word for cell in cells if (word := text(cell)) and word.lower() in _EMPTY}))


def numbers(cells: pd.Series, kind: str, unit: Unit | None = None) -> np.ndarray:
    """Numbers [N] float64, without their unit; NaN for cells that are no numbers."""
    if cells.dtype.kind in "fiub":
        return cells.astype("float64").to_numpy()  # handles pandas' own missing values
    if unit is not None:
        return without_unit(cells.map(lambda cell: cell if isinstance(cell, int | float) else text(cell)), unit)
    texts = pd.Series([text(cell).lower() for cell in cells])
    if kind == YES_NO:
        texts = texts.map(lambda word: "1" if word in _YES else "0" if word in _NO else word)
    return pd.to_numeric(texts, errors="coerce").to_numpy(np.float64)


def word_of(number: float, words: Sequence[str]) -> str | None:
    """The word of a yes/no column that 1 or 0 stands for; None if the column has several, none, or another number."""
    meant = {1.0: _YES, 0.0: _NO}.get(number, frozenset())
    found = [word for word in words if word.lower() in meant]
    return found[0] if len(found) == 1 else None


def without_gaps(texts: Sequence[str]) -> list[str]:
    """The texts of cells that are not empty, if the column is one of numbers."""
    return [one for one in texts if one.lower() not in _EMPTY]


def text(cell: Any) -> str:
    """The text of a cell; "" for an empty one."""
    return "" if cell is None or cell is pd.NA or (isinstance(cell, float) and np.isnan(cell)) else str(cell).strip()
