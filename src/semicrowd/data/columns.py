"""What each column of a table is to the methods: a number, a yes or no, categories, the items' names, or nothing.

Methods take numbers alone. What a file's columns become is decided once, on the items that a run learns from, and kept
(``columns.json``), so that new items are read the same way, by the columns' names.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.data.cells import CATEGORY, DATE, NUMBER, TEXT, YES_NO, kind_of, numbers, text
from semicrowd.errors import UserError, listed
from semicrowd.files import write_csv, write_json

#: Where a run keeps it.
FILE = "columns.json"
#: The same for people.
TABLE = "columns.csv"
#: What messages call a data frame that is handed over in Python.
IN_PYTHON = "X"
#: Signs that stand in a list of the command line without quotes.
_UNQUOTED = re.compile(r"[\w.-]+")


@dataclass(frozen=True)
class Column:
    """A column that becomes features.

    Attributes
    ----------
    name, kind : in the file; ``number``, ``yes or no`` or ``category``
    values : of a category, each of which becomes a column of 0 and 1; "" stands for an empty cell
    median : of the others, which stands in an empty cell of a method that needs every number
    gaps : empty cells; where there are any, a column of 0 and 1 says which
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()
    median: float = 0.0
    gaps: int = 0


@dataclass(frozen=True)
class Columns:
    """All columns of a table that become features, in their order.

    Attributes
    ----------
    ids : name of the column that holds the items' ids, None where there is none
    filled : whether empty cells are filled, and columns added that say where they were
    others : name, what it is, and what was done with it, of each column that is no feature
    named : whether new items are found by these names; those of an array only count its columns
    """

    columns: tuple[Column, ...]
    ids: str | None = None
    filled: bool = False
    others: tuple[tuple[str, str, str], ...] = ()
    named: bool = True

    @property
    def names(self) -> list[str]:
        """Of every feature, before gaps are filled: of a category its name for each of its values."""
        return [name for column in self.columns for name in [column.name] * (len(column.values) or 1)]

    @property
    def parts(self) -> list[tuple[str, str | None, bool]]:
        """Of every feature: its column, the value of a category that it stands for, whether it says where gaps were."""
        own = [(one.name, value, False) for one in self.columns for value in one.values or (None,)]
        gaps = [(one.name, None, True) for one in self.columns if one.gaps] if self.filled else []
        return [*own, *gaps]

    @property
    def feature_names(self) -> list[str]:
        """A name of its own for every feature: ``age``, ``region=north``, ``age is empty``."""
        return [f"{name} is empty" if gap else name if value is None else f"{name}={value}"
                for name, value, gap in self.parts]

    @property
    def plain(self) -> bool:
        """Whether every column is a number as it is, so that there is nothing to tell."""
        return not self.others and all(one.kind == NUMBER and not one.gaps for one in self.columns)

    @classmethod
    def of(
        cls, frame: pd.DataFrame, where: str, ids: str | None = None, others: Sequence[tuple[str, str, str]] = ()
    ) -> "Columns":
        """What the columns of a table are.

        Parameters
        ----------
        frame : the columns that are to be features
        where : what the table is called in an error
        ids, others : see the class

        Raises
        ------
        UserError
            Naming every column that can be no feature, and the way out.
        """
        found, refused = [], {}
        for name in frame.columns:
            kind, more = kind_of(frame[name])
            if kind in (DATE, TEXT):
                refused[name] = more
                continue
            if kind == CATEGORY:
                values = tuple(sorted({text(cell) for cell in frame[name]}))
                found.append(Column(name, kind, values))
                continue
            found.append(_of_numbers(name, kind, numbers(frame[name], kind)))
        if refused:
            said = ", ".join(f"{name} ({what})" for name, what in refused.items())
            way_out = f"X.drop(columns={list(refused)})" if where == IN_PYTHON else f"'data.ignore={as_list(refused)}'"
            raise UserError(f"{where}: no features can be made of {said}; leave them out with {way_out}, or put "
                            "numbers in their place")
        return cls(tuple(found), ids, others=tuple(others))

    @classmethod
    def of_array(cls, features: np.ndarray) -> "Columns":
        """Of numbers [N, D] whose columns have no names."""
        return cls(tuple(_of_numbers(str(d), NUMBER, column) for d, column in enumerate(features.T)), named=False)

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
                parts.append(numbers(cells, column.kind)[:, None])
                continue
            texts = np.array([text(cell) for cell in cells])
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
            gaps += [column.gaps > 0] * width
        missing = np.isnan(features)
        filled = np.where(missing, np.array(medians), features)
        return np.hstack([filled, missing[:, np.array(gaps, bool)]])

    def with_gaps_filled(self) -> "Columns":
        """The same for a method that needs every number."""
        return replace(self, filled=True)

    def table(self) -> list[tuple[str, str, str]]:
        """What was done with each column: name, what it is, what became of it; numbers as they are in one row."""
        rows = list(self.others)
        plain: list[str] = []
        for one in self.columns:
            if one.kind == NUMBER and not one.gaps:
                plain.append(one.name)
                continue
            rows += _together(plain)
            rows.append((one.name, one.kind, self._done(one)))
            plain = []
        return rows + _together(plain)

    def _done(self, one: Column) -> str:
        if one.kind == CATEGORY:
            named = listed([value or "(empty)" for value in one.values])
            return f"{len(one.values)} categories, a column of 0 and 1 for each: {named}"
        done = ["yes is 1, no is 0"] if one.kind == YES_NO else []
        if one.gaps and self.filled:
            done.append(f"the median, {one.median:.4g}, in the place of {one.gaps} empty cells, and a column of 0 and "
                        "1 that says where")
        elif one.gaps:
            done.append(f"{one.gaps} empty cells, which the method takes as they are")
        return "; ".join(done)

    def write(self, folder: Path) -> None:
        """Keep it in a run's folder, for new items and, as a table, for people."""
        write_json(folder / FILE, asdict(self))
        write_csv(folder / TABLE, ("column", "what it is", "what was done"), self.table())

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
            others = tuple(tuple(one) for one in content["others"])
            return cls(columns, content["ids"], content["filled"], others, content["named"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}: not the columns of a run ({error})") from error


def _of_numbers(name: str, kind: str, values: np.ndarray) -> Column:
    known = values[~np.isnan(values)]
    return Column(name, kind, median=float(np.median(known)) if len(known) else 0.0, gaps=len(values) - len(known))


def _together(names: list[str]) -> list[tuple[str, str, str]]:
    """A row for columns that stand side by side."""
    if len(names) <= 1:
        return [(name, NUMBER, "as it is") for name in names]
    return [(f"{names[0]} … {names[-1]}", f"{len(names)} numbers", "as they are")]


def as_list(names: Iterable[str]) -> str:
    """Names as an argument of the command line has them: ``[joined,"home town"]``."""
    return f"[{','.join(name if _UNQUOTED.fullmatch(name) else json.dumps(name) for name in names)}]"
