"""What the cells of a column of a user's table say: numbers, yes or no, categories, dates, text, or the items' ids."""

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.errors import UserError

#: Words that count as an empty cell in a column of numbers.
_EMPTY = frozenset({"", "nan", "na", "n/a", "null", "none", "?", "-", "."})
#: Words for yes.
_YES = frozenset({"true", "yes", "y", "t"})
#: Words for no.
_NO = frozenset({"false", "no", "n", "f"})
_INFINITE = frozenset({"inf", "-inf", "+inf", "infinity", "-infinity"})
#: Names of a column that holds the items' ids, whatever stands in it; an index that pandas has written has none.
_IDS = frozenset({"", "unnamed: 0", "id", "item", "index", "key", "uuid"})
#: Ends of a first column's name that make it ids, where nothing is in it twice: customer_id, CustomerID, row_nr.
_ID_ENDS = re.compile(r"(?:^|[ _.-])(?:id|uuid|key|index|no|nr)$|[a-z]I[Dd]$", re.ASCII)
#: Text of more different values is no category.
_MOST_CATEGORIES = 30
#: Cells of a text column that are checked for dates, at most.
_SAMPLE = 200
#: Share of these that have to be dates in a column of dates.
_DATES = 0.9

NUMBER = "number"
YES_NO = "yes or no"
CATEGORY = "category"
DATE = "date"
TEXT = "text"


def kind_of(cells: pd.Series) -> tuple[str, str]:
    """What a column is; of a date or a text also why, for people."""
    if cells.dtype.kind in "fiub":
        return (YES_NO if cells.dtype.kind == "b" else NUMBER), ""
    if cells.dtype.kind in "mM":
        return DATE, "a date"
    texts = [text(cell) for cell in cells]
    lower = [one.lower() for one in texts if one.lower() not in _EMPTY]
    if not lower or all(word in _YES | _NO for word in lower):
        return (YES_NO if lower else NUMBER), ""
    numbers = pd.to_numeric(pd.Series(lower), errors="coerce")
    if numbers.notna().mean() >= 0.5:
        return NUMBER, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sample = pd.Series(lower[:_SAMPLE])
        dates = pd.to_datetime(sample, errors="coerce", format="mixed").notna() & sample.str.contains(r"\d")
    if dates.mean() >= _DATES:
        return DATE, "a date"
    different = len(set(texts))
    if different < len(texts) and different <= min(max(len(texts) // 2, 5), _MOST_CATEGORIES):
        return CATEGORY, ""
    return TEXT, f"text, {different} different values in {len(texts)} rows"


def id_column(frame: pd.DataFrame) -> str | None:
    """The column that names the items: called id or the like, or the first one where it is text, all different."""
    named = [name for name in frame.columns if name.lower() in _IDS]
    if named:
        return str(named[0])
    first = str(frame.columns[0])
    called = _ID_ENDS.search(first) or _ID_ENDS.search(first.lower())
    if not called and kind_of(frame[first])[0] != TEXT:
        return None
    texts = [text(cell) for cell in frame[first]]
    return None if len(set(texts)) < len(texts) or "" in texts else first


def ids_of(frame: pd.DataFrame, column: str, where: str) -> tuple[str, ...]:
    """The items' ids.

    Raises
    ------
    UserError
        Naming the row of an empty one, and the rows of one that is there twice.
    """
    texts = [_id(cell) for cell in frame[column]]
    first: dict[str, int] = {}
    for row, name in enumerate(texts):
        if not name:
            raise UserError(f"{where}, item {row}, column {column or 'without a name'}: empty; expected its id")
        if name in first:
            raise UserError(f"{where}, column {column or 'without a name'}: {name[:50]} is the id of items "
                            f"{first[name]} and {row}; expected another one for each, or 'data.ignore=[{column}]'")
        first[name] = row
    return tuple(texts)


def _id(cell: Any) -> str:
    """A name as answers write it: whole numbers without a point, which a table has where another cell was empty."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else text(cell)


def first_bad(cells: pd.Series, kind: str) -> tuple[int, str] | None:
    """Row and content of the first cell that is neither a number, or a yes or no in a column of these, nor empty."""
    if cells.dtype.kind in "fiub":
        return None
    texts = pd.Series([text(cell) for cell in cells])
    words = _EMPTY | _INFINITE | (_YES | _NO if kind == YES_NO else frozenset())
    fine = pd.to_numeric(texts, errors="coerce").notna() | texts.str.lower().isin(words)
    bad = np.flatnonzero(~fine.to_numpy())
    return (int(bad[0]), texts.iloc[bad[0]]) if len(bad) else None


def numbers(cells: pd.Series, kind: str) -> np.ndarray:
    """[N] float64; nan for what is none."""
    if cells.dtype.kind in "fiub":
        return cells.astype("float64").to_numpy()  # which knows pandas' own missing values
    texts = pd.Series([text(cell).lower() for cell in cells])
    if kind == YES_NO:
        texts = texts.map(lambda word: "1" if word in _YES else "0" if word in _NO else word)
    return pd.to_numeric(texts, errors="coerce").to_numpy(np.float64)


def text(cell: Any) -> str:
    """What is written in a cell; "" for an empty one."""
    return "" if cell is None or cell is pd.NA or (isinstance(cell, float) and np.isnan(cell)) else str(cell).strip()
