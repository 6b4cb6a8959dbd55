"""Columns of a table as features: numbers, dates, categories; what is none of these is left out or refused.

skrub's :class:`~skrub.Cleaner` finds words for empty cells, its :class:`~skrub.ToDatetime` dates; scikit-learn's
OneHotEncoder and SimpleImputer make the features. skrub's TableVectorizer, which joins such steps, makes float32 of
numbers: 1.7e9 seconds since 1970 would lose two minutes. What is fitted is kept in :class:`Columns`, plain texts and
numbers that a model's file has (a fitted pipeline would have to be unpickled), and the steps are made of it anew.
"""

import json
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from semicrowd.data.frames import PAGE, place
from semicrowd.errors import UserError, listed

NUMBER, DATE, CATEGORY = "number", "date", "category"
#: Name in messages of a data frame that is passed to an estimator.
IN_PYTHON = "X"
#: A column of texts with more different values, or more than half as many as rows, is free text.
_MOST_CATEGORIES = 40
#: The squares of larger numbers are infinite in single precision.
LARGEST = 1e19
#: A number with a unit, a currency, a decimal comma or signs between thousands; 1st and 2nd are names.
_UNIT = re.compile(r"[^\w\s.,-]?\s?[-+]?\d[\d.,' ]*(?!(?:st|nd|rd|th)$)[^\d\s.,;:/_-]{0,8}")
#: Names that need no quotes in a list on the command line: Hydra reads others as numbers or not at all.
_UNQUOTED = re.compile(r"(?!(?:null|true|false|nan|inf)$)[a-z_][\w.-]*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Column:
    """A column of the table that becomes one or more features.

    Attributes
    ----------
    name, kind : its name in the table; number, date (seconds since 1970) or category
    values : the categories; "" is that of empty cells
    fill : median of the numbers, which replaces missing ones
    gaps : whether numbers are missing; where they are filled, a further feature marks them
    format : of dates in texts, as :meth:`datetime.datetime.strptime` has it
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()
    fill: float = 0.0
    gaps: bool = False
    format: str | None = None


@dataclass(frozen=True)
class Columns:
    """All columns of a table that become features, in their order; the fitted state of their conversion.

    Attributes
    ----------
    ids : name of the column with the items' ids; None without such a column
    filled : whether missing numbers are filled, with further features that mark them. False for methods that accept
        missing values
    named : whether columns have names; False for an array, where they are called by their numbers
    """

    columns: tuple[Column, ...]
    ids: str | None = None
    filled: bool = False
    named: bool = True

    @property
    def parts(self) -> list[tuple[str, str | None, bool]]:
        """Of each feature: the column's name, the category (or None), and whether it marks a missing number."""
        own = [(one.name, value, False) for one in self.columns for value in one.values or (None,)]
        return own + [(one.name, None, True) for one in self.columns if one.gaps and self.filled]

    @property
    def feature_names(self) -> list[str]:
        """A name of each feature: ``age``, ``region=north``, ``age is empty``."""
        return [f"{name} is empty" if gap else name if value is None else f"{name}={value}"
                for name, value, gap in self.parts]  # fmt: skip

    @property
    def indicators(self) -> list[int]:
        """Numbers of the features that mark missing numbers; they are the last ones."""
        return [number for number, (_, _, gap) in enumerate(self.parts) if gap]

    def gaps(self, features: Float[np.ndarray, "N F"]) -> dict[str, np.ndarray]:
        """Of each column that has some: [N] bool, whether its cell is empty."""
        found = {name: features[:, d] != 0 for d, (name, value, gap) in enumerate(self.parts) if gap or value == ""}
        if not self.filled:
            empty = np.isnan(features)
            found |= {name: empty[:, d] for d, (name, *_) in enumerate(self.parts) if empty[:, d].any()}
        return found

    @classmethod
    def of(
        cls, frame: pd.DataFrame, where: str, ids: str | None = None, *, named: bool = True
    ) -> tuple["Columns", tuple[str, ...]]:
        """The columns of a table that become features, and notes on those that do not.

        Parameters
        ----------
        frame : the columns, without those of ids and labels
        where : name of the table in messages
        """
        if not named:  # an array
            values = frame.to_numpy(np.float64)
            medians = [np.median(one[~np.isnan(one)]) if not np.isnan(one).all() else 0.0 for one in values.T]
            gaps = np.isnan(values).any(0)
            every = zip(frame.columns, medians, gaps, strict=True)
            return cls(tuple(Column(n, NUMBER, (), float(m), bool(g)) for n, m, g in every), ids, named=False), ()
        columns, notes = [], []
        for name, cells in _cleaned(frame).items():
            found = _column(name, cells, where)
            if isinstance(found, Column):
                columns.append(found)
            else:
                notes.append(f"column {name}: {found}; it is left out")
        if not columns:
            raise UserError(f"{where}: no column of features{''.join(f'; {note}' for note in notes)}; {PAGE}")
        return cls(tuple(columns), ids), tuple(notes)

    def features(
        self, frame: pd.DataFrame, where: str
    ) -> tuple[Float[np.ndarray, "N D"], tuple[str, ...]]:
        """Features of items, NaN where a number is missing; notes on categories that the fit did not have."""
        there = set(frame.columns)
        if missing := [one.name for one in self.columns if one.name not in there]:
            raise UserError(f"{where}: no column {listed(missing)}, with which the run was trained; it has "
                            f"{', '.join(map(str, frame.columns))[:200]}")  # fmt: skip
        if not self.named:
            return _checked(frame.to_numpy(np.float64), list(frame.columns), frame.index, where), ()
        frame, parts, notes = _cleaned(frame[[one.name for one in self.columns]]), [], []
        for one in self.columns:
            cells = frame[one.name]
            if one.kind != CATEGORY:
                parts.append(_numbers(cells, one, where)[:, None])
                continue
            texts = np.array([[id_text(cell)] for cell in cells], object)
            encoder = OneHotEncoder(categories=[np.array(one.values, object)], handle_unknown="ignore",
                                    sparse_output=False, dtype=np.float64)  # fmt: skip
            parts.append(encoder.fit(np.array([[one.values[0]]], object)).transform(texts))
            if unknown := sorted(set(texts.ravel()) - set(one.values)):
                notes.append(f"column {one.name}: {listed(unknown, 3)} is none of the categories of the fit; all of "
                             "them are 0")  # fmt: skip
        names = [name for name, _, gap in self.parts if not gap]
        return _checked(np.hstack(parts), names, frame.index, where), tuple(notes)

    def fill(self, features: Float[np.ndarray, "N D"]) -> Float[np.ndarray, "N F"]:
        """Replace missing numbers by medians, and append the features that mark them (1 where one was missing)."""
        of_features = [one for one in self.columns for _ in one.values or (None,)]
        medians = np.array([one.fill for one in of_features])
        # Two rows that have these medians and gaps make the imputer of the fit.
        rows = np.stack([medians, np.where([one.gaps for one in of_features], np.nan, medians)])
        filled: np.ndarray = SimpleImputer(strategy="median", add_indicator=True).fit(rows).transform(features)
        return filled

    def with_gaps_filled(self) -> "Columns":
        """A copy for methods that do not accept missing values (``filled=True``)."""
        return replace(self, filled=True)


def _checked(features: np.ndarray, names: list[str], rows: pd.Index, where: str) -> np.ndarray:
    for row, column in np.argwhere(np.abs(features) > LARGEST)[:1].tolist():
        raise UserError(f"{where}, {place(rows, row)}, column {names[column]}: {features[row, column]}; expected a "
                        f"number up to {LARGEST:.0e}; {PAGE}")  # fmt: skip
    return features


def _cleaned(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose words for empty cells (n/a, ?, …) are missing values; columns of numbers are as they are."""
    rest = [name for name, cells in frame.items() if cells.dtype.kind not in "fiu"]
    if not rest:
        return frame
    from skrub import Cleaner  # imported here: it takes a second, and most items are numbers

    # No column is dropped, and no text a date by a format that none has: that is decided once, in the fit.
    cleaner = Cleaner(drop_null_fraction=None, datetime_format="-")
    return frame.assign(**cleaner.fit_transform(frame[rest].reset_index(drop=True)).set_axis(frame.index))


def _column(name: str, cells: pd.Series, where: str) -> Column | str:
    """A column of the fit, or why it is left out."""
    there = cells.dropna()
    if not len(there):
        return "every cell is empty"
    if there.nunique() == 1 and len(there) == len(cells):
        return "every cell is the same"
    if isinstance(cells.dtype, pd.CategoricalDtype):
        return _category(name, cells)
    texts = there.map(id_text)
    if cells.dtype.kind in "biufmM" or there.map(lambda cell: isinstance(cell, bool | np.bool_)).all():
        return _of_numbers(Column(name, DATE if cells.dtype.kind == "M" else NUMBER), cells, where)
    numbers = pd.to_numeric(texts, errors="coerce").notna()
    if numbers.all():
        return _of_numbers(Column(name, NUMBER), cells, where)
    if (format := _date_format(texts)) is not None:
        return _of_numbers(Column(name, DATE, format=format), cells, where)
    units = texts[~numbers].map(lambda text: _UNIT.fullmatch(text) is not None)
    if (numbers.sum() + units.sum()) * 2 >= len(texts):
        wrong = texts[~numbers]
        what = "more than a number, or has a comma" if units.iloc[0] else "no number, as other cells are"
        out = f"X.drop(columns=['{name}'])" if where == IN_PYTHON else f"'data.ignore={as_list([name])}'"
        raise UserError(f"{where}, {place(wrong.index, 0)}, column {name}: {wrong.iloc[0][:50]!r} is {what}; expected "
                        f"numbers and empty cells alone, or {out}; {PAGE}")  # fmt: skip
    different = texts.nunique()
    if different > _MOST_CATEGORIES or different > max(2, len(cells) // 2):
        return f"free text, {different} different ones in {len(cells)} rows"
    return _category(name, cells)


def _category(name: str, cells: pd.Series) -> Column:
    return Column(name, CATEGORY, tuple(sorted({id_text(cell) for cell in cells})))


def _of_numbers(column: Column, cells: pd.Series, where: str) -> Column:
    numbers = _numbers(cells, column, where)
    gaps = np.isnan(numbers)
    return replace(column, fill=float(np.median(numbers[~gaps])), gaps=bool(gaps.any()))


def _date_format(texts: pd.Series) -> str | None:
    """The format of texts that are dates; None for other texts."""
    from skrub import ToDatetime

    dates = ToDatetime()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = dates.fit_transform(texts.reset_index(drop=True))
        except ValueError:  # of skrub, for a column that is no date
            return None
    return str(dates.format_) if found.notna().all() else None


def _numbers(cells: pd.Series, column: Column, where: str) -> Float[np.ndarray, "N"]:
    """Numbers, or seconds since 1970; NaN where one is missing."""
    if column.kind == DATE:
        as_dates = pd.to_datetime(cells, format=column.format, errors="coerce", utc=True)
        numbers = (as_dates - pd.Timestamp(0, tz="UTC")).dt.total_seconds().to_numpy(np.float64)
    elif cells.dtype.kind == "m":
        numbers = cells.dt.total_seconds().to_numpy(np.float64)
    elif cells.dtype.kind in "biuf":
        numbers = cells.to_numpy(np.float64, na_value=np.nan)
    else:
        plain = cells.map(lambda cell: float(cell) if isinstance(cell, bool | np.bool_) else cell)
        numbers = pd.to_numeric(plain, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    wrong = np.flatnonzero(np.isnan(numbers) & cells.notna().to_numpy())
    if len(wrong):
        raise UserError(f"{where}, {place(cells.index, wrong[0])}, column {column.name}: "
                        f"{str(cells.iloc[wrong[0]])[:50]}; expected a {column.kind}; {PAGE}")  # fmt: skip
    return numbers


def ids_of(cells: pd.Series, where: str) -> tuple[str, ...]:
    """The items' ids."""
    texts = [id_text(cell) for cell in cells]
    first: dict[str, int] = {}
    for row, name in enumerate(texts):
        if not name:
            raise UserError(f"{where}, {place(cells.index, row)}, column {cells.name}: empty; expected the item's id")
        if name in first:
            raise UserError(f"{where}, {place(cells.index, row)}, column {cells.name}: {name[:50]} is the id of "
                            f"{place(cells.index, first[name])}, too; expected another one for each")  # fmt: skip
        first[name] = row
    return tuple(texts)


def id_text(cell: Any) -> str:
    """An id or category as text, "" for an empty cell; whole numbers without the point of a column with gaps."""
    if cell is None or cell is pd.NA or cell is pd.NaT or (isinstance(cell, float) and np.isnan(cell)):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def as_list(names: Iterable[str]) -> str:
    """Names as a list argument on the command line: ``[joined,"home town"]``."""
    return f"[{','.join(map(quoted, names))}]"


def quoted(name: str) -> str:
    """A name as an argument on the command line, in quotes if it needs them."""
    return name if _UNQUOTED.fullmatch(name) else json.dumps(name, ensure_ascii=False)
