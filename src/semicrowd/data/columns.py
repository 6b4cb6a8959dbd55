"""Convert the columns of a table into numerical features.

A column is a number, a yes/no value, a category, the ids of the items, or is not used. The methods accept numbers only.
How each column is converted is decided once, from the training items, and stored in ``columns.json``, so that new items
are converted in the same way; their columns are matched by name.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.data.cells import (
    CATEGORY,
    DATE,
    NUMBER,
    TEXT,
    UNITS,
    YES_NO,
    Kind,
    first_bad,
    gap_words,
    id_text,
    kind_of,
    look_like_ids,
    numbers,
    text,
    without_gaps,
)
from semicrowd.data.units import TWO_MEANINGS, Unit, first_with_two_meanings, has_decimal_comma, may_be_thousands
from semicrowd.errors import UserError, listed, nearest, other_spelling
from semicrowd.files import write_csv, write_json

#: File in a run's folder with the conversion of each column, for new items.
FILE = "columns.json"
#: File in a run's folder with the same information as a table for the user.
TABLE = "columns.csv"
#: Name in messages of a data frame that is passed to an estimator.
IN_PYTHON = "X"
#: Columns with cells that are no numbers that a message names.
_NAMED = 5
#: Names that need no quotes in a list on the command line: Hydra reads others as numbers or not at all.
_UNQUOTED = re.compile(r"(?!(?:null|true|false|nan|inf)$)[a-z_][\w.-]*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Column:
    """A column of the table that is converted to one or more features.

    Attributes
    ----------
    name : name of the column in the file
    kind : ``number``, ``yes or no`` or ``category``
    values : the categories, for one-hot encoding; "" is the category of empty cells. Empty for the other two kinds
    median : median of a numerical or yes/no column, which replaces its missing values
    gaps : number of missing values; if there are any, and they are filled, a missing indicator is a further feature
    gap_words : words that counted as missing values, such as "unknown" among numbers
    unit : unit that was removed from its cells, and how their numbers are written; None if they are plain numbers
    words : words of a yes/no column, as they are written
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()
    median: float = 0.0
    gaps: int = 0
    gap_words: tuple[str, ...] = ()
    unit: Unit | None = None
    words: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """What a cell of it must be, if it is no category, for messages."""
        if self.kind == YES_NO:
            words = " and ".join(self.words)  # none in the file of an earlier version
            return f"yes or no ({self.name} had {words} in the training items)" if words else "yes or no"
        return f"a number ({self.name} in {self.unit.name})" if self.unit and self.unit.name else "a number"

    @property
    def plain(self) -> bool:
        """Whether the column is a feature as it is: numbers without missing values and units."""
        return self.kind == NUMBER and not self.gaps and self.unit is None


@dataclass(frozen=True)
class Columns:
    """All columns of a table that are converted to features, in their order.

    Attributes
    ----------
    ids : name of the column with the items' ids; None without such a column
    filled : whether missing values are replaced by medians, with missing indicators as further features. It is False
        for methods that accept missing values
    others : name, description, and how it was handled, of each column that is no feature
    named : whether the columns of new items are matched by name; False for an array, where names are column numbers
    decimal : ``comma`` or ``point``, as the user has named it, or as it was read in a file; None: the cells decide
    like_ids : names of columns of numbers that look like ids of the training items; a warning names them
    """

    columns: tuple[Column, ...]
    ids: str | None = None
    filled: bool = False
    others: tuple[tuple[str, str, str], ...] = ()
    named: bool = True
    decimal: str | None = None
    like_ids: tuple[str, ...] = field(default=(), compare=False)

    @property
    def names(self) -> list[str]:
        """The column name of each feature, without missing indicators; repeated for each value of a category."""
        return [name for column in self.columns for name in [column.name] * (len(column.values) or 1)]

    @property
    def parts(self) -> list[tuple[str, str | None, bool]]:
        """Of each feature: the column's name, the category (or None), and whether it is a missing indicator."""
        own = [(one.name, value, False) for one in self.columns for value in one.values or (None,)]
        gaps = [(one.name, None, True) for one in self.columns if one.gaps] if self.filled else []
        return [*own, *gaps]

    @property
    def feature_names(self) -> list[str]:
        """A unique name of each feature: ``age``, ``region=north``, ``age is empty``."""
        return [f"{name} is empty" if gap else name if value is None else f"{name}={value}"
                for name, value, gap in self.parts]

    @property
    def plain(self) -> bool:
        """Whether all columns are numbers without missing values and units, so that nothing was converted."""
        return not self.others and all(one.plain for one in self.columns)

    @classmethod
    def of(
        cls, frame: pd.DataFrame, where: str, ids: str | None = None, others: Sequence[tuple[str, str, str]] = (),
        *, decimal: str | None = None, as_written: Callable[[], pd.DataFrame] | None = None, european: bool = False,
    ) -> "Columns":  # fmt: skip
        """Decide how the columns of a table are converted.

        Parameters
        ----------
        frame : the columns to be converted to features
        where : name of the table in error messages
        ids, others, decimal : see the class
        as_written : gives the columns with the texts of all cells, where the file has them; only called if the cells of
            a column of numbers do not say which sign is the decimal one, so that other columns have to
        european : whether cells are separated by other signs than commas, and numbers have no known decimal comma

        Raises
        ------
        UserError
            If columns cannot be converted. The message names them and how to leave them out.
        """
        columns, refused = [], {}
        for name, (kind, reason, unit, unclear) in _kinds(frame, decimal, as_written, european).items():
            if kind in (DATE, TEXT, UNITS):
                refused[name] = (reason, unclear)
                continue
            if kind == CATEGORY:
                values = tuple(sorted({id_text(cell) for cell in frame[name]}))
                columns.append(Column(name, kind, values))
                continue
            column = _of_numbers(name, kind, numbers(frame[name], kind, unit))
            gaps = gap_words(frame[name])
            words = {id_text(cell) for cell in frame[name]} - {"", *gaps} if kind == YES_NO else ()
            columns.append(replace(column, gap_words=gaps, unit=unit, words=tuple(sorted(words))))
        if refused:
            raise UserError(_refusal(refused, where))
        like_ids = tuple(one.name for one in columns if one.kind == NUMBER and look_like_ids(frame[one.name]))
        return cls(tuple(columns), ids, others=tuple(others), decimal=decimal, like_ids=like_ids)

    @classmethod
    def of_array(cls, features: np.ndarray) -> "Columns":
        """The columns of an array [N, D] of numbers, which have no names."""
        return cls(tuple(_of_numbers(str(d), NUMBER, column) for d, column in enumerate(features.T)), named=False)

    def features(
        self, frame: pd.DataFrame, where: str, cell: Callable[[int, str], str], *, new: bool = False
    ) -> tuple[np.ndarray, tuple[str, ...]]:
        """Convert the columns of items to features.

        Parameters
        ----------
        where : name of the table in messages
        cell : name of a cell in messages, from its row and column
        new : whether these are not the items of the fit, so that no column can be left out

        Returns
        -------
        features : [N, D] float64, NaN where a number is missing
        notes : columns that were ignored and unknown categories, a line each

        Raises
        ------
        UserError
            If a column is missing, or cells of numerical columns are no numbers: the first one of each such column.
            And for a number that may have a decimal sign or one between thousands.
        """
        self.check_there(frame.columns, where)
        own = {column.name for column in self.columns}
        notes = [f"column {name}: ignored, because the run was trained without it" for name in frame.columns
                 if name not in own]
        bad = {column.name: one for column in self.columns if column.kind != CATEGORY
               and (one := first_bad(frame[column.name], column.kind, column.unit)) is not None}
        if bad:
            cells = [f"{cell(row, name)}: {content[:50]}" for name, (row, content) in bad.items()]
            named = "; ".join([cells[0], *(one.removeprefix(f"{where}, ") for one in cells[1:_NAMED])])
            more = f"; and {len(cells) - _NAMED} columns more" if len(cells) > _NAMED else ""
            way_out = "" if new else f"; correct all such cells, or leave the columns out with {_without(bad, where)}"
            expected = listed(list(dict.fromkeys(one.expected for one in self.columns if one.name in bad)))
            raise UserError(f"{named}{more}; expected {expected}{way_out}")
        for column in self.columns:
            if column.unit and (two := first_with_two_meanings(frame[column.name], column.unit)) is not None:
                signs = ("point", "comma") if column.unit.comma else ("comma", "point")
                raise UserError(f"{cell(two[0], column.name)}: {two[1]} has two meanings: another cell of the column "
                                f"has a decimal {signs[0]}, but numbers are read with a decimal {signs[1]}, as in the "
                                "fit; expected one way of writing")
        parts = []
        for column in self.columns:
            cells = frame[column.name]
            if column.kind != CATEGORY:
                parts.append(numbers(cells, column.kind, column.unit)[:, None])
                continue
            texts = np.array([id_text(cell) for cell in cells])  # of a column with gaps a number is a float, 38.0
            parts.append((texts[:, None] == np.array(column.values)).astype(float))
            unknown = sorted(set(texts.tolist()) - set(column.values))
            if unknown:
                notes.append(f"column {column.name}: {_unknown(unknown, column.values)} is not among the categories of "
                             "the training items; encoded as zeros")
        return np.hstack(parts), tuple(notes)

    def check_there(self, names: Iterable[str], where: str) -> None:
        """Refuse a table with these columns if one of the fit is missing; ``where`` is its name in messages.

        Raises
        ------
        UserError
            Naming the missing columns, and those that may be meant.
        """
        own, there = {column.name for column in self.columns}, set(names)
        missing = [column.name for column in self.columns if column.name not in there]
        if missing and len(missing) == len(self.columns):
            raise UserError(f"{where}: no column {listed(missing)}: none of the {len(missing)} with which the run "
                            "was trained")
        if missing:
            raise UserError(f"{where}: no column {listed(missing)}, with which the run was trained"
                            f"{nearest(missing[0], there - own)}")

    def fill(self, features: np.ndarray) -> np.ndarray:
        """Replace missing values by medians, and append the missing indicators (1 where the value was missing)."""
        of_features = [one for one in self.columns for _ in one.values or (None,)]
        missing = np.isnan(features)
        filled = np.where(missing, [one.median for one in of_features], features)
        return np.hstack([filled, missing[:, [one.gaps > 0 for one in of_features]]])

    def with_gaps_filled(self) -> "Columns":
        """A copy for methods that do not accept missing values (``filled=True``)."""
        return replace(self, filled=True)

    def table(self) -> list[tuple[str, str, str]]:
        """Rows of (name, description, how it was handled); adjacent columns of unchanged numbers share a row."""
        rows = list(self.others)
        for unchanged, adjacent in groupby(self.columns, lambda one: one.plain):
            group = list(adjacent)
            if unchanged and len(group) > 1:
                rows.append((f"{group[0].name} … {group[-1].name}", f"{len(group)} numbers", "unchanged"))
            else:
                rows += [(one.name, one.kind, self._done(one)) for one in group]
        return rows

    def _done(self, one: Column) -> str:
        if one.kind == CATEGORY:
            named = listed([value or "(empty)" for value in one.values])
            return f"{len(one.values)} categories, one-hot encoded: {named}"
        done = ["yes is 1, no is 0"] if one.kind == YES_NO else []
        if one.unit is not None:
            done += [f"unit {one.unit.name} removed"] if one.unit.name else []
            if one.unit.by or not one.unit.name:
                done.append(f"decimal {'comma' if one.unit.comma else 'point'}{one.unit.by and f', {one.unit.by}'}")
        words = f" (also {listed(one.gap_words)})" if one.gap_words else ""
        if one.gaps and self.filled:
            done.append(f"{one.gaps} empty cells{words} replaced by the median, {one.median:.4g}, and marked in a "
                        "further feature (1: empty)")
        elif one.gaps:
            done.append(f"{one.gaps} empty cells{words}, which the method handles as missing values")
        return "; ".join(done) or "unchanged"

    def write(self, folder: Path) -> None:
        """Write ``columns.json`` and ``columns.csv`` into a run's folder."""
        content = asdict(self)
        del content["like_ids"]  # of the training items alone
        write_json(folder / FILE, content)
        write_csv(folder / TABLE, ("column", "what it is", "what was done"), self.table())

    @classmethod
    def read(cls, folder: Path) -> "Columns | None":
        """Read ``columns.json`` of a run; None if there is none, because the features were no table with column names.

        Raises
        ------
        UserError
            If the file was not written by :meth:`write`.
        """
        path = folder / FILE
        if not path.is_file():
            return None
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            columns = tuple(map(_read_column, content["columns"]))
            others = tuple(tuple(one) for one in content["others"])
            return cls(
                columns, content["ids"], content["filled"], others, content["named"], content.get("decimal")
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}: not the columns of a run ({error})") from error


def _kinds(
    frame: pd.DataFrame, decimal: str | None, as_written: Callable[[], pd.DataFrame] | None, european: bool
) -> dict[str, Kind]:
    """The type of each column.

    Where its own cells do not say whether 1,234 has a decimal sign or one between thousands, the user does, or else
    those other columns whose cells do, if they agree.
    """
    comma = None if decimal is None else decimal == "comma"
    kinds = {name: kind_of(frame[name], comma) for name in frame.columns}
    unclear = [name for name, kind in kinds.items() if kind.unclear]
    by = f"data.decimal={decimal}"
    doubtful = [name for name in frame.columns if european and comma is None and frame[name].dtype.kind == "f"]
    if (unclear or doubtful) and comma is None:
        written = frame if as_written is None else as_written()
        doubted = {name: one for name in doubtful if (one := may_be_thousands(written[name])) is not None}
        kinds |= {name: Kind(UNITS, f"{one} {TWO_MEANINGS}", unclear=True) for name, one in doubted.items()}
        unclear += doubted
        if not unclear:
            return kinds
        said = {name: has_decimal_comma(without_gaps([text(cell) for cell in written[name] if isinstance(cell, str)]))
                for name in frame.columns if name not in unclear}
        clear = {name: one for name, one in said.items() if one is not None}
        if len(set(clear.values())) != 1:
            return kinds
        comma, by = next(iter(clear.values())), f"as in {listed(list(clear), 2)}"
    for name in unclear:
        if comma and frame[name].dtype.kind == "f":  # it was read with a decimal point: the user has to say it
            continue
        kind = kind_of(frame[name], comma)
        kinds[name] = kind if kind.unit is None else kind._replace(unit=replace(kind.unit, by=by))
    return kinds


def _refusal(refused: dict[str, tuple[str, bool]], where: str) -> str:
    """The message on columns that cannot be converted, with the reason, and whether it is a sign of two meanings."""
    reasons = ", ".join(f"{name} ({what})" for name, (what, _) in refused.items())
    others = [name for name, (_, unclear) in refused.items() if not unclear]
    way_out = f"leave them out with {_without(others or refused, where)}"
    if len(others) < len(refused):
        say = ("convert them to numbers with pandas" if where == IN_PYTHON
               else "say which with data.decimal=point or data.decimal=comma")  # fmt: skip
        way_out = f"{say}; leave the others out with {_without(others, where)}" if others else f"{say}, or {way_out}"
    if others:
        way_out += ", or replace them by numbers"
    return f"{where}: cannot be converted to features: {reasons}; {way_out}"


def _read_column(content: dict[str, Any]) -> Column:
    """A column of a run's file; one of an earlier version has no unit and no words for missing values."""
    unit = content.get("unit")
    words = {name: tuple(content.get(name, ())) for name in ("values", "gap_words", "words")}
    return Column(**{**content, **words, "unit": None if unit is None else Unit(**unit)})


def _unknown(words: Sequence[str], known: Sequence[str]) -> str:
    """The first of some words that are no categories, each with a category that is the same but for capitals."""
    return ", ".join(f"{word[:20]} ({other} is)" if (other := other_spelling(word, known)) else word[:20]
                     for word in words[:3])


def _of_numbers(name: str, kind: str, values: np.ndarray) -> Column:
    known = values[~np.isnan(values)]
    return Column(name, kind, median=float(np.median(known)) if len(known) else 0.0, gaps=len(values) - len(known))


def _without(names: Iterable[str], where: str) -> str:
    """How columns of a table are left out, on the command line or in Python."""
    return f"X.drop(columns={list(names)})" if where == IN_PYTHON else f"'data.ignore={as_list(names)}'"


def as_list(names: Iterable[str]) -> str:
    """Names as a list argument on the command line: ``[joined,"home town"]``."""
    return f"[{','.join(map(quoted, names))}]"


def quoted(name: str) -> str:
    """A name as an argument on the command line, in quotes if it needs them."""
    return name if _UNQUOTED.fullmatch(name) else json.dumps(name, ensure_ascii=False)
