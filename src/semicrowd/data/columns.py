"""What each column of a table is to the methods: a number, a yes or no, categories, the items' names, or nothing.

Methods take numbers alone. What a file's columns become is decided once, on the items that a run learns from, and kept
(``columns.json``), so that new items are read the same way, by the columns' names.
"""

import json
import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.errors import UserError
from semicrowd.files import write_json

#: Where a run keeps it.
FILE = "columns.json"
#: Words that count as an empty cell in a column of numbers.
_EMPTY = frozenset({"", "nan", "na", "n/a", "null", "none", "?", "-", "."})
#: Words for yes.
_YES = frozenset({"true", "yes", "y", "t"})
#: Words for no.
_NO = frozenset({"false", "no", "n", "f"})
_INFINITE = frozenset({"inf", "-inf", "+inf", "infinity", "-infinity"})
#: Names of a column that holds the items' ids; a first column of text, all different, does so too.
_IDS = frozenset({"", "id", "item", "index", "key", "uuid"})
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


@dataclass(frozen=True)
class Column:
    """A column that becomes features.

    Attributes
    ----------
    name, kind : in the file; ``number``, ``yes or no`` or ``category``
    values : of a category, each of which becomes a column of 0 and 1; "" stands for an empty cell
    median : of the others, which stands in an empty cell of a method that needs every number
    gaps : whether some cells were empty; a column of 0 and 1 then says where
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()
    median: float = 0.0
    gaps: bool = False


@dataclass(frozen=True)
class Columns:
    """All columns of a table that become features, in their order.

    Attributes
    ----------
    ids : name of the column that holds the items' ids, None where there is none
    filled : whether empty cells are filled, and columns added that say where they were
    """

    columns: tuple[Column, ...]
    ids: str | None = None
    filled: bool = False

    @property
    def names(self) -> list[str]:
        """Of every feature, before gaps are filled: of a category its name for each of its values."""
        return [name for column in self.columns for name in [column.name] * (len(column.values) or 1)]

    @classmethod
    def of(cls, frame: pd.DataFrame, ids: str | None, where: str) -> tuple["Columns", tuple[str, ...]]:
        """What the columns of a table are, and a line of what was done with each that is not simply numbers.

        Parameters
        ----------
        where : what the table is called in an error

        Raises
        ------
        UserError
            Naming every column that can be no feature, and the way out.
        """
        found, refused, notes = [], {}, []
        for name in frame.columns:
            kind, more = kind_of(frame[name])
            if kind in (DATE, TEXT):
                refused[name] = more
                continue
            if kind == CATEGORY:
                values = tuple(sorted({_text(cell) for cell in frame[name]}))
                found.append(Column(name, kind, values))
                notes.append(f"column {name}: {len(values)} categories, a column of 0 and 1 for each")
                continue
            numbers = _numbers(frame[name], kind)
            known = numbers[~np.isnan(numbers)]
            gaps = len(known) < len(numbers)
            found.append(Column(name, kind, median=float(np.median(known)) if len(known) else 0.0, gaps=gaps))
            if kind == YES_NO:
                notes.append(f"column {name}: yes is 1, no is 0")
        if refused:
            said = ", ".join(f"{name} ({what})" for name, what in refused.items())
            raise UserError(f"{where}: no features can be made of {said}; "
                            f"leave them out with 'data.ignore=[{','.join(refused)}]', or put numbers in their place")
        return cls(tuple(found), ids), tuple(notes)

    def features(self, frame: pd.DataFrame, where: str) -> tuple[np.ndarray, tuple[str, ...]]:
        """The features of items, [N, D] float64, nan where a number is missing; and notes, a line each.

        Raises
        ------
        UserError
            Naming a column that is missing, or a cell that is no number.
        """
        missing = [column.name for column in self.columns if column.name not in frame]
        if missing:
            raise UserError(f"{where}: no column {', '.join(missing)}; expected those that the run was trained with: "
                            f"{', '.join(column.name for column in self.columns)}")
        notes = [f"column {name}: left out, the run was trained without" for name in frame.columns
                 if name not in {column.name for column in self.columns}]
        parts = []
        for column in self.columns:
            cells = frame[column.name]
            if column.kind != CATEGORY:
                parts.append(_numbers(cells, column.kind)[:, None])
                continue
            texts = np.array([_text(cell) for cell in cells])
            parts.append((texts[:, None] == np.array(column.values)).astype(float))
            unknown = sorted(set(texts.tolist()) - set(column.values))
            if unknown:
                notes.append(f"column {column.name}: {', '.join(unknown[:3])[:60]} not among the categories that the "
                             "run was trained with; taken for none of them")
        return np.hstack(parts), tuple(notes)

    def fill(self, features: np.ndarray) -> np.ndarray:
        """Medians in the place of missing numbers, and for each column that had gaps one of 0 and 1 that says where."""
        medians, gaps = [], []
        for column in self.columns:
            width = len(column.values) if column.kind == CATEGORY else 1
            medians += [column.median] * width
            gaps += [column.gaps] * width
        missing = np.isnan(features)
        filled = np.where(missing, np.array(medians), features)
        return np.hstack([filled, missing[:, np.array(gaps)]])

    def with_gaps_filled(self) -> tuple["Columns", tuple[str, ...]]:
        """The same for a method that needs every number, and what that does to which column."""
        notes = tuple(f"column {column.name}: the median, {column.median:.4g}, in the place of empty cells, and a "
                      "column of 0 and 1 that says where" for column in self.columns if column.gaps)
        return replace(self, filled=True), notes

    def write(self, folder: Path) -> None:
        """Keep it in a run's folder."""
        write_json(folder / FILE, asdict(self))

    @classmethod
    def read(cls, folder: Path) -> "Columns | None":
        """What a run has kept; None where its features were no table with names.

        Raises
        ------
        UserError
            For a file that is none of these.
        """
        path = folder / FILE
        if not path.is_file():
            return None
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            columns = tuple(Column(**{**one, "values": tuple(one["values"])}) for one in content["columns"])
            return cls(columns, content["ids"], content["filled"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}: not the columns of a run ({error})") from error


def kind_of(cells: pd.Series) -> tuple[str, str]:
    """What a column is; of a date or a text also why, for people."""
    if cells.dtype.kind in "fiub":
        return (YES_NO if cells.dtype.kind == "b" else NUMBER), ""
    if cells.dtype.kind in "mM":
        return DATE, "a date"
    texts = [_text(cell) for cell in cells]
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
    first = frame.columns[0]
    texts = [_text(cell) for cell in frame[first]]
    if kind_of(frame[first])[0] != TEXT or len(set(texts)) < len(texts) or "" in texts:
        return None
    return str(first)


def ids_of(frame: pd.DataFrame, column: str, where: str) -> tuple[str, ...]:
    """The items' ids.

    Raises
    ------
    UserError
        Naming the row of an empty one, and the rows of one that is there twice.
    """
    texts = [_text(cell) for cell in frame[column]]
    first: dict[str, int] = {}
    for row, text in enumerate(texts):
        if not text:
            raise UserError(f"{where}, item {row}, column {column or 'without a name'}: empty; expected its id")
        if text in first:
            raise UserError(f"{where}, column {column or 'without a name'}: {text[:50]} is the id of items "
                            f"{first[text]} and {row}; expected another one for each, or 'data.ignore=[{column}]'")
        first[text] = row
    return tuple(texts)


def first_bad(cells: pd.Series, kind: str) -> tuple[int, str] | None:
    """Row and content of the first cell that is neither a number, or a yes or no in a column of these, nor empty."""
    if cells.dtype.kind in "fiub":
        return None
    texts = pd.Series([_text(cell) for cell in cells])
    words = _EMPTY | _INFINITE | (_YES | _NO if kind == YES_NO else frozenset())
    fine = pd.to_numeric(texts, errors="coerce").notna() | texts.str.lower().isin(words)
    bad = np.flatnonzero(~fine.to_numpy())
    return (int(bad[0]), texts.iloc[bad[0]]) if len(bad) else None


def _numbers(cells: pd.Series, kind: str) -> np.ndarray:
    """[N] float64; nan for what is none."""
    if cells.dtype.kind in "fiub":
        return cells.astype("float64").to_numpy()  # which knows pandas' own missing values
    texts = pd.Series([_text(cell).lower() for cell in cells])
    if kind == YES_NO:
        texts = texts.map(lambda word: "1" if word in _YES else "0" if word in _NO else word)
    return pd.to_numeric(texts, errors="coerce").to_numpy(np.float64)


def _text(cell: Any) -> str:
    """What is written in a cell; "" for an empty one."""
    return "" if cell is None or cell is pd.NA or (isinstance(cell, float) and np.isnan(cell)) else str(cell).strip()
