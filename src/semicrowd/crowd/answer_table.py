"""A text table of answers as people write them: its rows, and what its cells mean."""

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.errors import UserError, listed

# Columns without which there is no answer, for each kind of table; a table is of the first kind that it fits.
#: A row is an answer about a pair.
PAIRS = ("i", "j", "label")
#: A row says in which group an annotator has put an item.
GROUPS = ("item", "group")
#: A row says what kind an annotator has taken an item for.
CLASSES = ("item", "label")
_OPTIONAL = ("worker", "task")
_HEADERS = {
    PAIRS: "i,j,worker,label[,task]", GROUPS: "item,worker,group[,task]", CLASSES: "item,worker,label[,task]",
}  # fmt: skip
#: Other names of columns that people use, in small letters, where the proper one is not there.
_ALIASES = {
    "i": ("item_i", "item1", "item_1", "item_a", "id1", "id_1", "left", "first"),
    "j": ("item_j", "item2", "item_2", "item_b", "id2", "id_2", "right", "second"),
    "label": ("answer", "response", "same", "link", "class", "category"),
    "worker": ("annotator", "rater", "user", "person", "labeler", "labeller", "worker_id", "annotator_id", "user_id"),
    "item": ("item_id", "object", "image", "file", "id"),
    "group": ("cluster", "pile", "group_id"),
    "task": ("task_id", "question", "batch", "session"),
}
_ANY_HEADER = ", or ".join(_HEADERS.values())
_SEPARATORS = ",;\t"
_KNOWN = {*PAIRS, *GROUPS, *_OPTIONAL}

_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_LABEL = re.compile(r"\+?0*([01])(?:\.0+)?")
_WORDS = {
    "true": 1, "same": 1, "yes": 1, "must-link": 1, "must_link": 1,
    "false": 0, "different": 0, "no": 0, "cannot-link": 0, "cannot_link": 0,
}  # fmt: skip
_LABELS = "1 (same) or 0 (different), or true/false, same/different, yes/no, must-link/cannot-link"


@dataclass(frozen=True)
class AnswerTable:
    """The columns of a file that say something of answers.

    Attributes
    ----------
    path : of the file
    kind : ``PAIRS``, ``GROUPS`` or ``CLASSES``
    lines : [rows] line of the file that each row ends on, from 1
    columns : name → [rows] cells without spaces around them; those of the kind, perhaps ``worker`` and ``task``
    unit : what a row is called in an error; those of a data frame are counted from 0
    """

    path: Path
    kind: tuple[str, ...]
    lines: Sequence[int]
    columns: dict[str, list[str]]
    unit: str = "line"

    @classmethod
    def of_frame(cls, frame: pd.DataFrame, name: str) -> "AnswerTable":
        """The same of a data frame that is called ``name``.

        Raises
        ------
        UserError
            For columns that are no answers, and where there are no rows.
        """
        path = Path(name)
        kind, positions = _header(path, [str(column) for column in frame.columns])
        if not len(frame):
            raise UserError(f"{name}: no answers; expected at least one row {_HEADERS[kind]}")
        columns = {column: [_cell(value) for value in frame.iloc[:, at]] for column, at in positions.items()}
        return cls(path, kind, range(len(frame)), columns, "row")

    def at(self, row: int) -> str:
        """Where a row is, for an error."""
        return f"{self.path}, {self.unit} {self.lines[row]}"

    @classmethod
    def read(cls, path: Path, label: int | None = None) -> "AnswerTable":
        """Read a file of text (utf-8), columns separated by commas, semicolons or tabs; blank rows are left out.

        Parameters
        ----------
        label : what all rows of a list of pairs i,j say; None: it has a column label, or groups

        Raises
        ------
        UserError
            Naming file, line and what was expected.
        """
        try:
            _check_is_file(path)
            with path.open(newline="", encoding="utf-8-sig") as file:
                first = file.readline()
                rows = csv.reader(_without_nul(path, chain([first], file)), delimiter=_separator(first), strict=True)
                try:
                    kind, positions = _header(path, next(rows, []), label is not None)
                    cells = list(_cells(path, rows, positions.values()))
                except csv.Error as error:
                    raise UserError(f"{path}, line {rows.line_num}: not valid csv: {error}") from error
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}; expected a csv of answers") from error
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: not a text file (utf-8); expected a csv with {_HEADERS[PAIRS]}") from error
        if not cells:
            raise UserError(f"{path}: no answers; expected at least one row {_HEADERS[kind]} after the header")
        lines, *columns = zip(*cells, strict=True)
        found = {name: list(map(str, c)) for name, c in zip(positions, columns, strict=True)}
        if label is not None:
            found["label"] = [str(label)] * len(lines)
        return cls(path, kind, lines, found)

    def error(self, row: int, column: str, expected: str) -> UserError:
        """What to raise for a cell that means nothing."""
        cell = shown(self.columns[column][row])
        return UserError(f"{self.at(row)}, column {column}: {cell}; expected {expected}")

    def names(self, column: str) -> tuple[np.ndarray, list[str]]:
        """Number of the name in each row, and the names in the order of their numbers: as numbers where all are."""
        cells = self.columns[column]
        if "" in cells:
            raise self.error(cells.index(""), column, "a name or number")
        names = set(cells)
        numeric = all(_WHOLE_NUMBER.fullmatch(name) for name in names)
        ordered = sorted(names, key=lambda name: (int(name) if numeric else 0, name))
        number = {name: k for k, name in enumerate(ordered)}
        return np.array([number[cell] for cell in cells], np.int64), ordered

    def answers(self) -> np.ndarray:
        """[rows] 1 where the column ``label`` says that two items are the same, 0 where it says different."""
        cells = self.columns["label"]
        meaning = {cell: _answer(cell) for cell in set(cells)}
        answers = [meaning[cell] for cell in cells]
        if None in answers:
            raise self.error(answers.index(None), "label", _LABELS)
        return np.array(answers, np.int64)

    def about(self, num_items: int, ids: Sequence[str] | None) -> tuple["AnswerTable", str]:
        """The rows whose items are all there, and the first of those that are not, as text."""
        names = [name for name in self.kind if name in ("i", "j", "item")]
        cells = {cell for name in names for cell in self.columns[name]}
        known = set() if ids is None else {name.strip() for name in ids}
        rows = {cell for cell in cells if _WHOLE_NUMBER.fullmatch(cell) and 0 <= int(cell) < num_items}
        if ids is None or len(rows) > len(cells & known):  # most cells are rows, not ids
            known = rows
        unknown = sorted(cells - known)
        kept = [row for row in range(len(self.lines)) if all(self.columns[name][row] in known for name in names)]
        columns = {name: [cells[row] for row in kept] for name, cells in self.columns.items()}
        known_alone = replace(self, lines=[self.lines[row] for row in kept], columns=columns)
        return known_alone, listed([shown(name) for name in unknown])

    def items(self, num_items: int, ids: Sequence[str] | None) -> tuple[list[np.ndarray], tuple[str, ...]]:
        """Items of each column of items, [rows] numbers from 0, and a note on how the cells were read.

        Where there are ``ids`` of the items and every cell is one of them, that is what the cells are; otherwise they
        are numbers of rows. There is no note without ids.
        """
        names = [name for name in self.kind if name in ("i", "j", "item")]
        cells = {cell for name in names for cell in self.columns[name]}
        row_numbers = {
            cell: int(cell) for cell in cells if _WHOLE_NUMBER.fullmatch(cell) and 0 <= int(cell) < num_items
        }
        if ids is None:
            return self._numbered(names, row_numbers, f"an item id from 0 to {num_items - 1}"), ()
        by_id = {name.strip(): k for k, name in enumerate(ids)}
        if cells <= by_id.keys():
            found = Counter(name.strip() for name in ids)
            alone = {name: k for name, k in by_id.items() if found[name] == 1}
            note = f"{self.path.name}: items are named by their ids"
            return self._numbered(names, alone, "the id of one item; several have this one"), (note,)
        no_id = shown(self._first(names, by_id))
        examples = " and ".join(shown(name) for name in ids[:2])
        expected = f"the id of an item, such as {examples}, or for all items their row, from 0 to {num_items - 1}"
        unknown = cells - by_id.keys() - row_numbers.keys()
        if unknown:
            rows = sum(any(self.columns[name][row] in unknown for name in names) for row in range(len(self.lines)))
            expected += f"; annotations.skip_unknown=true leaves out the rows about items that are not there, {rows:,}"
        # First the cells that are neither; then, where some are ids alone and others rows alone, those that are no ids.
        self._numbered(names, by_id | row_numbers, expected)
        if not cells <= row_numbers.keys():
            self._numbered(names, by_id, f"{expected}; other cells are ids")
        note = f"{self.path.name}: items are counted from 0 (no id of the table is '{no_id}')"
        return self._numbered(names, row_numbers, expected), (note,)

    def _numbered(self, names: list[str], number: dict[str, int], expected: str) -> list[np.ndarray]:
        """The columns as numbers; an error names the first cell without one."""
        columns = [[number.get(cell, -1) for cell in self.columns[name]] for name in names]
        missing = [(column.index(-1), name) for name, column in zip(names, columns, strict=True) if -1 in column]
        if missing:
            raise self.error(*min(missing), expected)
        return [np.array(column, np.int64) for column in columns]

    def _first(self, names: list[str], known: Collection[str]) -> str:
        """The first cell, row by row, that is not among the known."""
        rows = zip(*(self.columns[name] for name in names), strict=True)
        return next(cell for row in rows for cell in row if cell not in known)


def shown(text: str, most: int = 50) -> str:
    """The beginning of a cell as it can stand in one line."""
    start = text[:most]
    return (start if start.isprintable() else repr(start)[1:-1]) or "empty"


def _answer(cell: str) -> int | None:
    number = _LABEL.fullmatch(cell)
    return int(number[1]) if number else _WORDS.get(cell.lower())


def _check_is_file(path: Path) -> None:
    """Without opening it: a named pipe would have us wait for somebody to write."""
    if not path.is_file():
        reason = "a folder" if path.is_dir() else "not a file" if path.exists() else "No such file or directory"
        raise UserError(f"{path}: cannot be read: {reason}; expected a csv of answers")


def _without_nul(path: Path, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            raise UserError(f"{path}, line {number}: a NUL byte; expected a text file, a csv with {_HEADERS[PAIRS]}")
        yield line


def _separator(header: str) -> str:
    """The one that makes the most of the header's cells known names."""
    return max(_SEPARATORS, key=lambda one: len(_KNOWN.intersection(_proper(
        [cell.strip(' "\r\n') for cell in header.split(one)]
    ))))


def _header(path: Path, row: Sequence[str], links: bool = False) -> tuple[tuple[str, ...], dict[str, int]]:
    """Kind of the table, and the position of each column that is wanted; ``links``: a list of pairs i,j."""
    found = _proper(row)
    if not any(found):
        raise UserError(f"{path}: empty; expected a header {_HEADERS[PAIRS]} and a row for each answer")
    if links and len(found) == 2 and "" not in found and not any(_WHOLE_NUMBER.fullmatch(name) for name in found):
        return PAIRS, {"i": 0, "j": 1}
    if links and not {"i", "j"} <= set(found):
        raise UserError(f"{path}, line 1: expected i,j[,worker], found {shown(','.join(found), most=100)}")
    kind = PAIRS if links else next((one for one in _HEADERS if set(one) <= set(found)), None)
    if kind is None:
        if "item" in found:
            missing, expected = "group or label", f"{_HEADERS[GROUPS]}, or {_HEADERS[CLASSES]}"
        elif "i" in found or "j" in found:
            missing, expected = ", ".join(name for name in PAIRS if name not in found), _HEADERS[PAIRS]
        else:
            missing, expected = "i and j, or item", _ANY_HEADER
        names = shown(",".join(found), most=100)
        raise UserError(f"{path}, line 1: no column {missing}; expected {expected}, found {names}")
    wanted = [name for name in (*kind, *_OPTIONAL) if name in found and not (links and name == "label")]
    twice = [name for name in wanted if found.count(name) > 1]
    if twice:
        raise UserError(f"{path}, line 1: column {twice[0]} is there twice")
    return kind, {name: found.index(name) for name in wanted}


def _proper(row: Sequence[str]) -> list[str]:
    """The names of columns, spelled as here where they are other names of these."""
    found = [name.strip() for name in row]
    lower = [name.lower() for name in found]
    for proper, others in _ALIASES.items():
        if proper in found:
            continue
        for name in (proper, *others):
            if name in lower:
                found[lower.index(name)] = proper
                break
    return found


def _cells(path: Path, rows: Any, positions: Collection[int]) -> Iterator[tuple[int | str, ...]]:
    """Line number and wanted cells of each row that is not blank (``rows`` is a csv reader after the header)."""
    width, blank = max(positions) + 1, 0
    for row in rows:
        if not any(cell.strip() for cell in row):
            blank = blank or (rows.line_num if len(row) > 1 else 0)
            continue
        if blank:  # at the end of a file spreadsheets leave such rows behind
            raise UserError(f"{path}, line {blank}: every cell is empty; expected an answer in every row")
        if len(row) < width:
            raise UserError(f"{path}, line {rows.line_num}: {len(row)} columns; expected at least {width}")
        yield (rows.line_num, *(row[position].strip() for position in positions))


def _cell(value: Any) -> str:
    """A cell of a data frame as a file has it: whole numbers without a point, nothing for a missing value."""
    if value is None or value is pd.NA or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
