"""Answers in files and data frames: three documented forms (docs/howto/answers.md), checked, never guessed."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.index import pairs_within
from semicrowd.errors import UserError
from semicrowd.files import PROTECTED, expanded, write_csv

#: Name of the annotator if there is no column worker.
EVERYBODY = "everybody"
#: Columns of each form that must be there. Columns worker and task may be, others are ignored.
PAIRS, GROUPS, CLASSES = ("i", "j", "label"), ("item", "group"), ("item", "label")
COLUMNS = ("i", "j", "item", "worker", "label", "group", "task")
_EXPECTED = "i,j,worker,label[,task], or item,worker,group,task, or item,worker,label (docs/howto/answers.md)"
_LABELS = {"1": 1, "true": 1, "yes": 1, "same": 1, "0": 0, "false": 0, "no": 0, "different": 0}
#: Columns of an array of answers by their number.
_OF_ARRAY = {3: PAIRS, 4: ("i", "j", "worker", "label"), 5: ("i", "j", "worker", "label", "task")}
#: Largest number of items in a task, which form two million pairs; and of pairs of all tasks, some 2 GB.
_LARGEST_TASK, _MOST_PAIRS = 2000, 20_000_000


def as_text(column: Any) -> np.ndarray:
    """Names of items or people as text, [n]: 101.0 is 101, and a missing value is empty.

    The apostrophe with which a csv file of ours protects a name that begins with = + - or @ is removed.
    """
    text = pd.Series(column).astype("string").fillna("").str.strip()
    text = text.str.replace(r"^([+-]?\d+)\.0+$", r"\1", regex=True).str.replace(PROTECTED, "", regex=True)
    return text.to_numpy(object)


@dataclass(frozen=True)
class AnswerTable:
    """Rows of answers of one file or data frame, as text, in one of the three forms.

    Attributes
    ----------
    source : the file, or what a data frame is called in messages
    unit : what a row is called in messages: line (of a file, from 1) or row (of a data frame, from 0)
    number : [n] numbers of the rows
    columns : name → cells [n] (:func:`as_text`), for those of :data:`COLUMNS` that are there
    """

    source: str
    unit: str
    number: np.ndarray
    columns: Mapping[str, np.ndarray]

    @property
    def form(self) -> tuple[str, ...]:
        """The form's columns: :data:`PAIRS`, :data:`GROUPS` or :data:`CLASSES`."""
        return next(form for form in (PAIRS, GROUPS, CLASSES) if set(form) <= self.columns.keys())

    @classmethod
    def of(cls, answers: Any, columns: Mapping[str, str] | None = None, name: str = "answers") -> "AnswerTable":
        """Answers of a file (csv, tsv, parquet), a data frame, or an array [P, 3 … 5] of i, j[, worker], label[, task].

        Parameters
        ----------
        columns : name of a column (:data:`COLUMNS`) → its name in the file
        name : what a data frame or an array is called in messages
        """
        if isinstance(answers, str | Path):
            path = expanded(answers)
            return cls._of_frame(_read(path), columns, str(path), "line", 2)
        if not isinstance(answers, pd.DataFrame):
            answers = _of_array(answers, name)
        return cls._of_frame(answers, columns, name, "row", 0)

    @classmethod
    def _of_frame(
        cls, frame: pd.DataFrame, columns: Mapping[str, str] | None, source: str, unit: str, first: int
    ) -> "AnswerTable":
        header = [str(one).strip() for one in frame.columns]
        if twice := next((name for name in header if header.count(name) > 1), None):
            raise UserError(f"{source}: column {twice} is there twice; expected one of each name")
        renamed = {name: (columns or {}).get(name, name) for name in COLUMNS}
        if lost := next((name for name in (columns or {}).values() if name not in header), None):
            raise UserError(f"{source}: no column {lost} (annotations.columns); it has {', '.join(header)}")
        there = {name: header.index(own) for name, own in renamed.items() if own in header}
        if not any(set(form) <= there.keys() for form in (PAIRS, GROUPS, CLASSES)):
            raise UserError(f"{source}: {_no_form(frame, header, there, unit == 'line')}; expected {_EXPECTED}")
        cells = {name: as_text(frame.iloc[:, at]) for name, at in there.items()}
        kept = np.logical_or.reduce([column != "" for column in cells.values()])  # not the empty lines at the end
        if not kept.any():
            raise UserError(f"{source}: no answers; expected {_EXPECTED}")
        return cls(source, unit, np.flatnonzero(kept) + first, {name: column[kept] for name, column in cells.items()})

    def rows(self, kept: np.ndarray) -> "AnswerTable":
        """The table of some rows, by a mask or by numbers from 0."""
        return replace(self, number=self.number[kept], columns={name: one[kept] for name, one in self.columns.items()})

    def refuse(self, row: int, column: str, expected: str) -> NoReturn:
        """Raise the error for a cell."""
        raise UserError(f"{self.source}, {self.unit} {self.number[row]}, column {column}: "
                        f"'{self.columns[column][row]}'; expected {expected}")

    def about(self, ids: Sequence[str] | int, errors: str = "raise") -> PairAnnotations:
        """The answers about items.

        In the forms of groups and classes two items of a worker's task are "same" if their groups are equal; without a
        column task all rows of a worker are one task. Workers and tasks are numbered in the order of their names, by
        value if all names are whole numbers.

        Parameters
        ----------
        ids : names of the N items; a number N: the items are called by their rows, from 0
        errors : "raise", or "drop": rows with an unknown item, a wrong label, no worker, or an item beside itself are
            left out, and a note says how many
        """
        names = as_text(list(map(str, range(ids))) if isinstance(ids, int) else list(ids))
        index = pd.Index(names)
        if not index.is_unique:
            raise UserError(f"id {index[index.duplicated()][0]}: two items have it; expected one for each item")
        table, notes = self, []
        if "label" in self.form and (empty := self.columns["label"] == "").any():
            table = self.rows(~empty)
            notes.append(f"{self.source}: {empty.sum():,} of {len(empty):,} rows have no answer and are left out")
        wrong, dropped = table._wrong(index, isinstance(ids, int)), 0
        bad = np.logical_or.reduce([rows for rows, *_ in wrong])
        if bad.any():
            if errors == "raise":
                row = int(bad.argmax())
                table.refuse(row, *next((column, expected) for rows, column, expected in wrong if rows[row]))
            table, dropped = table.rows(~bad), int(bad.sum())
        if not len(table.number):
            raise UserError(f"{self.source}: no answer is left of {len(self.number):,} rows; expected {_EXPECTED}")
        worker, people = np.zeros(len(table.number), np.int64), [EVERYBODY]
        if "worker" in table.columns:
            worker, people = _numbered(table.columns["worker"])
        task = _numbered(table.columns["task"])[0] if "task" in table.columns else None
        if table.form == PAIRS:
            i, j = (index.get_indexer(table.columns[name]) for name in "ij")
            label = pd.Series(table.columns["label"]).str.casefold().map(_LABELS).to_numpy(np.int64)
        else:
            i, j, label, worker, task, repeated = table._pairs(
                index.get_indexer(table.columns["item"]), worker, people, task, errors
            )
            dropped += repeated
            answering, worker = np.unique(worker, return_inverse=True)
            people = [people[m] for m in answering]
        if dropped:
            notes.append(f"{self.source}: {dropped:,} of {len(self.number):,} rows are left out (errors=drop)")
        answers = PairAnnotations.from_arrays(
            i, j, worker, label, task=task, num_items=len(names), worker_names=people, source=Path(self.source).name,
        )  # fmt: skip
        return replace(answers, notes=tuple(notes))

    def _wrong(self, ids: pd.Index, numbered: bool) -> list[tuple[np.ndarray, str, str]]:
        """Of each column: [n] whether a cell is wrong, the column's name, and what was expected."""
        item = "a row number of an item" if numbered else "the id of an item"
        expected = {
            **{name: f"{item}, such as {ids[0]}" for name in ("i", "j", "item")},
            "label": "1 or 0, true or false, yes or no, same or different, or an empty cell",
            "group": "the name of a group", "worker": "the name of a person", "task": "the name of a task",
        }  # fmt: skip
        found = []
        for name, cells in self.columns.items():
            if name in ("i", "j", "item"):
                bad = ids.get_indexer(cells) < 0
            elif name == "label" and self.form == PAIRS:
                bad = ~pd.Series(cells).str.casefold().isin(_LABELS).to_numpy()
            else:
                bad = cells == ""
            found.append((bad, name, expected[name]))
        if self.form == PAIRS:
            found.append((self.columns["i"] == self.columns["j"], "j", "another item than i"))
        return found

    def _pairs(
        self, item: np.ndarray, worker: np.ndarray, people: list[str], task: np.ndarray | None, errors: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
        """All pairs of items of each task: i < j, label, worker, task; and how many contradictory rows were dropped.

        If several workers have grouped the same task, each grouping counts as a separate task; they are numbered by
        task, then by worker. A task of a single item has no pairs and is left out.
        """
        column = self.form[1]
        group = _numbered(self.columns[column])[0]
        whole = worker if task is None else task * len(people) + worker
        # The first row of each task and item, in the order of tasks, then items; and that row for each row.
        _, rows, place = np.unique(whole * (item.max() + 1) + item, return_index=True, return_inverse=True)
        contradicts = group != group[rows[place]]
        if contradicts.any() and errors == "raise":
            row = int(contradicts.argmax())
            before = rows[place[row]]
            self.refuse(row, column, f"'{self.columns[column][before]}' as in {self.unit} {self.number[before]}, for "
                        "the same item, person and task")  # fmt: skip
        kept = [one for one in np.split(rows, np.flatnonzero(np.diff(whole[rows])) + 1) if len(one) > 1]
        if not kept:
            raise UserError(f"{self.source}: no two items in one task; expected pairs of items to compare")
        largest, pairs = max(map(len, kept)), sum(len(one) * (len(one) - 1) // 2 for one in kept)
        if largest > _LARGEST_TASK or pairs > _MOST_PAIRS:
            raise UserError(f"{self.source}: {largest:,} items in one task, {pairs:,} pairs of items in all; expected "
                            f"{_LARGEST_TASK:,} and {_MOST_PAIRS:,} at most: split tasks by the column task")
        first, second, pair_task = pairs_within(kept)
        same = (group[first] == group[second]).astype(np.int64)
        return item[first], item[second], same, worker[first], pair_task, int(contradicts.sum())


def tables_of(answers: Any, columns: Mapping[str, str] | None = None, name: str = "answers") -> list[AnswerTable]:
    """The tables of a file, a data frame or an array, or of a list of files and data frames; ``name`` of the latter."""
    several = isinstance(answers, list | tuple) and all(isinstance(one, str | Path | pd.DataFrame) for one in answers)
    given = list(answers) if several and len(answers) else [answers]
    return [AnswerTable.of(one, columns, name if len(given) == 1 else f"{name} {number}")
            for number, one in enumerate(given, 1)]  # fmt: skip


def joined(parts: Sequence[PairAnnotations]) -> PairAnnotations:
    """The answers of files about the same items; people of one name are one person, and a note counts equal rows."""
    names = list(dict.fromkeys(name for part in parts for name in part.worker_names))
    number_of = {name: number for number, name in enumerate(names)}
    worker = np.concatenate([np.array([number_of[name] for name in part.worker_names])[part.worker] for part in parts])
    i, j, label = (np.concatenate([getattr(part, name) for part in parts]) for name in ("i", "j", "label"))
    notes = [note for part in parts for note in part.notes]
    source = " and ".join(part.source for part in parts)
    # A task has the same number each time that its file is given.
    own = np.concatenate([np.full(part.num_pairs, -1) if part.task is None else part.task for part in parts])
    rows = pd.DataFrame({"i": np.minimum(i, j), "j": np.maximum(i, j), "worker": worker, "label": label, "task": own})
    if repeated := int(rows.duplicated().sum()):
        notes.append(f"{source}: {repeated:,} of {len(rows):,} answers repeat another (the same person, pair, label "
                     "and task): each counts; remove rows that are there by mistake, and give a file once")  # fmt: skip
    task = None
    if any(part.task is not None for part in parts):
        tasks, number = [], 0
        for part in parts:  # an answer without a task becomes a task of its own
            tasks.append((np.arange(part.num_pairs) if part.task is None else part.task) + number)
            number = int(tasks[-1].max()) + 1
        task = np.concatenate(tasks)
    answers = PairAnnotations.from_arrays(
        i, j, worker, label, task=task, num_items=parts[0].num_items, worker_names=names, source=source,
    )  # fmt: skip
    return replace(answers, notes=tuple(notes))


def _read(path: Path) -> pd.DataFrame:
    """The cells of a file of answers as text."""
    if not path.is_file():
        raise UserError(f"{path}: {'a folder' if path.is_dir() else 'no such file'}; expected a file of answers")
    try:
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(path)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows that are longer than the header
            return pd.read_csv(
                path, dtype=str, keep_default_na=False, skipinitialspace=True, skip_blank_lines=False, index_col=False,
                encoding="utf-8-sig", sep="\t" if path.suffix.lower() == ".tsv" else ",",
            )  # fmt: skip
    except (OSError, ValueError, ImportError, pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise UserError(f"{path}: cannot be read as answers: {' '.join(str(error).split())}; expected "
                        f"comma-separated csv, tsv or parquet with columns {_EXPECTED}") from error


def _no_form(frame: pd.DataFrame, header: list[str], there: Mapping[str, int], of_file: bool) -> str:
    """Why the columns are none of the forms: the separator, no header, a missing column, or (to paste) other names."""
    if len(header) == 1 and (sign := next((sign for sign in ";\t|," if sign in header[0]), None)):
        separator = {"\t": "tabs"}.get(sign, repr(sign))
        return f"its cells are separated by {separator}; answers are comma-separated csv, tsv or parquet"
    if of_file and any(own.casefold() in _LABELS or own in as_text(frame.iloc[:, k]) for k, own in enumerate(header)):
        return f"is the first line, {', '.join(header)}, a header? It has to be the names of the columns"
    form = max((PAIRS, CLASSES, GROUPS), key=lambda one: len(there.keys() & set(one)))
    taken = (*COLUMNS, *(header[at] for at in there.values()))
    free = [own for own in header if own not in taken and not own.startswith("Unnamed: ")]
    needed = [name for name in (*form[:-1], "worker", form[-1]) if name not in there]
    if len(free) < len(needed):  # then all answers are of one person
        needed = [name for name in form if name not in there]
    if len(free) < len(needed):
        return f"no column {', '.join(needed)}; it has {', '.join(header)}"
    names = {name: header[at] for name, at in there.items() if header[at] != name}
    names |= dict(zip(needed, free, strict=False))
    pasted = ", ".join(f"{name}: {own if own.isidentifier() and own.isascii() else repr(own)}"
                       for name, own in names.items())  # fmt: skip
    return (f'columns {", ".join(header)}; if they have other names: "annotations.columns={{{pasted}}}", in Python '
            "columns=")  # fmt: skip


def _of_array(answers: Any, name: str) -> pd.DataFrame:
    expected = "expected an array [answers, 3 to 5]: i, j[, worker], label[, task]"
    try:
        table = np.asarray(answers)
    except ValueError as error:  # rows of unequal length
        raise UserError(f"{name}: rows of different lengths; {expected}") from error
    if table.ndim != 2 or table.shape[1] not in _OF_ARRAY:
        raise UserError(f"{name}: shape {table.shape}; {expected}")
    rows = list(answers) if table.dtype.kind in "USO" else table  # an array would make text of numbers beside text
    return pd.DataFrame(rows, columns=list(_OF_ARRAY[table.shape[1]]))


def _numbered(cells: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Numbers of names, [n], and the sorted names."""
    code, found = pd.factorize(cells)
    names = sorted(found, key=int) if all(one.isdecimal() for one in found) else sorted(found)
    return pd.Index(names).get_indexer(found)[code], names


def write(annotations: PairAnnotations, path: Path | str) -> None:
    """Write answers as a CSV file; missing folders are created."""
    worker = [annotations.worker_names[m] for m in annotations.worker]
    task = () if annotations.task is None else (annotations.task,)
    rows = zip(annotations.i, annotations.j, worker, annotations.label, *task, strict=True)
    write_csv(Path(path), ("i", "j", "worker", "label", "task")[: 4 + len(task)], rows)
