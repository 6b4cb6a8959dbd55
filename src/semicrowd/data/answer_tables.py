"""Tables of answers in files or data frames, one or several, which may have different formats."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.crowd.answer_header import looks_like_answers, separator_of
from semicrowd.crowd.answer_table import AnswerTable
from semicrowd.crowd.wording import Wording
from semicrowd.data.frames import TEXT_FILES, read_frame
from semicrowd.errors import UserError
from semicrowd.files import expanded
from semicrowd.settings.data import FileSettings

#: Columns of rows of answers by their number.
_COLUMNS = {3: ("i", "j", "label"), 4: ("i", "j", "worker", "label"), 5: ("i", "j", "worker", "label", "task")}
_EXPECTED = "expected [answers, 3 to 5]: i, j[, worker], label[, task]"
#: Column with the file of each answer, in a data frame with the answers of several files.
SOURCE = "source"
#: Key in the ``attrs`` of such a data frame.
_SEVERAL = "semicrowd several files"


def wording_of(settings: FileSettings) -> Wording:
    """The column names and words of these settings."""
    return Wording(settings.columns or {}, settings.same_words, settings.different_words, settings.unsure_words)


def table_of_file(path: Path, wording: Wording, label: int | None = None) -> AnswerTable:
    """The answers of a text file, or of a .parquet or .xlsx file.

    Parameters
    ----------
    label : the answer (1 or 0) of all rows, for a file that only lists pairs i,j

    Raises
    ------
    UserError
        Naming the file and what was expected.
    """
    if path.suffix.lower() in (".parquet", ".xlsx"):
        return AnswerTable.of_frame(read_frame(path), path.name, wording, label)
    return AnswerTable.read(path, label, wording)


def refuse_swapped(items: Path, answers: Sequence[Path]) -> None:
    """Refuse files of items and answers that have changed places.

    Raises
    ------
    UserError
        If the file of items has the header of answers, and no file of answers has.
    """
    if items.suffix.lower() not in TEXT_FILES or not answers or not all(path.is_file() for path in (items, *answers)):
        return
    with suppress(OSError), items.open(encoding="utf-8-sig", errors="replace") as file:
        first = file.readline()
        header = [cell.strip(' "\r\n') for cell in first.split(separator_of(first))]
        if looks_like_answers(header) and not any(map(_has_answers, answers)):
            raise UserError(f"{items} looks like a file of answers: are data.path and annotations.path swapped?")


def _has_answers(path: Path) -> bool:
    try:
        table_of_file(path, Wording())
    except UserError:
        return False
    return True


def frame_of_rows(answers: Any, name: str) -> pd.DataFrame:
    """Rows of answers, i, j, label, or i, j, worker, label[, task], as a data frame; ``name`` is for messages.

    Raises
    ------
    UserError
        For another shape.
    """
    try:
        table = np.asarray(answers)
    except ValueError as error:  # rows of unequal length
        raise UserError(f"{name}: {str(error).splitlines()[0]}; {_EXPECTED}") from error
    if table.ndim != 2 or table.shape[1] not in _COLUMNS:
        raise UserError(f"{name}: shape {table.shape}; {_EXPECTED}")
    rows = list(answers) if table.dtype.kind in "USO" else table  # an array would make text of numbers beside text
    return pd.DataFrame(rows, columns=list(_COLUMNS[table.shape[1]]))


def tables_of(answers: Sequence[Path | str | pd.DataFrame], wording: Wording) -> list[AnswerTable]:
    """The answers of each of some files or data frames; each is read in its own format.

    Files of the same name in different folders are told apart by their paths. If ``wording`` is already shared, they
    need not have its columns.

    Raises
    ------
    UserError
        Naming the file, or a column of ``wording`` that none of them has.
    """
    need_none = wording.shared
    wording = replace(wording, shared=need_none or len(answers) > 1)
    tables = []
    for number, one in enumerate(answers, 1):
        if isinstance(one, pd.DataFrame):
            name = "answers" if len(answers) == 1 else f"answers {number}"
            tables.append(AnswerTable.of_frame(one, name, wording))
        else:
            tables.append(table_of_file(expanded(one), wording))
    count = Counter(table.path for table in tables)
    for at, one in enumerate(answers):
        if count[tables[at].path] > 1 and not isinstance(one, pd.DataFrame):
            tables[at] = replace(tables[at], path=expanded(one))
    there = {name for table in tables for name in table.wording.columns.values()}
    for name in wording.columns.values():
        if name not in there and not need_none:
            files = " and ".join(str(table.path) for table in tables)
            raise UserError(f"{files}: no column {name} (annotations.columns, in Python columns)")
    return tables


def said_of_unfilled(tables: Sequence[AnswerTable]) -> list[str]:
    """Of each table a note if nobody has filled it in, so that it is left out; empty for the others.

    If no table has an answer, none is left out: who uses one raises an error that names it.
    """
    some = any(table.lines for table in tables)
    return [f"{table.path.name}: none of its {table.skipped:,} rows has an answer yet; the file is left out"
            if some and not table.lines else "" for table in tables]


def in_one_frame(frames: Sequence[pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    """The answers of several files as rows of a data frame, with a column that says which file each is from.

    A name that several of them have, such as that of a file which is given twice, is followed by (2), (3) and so on.
    """
    sources: list[str] = []
    for name in names:
        others = (f"{name} ({number})" for number in range(2, len(names) + 1))
        sources.append(next(one for one in (name, *others) if one not in sources))
    parts = [frame.assign(**{SOURCE: name}) for frame, name in zip(frames, sources, strict=True)]
    together = pd.concat(parts, ignore_index=True)
    together.attrs[_SEVERAL] = True
    return together


def by_file(frame: pd.DataFrame) -> list[AnswerTable]:
    """The tables of the files in a data frame of :func:`in_one_frame`; empty for another data frame."""
    if not frame.attrs.get(_SEVERAL) or SOURCE not in frame:
        return []
    parts = {str(name): part.drop(columns=SOURCE) for name, part in frame.groupby(SOURCE, sort=False)}
    return [AnswerTable.of_frame(part.dropna(axis=1, how="all"), name) for name, part in parts.items()]
