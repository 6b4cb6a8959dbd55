"""Read the answers of a CSV file or a data frame: recognise its columns and interpret its cells."""

import csv
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.crowd.answer_header import HEADERS, PAIRS, WHOLE_NUMBER, header_of, proper_names, separator_of, shown
from semicrowd.crowd.file_names import files_called
from semicrowd.crowd.unsure import DONT_KNOW, NO_ANSWER, is_unsure
from semicrowd.crowd.wording import ANSWERS, Wording, word_of, words_of
from semicrowd.errors import UserError, letters, listed
from semicrowd.files import check_is_file, encoding_of

#: The usual column names and words.
_USUAL = Wording()
#: Share of the items named in the answers that must be in the data: of a wrong file few are, or none.
_LEAST_KNOWN = 1 / 3


@dataclass(frozen=True)
class AnswerTable:
    """The columns of a file or data frame that contain answers.

    Attributes
    ----------
    path : path of the file, or the name of the data frame
    kind : the table format: ``PAIRS``, ``GROUPS`` or ``CLASSES``
    lines : [rows] line of the file in which each row ends, counted from 1
    columns : name → [rows] cells without surrounding spaces; the required columns, and ``worker`` and ``task`` if given
    unit : word for a row in error messages: ``line`` of a file, or ``row`` of a data frame, counted from 0
    wording : the words of this file, and those of the given column names that it has
    header : the first row of a list of links whose names are not those of columns: it may be a link
    unused : further columns, as they are called
    skipped : number of further rows that are in the file but not here, because they have no answer: the cell is empty,
        or says that its author does not know (:mod:`semicrowd.crowd.unsure`)
    """

    path: Path
    kind: tuple[str, ...]
    lines: Sequence[int]
    columns: dict[str, list[str]]
    unit: str = "line"
    wording: Wording = _USUAL
    header: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    skipped: int = 0

    @classmethod
    def of_frame(
        cls, frame: pd.DataFrame, name: str, wording: Wording = _USUAL, label: int | None = None
    ) -> "AnswerTable":
        """Make a table from a data frame.

        Parameters
        ----------
        name : stands for the data frame in messages
        label : as in :meth:`read`

        Raises
        ------
        UserError
            If required columns are missing, or the data frame has no rows.
        """
        written = [str(column) for column in frame.columns]
        header = wording.renamed(name, written)
        kind, positions = header_of(name, header, label is not None)
        if not len(frame):
            raise UserError(f"{name}: no answers; expected at least one row {HEADERS[kind]}")
        columns = {column: [_cell(value) for value in frame.iloc[:, at]] for column, at in positions.items()}
        if label is not None:
            columns["label"] = _links(name, columns, len(frame), label, wording)
        found = replace(wording, columns=wording.found_in(written))
        unused = _unused(written, positions)
        return cls(Path(name), kind, range(len(frame)), columns, "row", found, _odd_header(header), unused)._answered()

    def at(self, row: int) -> str:
        """File and line of a row, for error messages."""
        return f"{self.path}, {self.unit} {self.lines[row]}"

    @classmethod
    def read(cls, path: Path, label: int | None = None, wording: Wording = _USUAL) -> "AnswerTable":
        """Read a text file (UTF-8 or cp1252), with commas, semicolons or tabs between cells; blank rows are skipped.

        Parameters
        ----------
        label : the answer (1 or 0) of all rows, for a file that only lists pairs i,j; None: the file has the answers

        Raises
        ------
        UserError
            The message names the file, the line and what was expected.
        """
        try:
            check_is_file(path, "a csv of answers")
            encoding = encoding_of(path)
            with path.open(newline="", encoding=encoding) as file:
                first = file.readline()
                separator = separator_of(first, wording.columns.values())
                rows = csv.reader(_without_nul(path, chain([first], file)), delimiter=separator, strict=True)
                try:
                    written = next(rows, [])
                    header = wording.renamed(f"{path}, line 1", written)
                    kind, positions = header_of(f"{path}", header, label is not None, ", line 1")
                    cells = list(_cells(path, rows, positions.values(), len(header)))
                except csv.Error as error:
                    raise UserError(f"{path}, line {rows.line_num}: not valid csv: {error}") from error
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}; expected a csv of answers") from error
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: not a text file in UTF-8, perhaps in Latin-1 or UTF-16 (save it as CSV UTF-8); "
                            f"expected a csv with {HEADERS[PAIRS]}") from error
        if not cells:
            raise UserError(f"{path}: no answers; expected at least one row {HEADERS[kind]} after the header")
        lines, *columns = zip(*cells, strict=True)
        by_name = {name: list(map(str, c)) for name, c in zip(positions, columns, strict=True)}
        if label is not None:
            by_name["label"] = _links(str(path), by_name, len(lines), label, wording)
        found = replace(wording, columns=wording.found_in(written))
        unused = _unused(written, positions)
        return cls(path, kind, lines, by_name, wording=found, header=_odd_header(header), unused=unused)._answered()

    def _answered(self) -> "AnswerTable":
        """The rows with an answer; a column of workers without a single name is left out, as if it were not there."""
        cells = self.columns[self.kind[-1]]
        of_pairs = self.kind == PAIRS
        means = self.wording.meanings() if of_pairs else {}  # "?" may be one of the user's own words
        unsure = words_of(self.wording.unsure)
        skipped = {
            cell for cell in set(cells)
            if word_of(cell) not in means and (word_of(cell) in unsure or is_unsure(cell, of_pairs))
        }  # fmt: skip
        kept = [row for row, cell in enumerate(cells) if cell not in skipped]
        table = self._rows(kept)
        if not any(table.columns.get("worker", ())):
            table.columns.pop("worker", None)
        return replace(table, skipped=len(cells) - len(kept))

    def said_of_skipped(self) -> list[str]:
        """A note on the rows without an answer; empty if there are none.

        Raises
        ------
        UserError
            If all rows are without an answer.
        """
        if not self.lines:
            raise UserError(f"{self.path}: no answers: column {self.kind[-1]} is empty in all {self.skipped:,} rows, "
                            "or says that people do not know; expected at least one answer")
        rows = len(self.lines) + self.skipped
        return [f"{self.path.name}: {self.skipped:,} of {rows:,} rows {NO_ANSWER}"] if self.skipped else []

    def _rows(self, kept: Sequence[int]) -> "AnswerTable":
        """The table of some rows."""
        columns = {name: [cells[row] for row in kept] for name, cells in self.columns.items()}
        return replace(self, lines=[self.lines[row] for row in kept], columns=columns)

    def error(self, row: int, column: str, expected: str) -> UserError:
        """The error for a cell that cannot be interpreted; the caller raises it."""
        cell, name = shown(self.columns[column][row]), self.wording.columns.get(column, column)
        return UserError(f"{self.at(row)}, column {name}: {cell}; expected {expected}")

    def names(self, column: str) -> tuple[np.ndarray, list[str]]:
        """Encode the names in a column as integers.

        Returns
        -------
        codes : [rows] position in ``names`` of the name in each row
        names : the distinct names, sorted; sorted by value if all of them are whole numbers
        """
        cells = self.columns[column]
        if "" in cells:
            raise self.error(cells.index(""), column, "a name or number")
        names = set(cells)
        numeric = all(WHOLE_NUMBER.fullmatch(name) for name in names)
        ordered = sorted(names, key=lambda name: (int(name) if numeric else 0, name))
        number = {name: k for k, name in enumerate(ordered)}
        return np.array([number[cell] for cell in cells], np.int64), ordered

    def answers(self) -> np.ndarray:
        """[rows] 1 where the column ``label`` is "same" (must-link), 0 where it is "different" (cannot-link)."""
        cells = self.columns["label"]
        meanings = self.wording.meanings()
        answers = [meanings.get(word_of(cell)) for cell in cells]
        if None in answers:
            row = answers.index(None)
            words = {cell: None for cell, answer in zip(cells, answers, strict=True) if answer is None}
            others = [shown(cell, 20) for cell in words if cell != cells[row]]
            more = f"; other words that are not understood: {listed(others)}" if others else ""
            raise self.error(row, "label", f"{ANSWERS}; {DONT_KNOW}{more}")
        return np.array(answers, np.int64)

    def about(
        self, num_items: int, ids: Sequence[str] | None, *, by_index: bool = False, skip_unknown: bool = False
    ) -> tuple["AnswerTable", str]:
        """Leave out rows about items that the data set does not have.

        Cells are ids if all of them are; otherwise row numbers if all of them are and few are ids (:meth:`_few_ids`),
        and else ids again. Row numbers that no item has are left for :meth:`items` to refuse: if items are gone, the
        other row numbers are those of other items, too. So are empty cells, and cells that may be row numbers or ids.

        Parameters
        ----------
        num_items : N, number of items of the data set
        ids : the ids of these items; None if they have none
        by_index : ids are the index of a data frame, some rows of which may be gone: cells are ids if any of them is
        skip_unknown : leave out rows however many they are, and those with unknown row numbers, too

        Returns
        -------
        table : the rows whose items are all in the data set
        unknown : the first few items of the other rows, as text for a message; empty if there are none

        Raises
        ------
        UserError
            If most items of the answers are not in the data set, unless ``skip_unknown``; if no row is left.
        """
        names, cells = self.item_cells()
        known = cells & self._by_id(ids).keys()
        rows = {cell for cell in cells if WHOLE_NUMBER.fullmatch(cell) and 0 <= int(cell) < num_items}
        if not skip_unknown and ids is not None and not known and not rows and "" not in cells and len(cells) > 1:
            raise UserError(self._none_of(cells, ids))
        by_row = not known or (known != cells and rows == cells and not by_index and self._few_ids(cells, known))
        if not skip_unknown and (by_row or "" in cells or (rows == cells and not by_index)):
            return self, ""
        known = rows if by_row else known
        if known == cells:
            return self, ""
        unknown = listed([shown(name) for name in sorted(cells - known)]) + _written(cells - known, ids)
        if not skip_unknown and len(known) < _LEAST_KNOWN * len(cells):
            raise UserError(f"{self.path}: only {len(known):,} of its {len(cells):,} items are there, not {unknown}; "
                            "is it a file about other items? annotations.skip_unknown=true leaves these out, in Python "
                            "give the other answers alone")
        kept = [row for row in range(len(self.lines)) if all(self.columns[name][row] in known for name in names)]
        if not kept:
            raise UserError(f"{self.path}: no row is about items that are there; such as {unknown}; expected ids of "
                            "the items, from a column (data.id) or the index of a data frame, or row numbers")
        return self._rows(kept), unknown

    def items(self, num_items: int, ids: Sequence[str] | None) -> tuple[list[np.ndarray], tuple[str, ...]]:
        """Find the items to which the columns ``i`` and ``j``, or ``item``, refer, after :meth:`about`.

        If ``ids`` are given and every cell is one of them, the cells are ids. Otherwise they are row numbers, unless
        many of them are ids (:meth:`_few_ids`): then the others are an error.

        Returns
        -------
        items : for each of these columns, [rows] item numbers from 0 to N − 1
        notes : how the cells were interpreted, a line each; empty without ids
        """
        names, cells = self.item_cells()
        row_numbers = {
            cell: int(cell) for cell in cells if WHOLE_NUMBER.fullmatch(cell) and 0 <= int(cell) < num_items
        }
        if ids is None:
            way = "a table has ids in a column, a data frame in its index, an .npz file in an array ids"
            return self._numbered(names, row_numbers, f"an item id from 0 to {num_items - 1} ({way})"), ()
        by_id, note = self._by_id(ids), f"{self.path.name}: items are identified by their ids"
        if shorter := files_called((cells & by_id.keys()) - {name.strip() for name in ids}, ids):
            cell, item = next(iter(shorter.items()))
            note += f"; in part without folder or ending, such as {shown(cell)} for {ids[item]}"
        if cells <= by_id.keys():
            count = Counter(name.strip() for name in ids)
            unique = {name: k for name, k in by_id.items() if count[ids[k].strip()] == 1}
            return self._numbered(names, unique, "an id of exactly one item; several items have this id"), (note,)
        named = cells & by_id.keys()
        no_id = shown(self._first(names, by_id))
        examples = " and ".join(shown(name) for name in ids[:2])
        expected = (f"the id of an item, such as {examples}, or row numbers for all items, from 0 to {num_items - 1}"
                    f"{_written(cells - by_id.keys(), ids)}")
        self._numbered(names, by_id | row_numbers, expected)
        if not self._few_ids(cells, named):
            many = f"{len(named)} of the {len(cells)} different cells are ids"
            ignore = "if all are row numbers, leave out the ids: data.ignore=…, in Python drop the column or the index"
            self._numbered(names, by_id, f"{expected}; {many}; {ignore}")
        note = f"{self.path.name}: items are row numbers counted from 0 (no item has the id '{no_id}')"
        return self._numbered(names, row_numbers, expected), (note,)

    def _none_of(self, cells: Collection[str], ids: Sequence[str]) -> str:
        """What is wrong if no cell is the id of an item."""
        said = _written(cells, ids)
        example = shown(self._first(self.item_cells()[0], ()))
        return (f"none of the {len(cells):,} ids of {self.path} is among the items: the answers are about other items, "
                f"or ids are written otherwise, e.g. {example}, while items are such as {shown(ids[0])}{said}")

    @staticmethod
    def _few_ids(cells: Collection[str], named: Collection[str]) -> bool:
        """Whether cells that are all row numbers, some of them ids, are meant as row numbers.

        Either 0 is among them and no id, as when ids count from 1; or less than half are ids, as by accident.
        """
        return ("0" in cells and "0" not in named) or 2 * len(named) < len(cells)

    def number_named(self, ids: Sequence[str]) -> int:
        """Number of different items in the answers that are called by one of these ids."""
        return len(self.item_cells()[1] & self._by_id(ids).keys())

    def item_cells(self) -> tuple[list[str], set[str]]:
        """The columns that name items, and their different cells."""
        names = [name for name in self.kind if name in ("i", "j", "item")]
        return names, {cell for name in names for cell in self.columns[name]}

    def _by_id(self, ids: Sequence[str] | None) -> dict[str, int]:
        """Id → item number, and so for cells that are one item's id but for zeros in front or the form of accents.

        Also for names of files without folders or ending, unless they are whole numbers: these may be row numbers.
        """
        by_id = {name.strip(): k for k, name in enumerate(ids or ())}
        others = {cell: canonical(cell) for cell in self.item_cells()[1] - by_id.keys()}
        plain = {canonical(name): k for name, k in by_id.items()} if others else {}
        if len(plain) == len(by_id):
            by_id |= {cell: plain[name] for cell, name in others.items() if name in plain}
        left = {cell for cell in others.keys() - by_id.keys() if not WHOLE_NUMBER.fullmatch(cell)}
        return by_id | files_called(left, ids or (), self.path)

    def _numbered(self, names: list[str], number: dict[str, int], expected: str) -> list[np.ndarray]:
        """Replace the cells of columns by their numbers; the error names the first cell that has no number."""
        columns = [[number.get(cell, -1) for cell in self.columns[name]] for name in names]
        missing = [(column.index(-1), name) for name, column in zip(names, columns, strict=True) if -1 in column]
        if missing:
            raise self.error(*min(missing), expected)
        return [np.array(column, np.int64) for column in columns]

    def _first(self, names: list[str], known: Collection[str]) -> str:
        """The first cell, in the order of the rows, that is not in ``known``."""
        rows = zip(*(self.columns[name] for name in names), strict=True)
        return next(cell for row in rows for cell in row if cell not in known)


def _written(cells: Collection[str], ids: Sequence[str] | None) -> str:
    """The first of some cells that is an id but for capitals and blanks, for messages; empty without one."""
    alike = {letters(name): name for name in ids or ()}
    found = next((cell for cell in sorted(cells) if cell and letters(cell) in alike), None)
    return "" if found is None else f"; {shown(found)} is not there, {shown(alike[letters(found)])} is"


def _unused(written: Sequence[str], positions: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(name.strip() for at, name in enumerate(written) if at not in positions.values() and name.strip())


def _odd_header(header: Sequence[str]) -> tuple[str, ...]:
    return () if {"i", "j"} <= set(proper_names(header)) else tuple(name.strip() for name in header)


def _links(source: str, columns: Mapping[str, list[str]], number: int, label: int, wording: Wording) -> list[str]:
    """The column ``label`` of a list of links, all of which are ``label``; a file that says otherwise is an error."""
    meanings = wording.meanings()
    if any(meanings.get(word_of(cell), label) != label for cell in columns.get("label", ())):
        raise UserError(f"{source}: column label has other answers than these links; give the file as annotations.path")
    return [str(label)] * number


def canonical(name: str) -> str:
    """A whole number as spreadsheets write it: 7 of 007 or +7; other names with accents as one sign each (NFC)."""
    return str(int(name)) if WHOLE_NUMBER.fullmatch(name) else unicodedata.normalize("NFC", name)


def _without_nul(path: Path, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            raise UserError(f"{path}, line {number}: a NUL byte; expected a text file, a csv with {HEADERS[PAIRS]}")
        yield line


def _cells(path: Path, rows: Any, positions: Collection[int], columns: int) -> Iterator[tuple[int | str, ...]]:
    """Line number and the requested cells of each row that is not blank (``rows``: a csv reader after the header)."""
    width, blank = max(positions) + 1, 0
    for row in rows:
        if not any(cell.strip() for cell in row):
            blank = blank or (rows.line_num if len(row) > 1 else 0)
            continue
        if blank:  # rows of empty cells are accepted only at the end, where spreadsheets often write them
            raise UserError(f"{path}, line {blank}: every cell is empty; expected an answer in every row")
        if len(row) < width:
            raise UserError(f"{path}, line {rows.line_num}: {len(row)} columns; expected at least {width}")
        if any(cell.strip() for cell in row[columns:]):
            raise UserError(f"{path}, line {rows.line_num}: {len(row)} columns; expected {columns} as in the header (a "
                            "cell that contains the separator needs quotes)")
        yield (rows.line_num, *(row[position].strip() for position in positions))


def _cell(value: Any) -> str:
    """A cell of a data frame as text: whole numbers without a decimal point, a missing value as the empty string."""
    if value is None or value is pd.NA or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
