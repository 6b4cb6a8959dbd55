"""Files with answers as tables, with names of annotators as salted hashes where the user wants that.

The salt is a secret of this machine and lies outside every run's folder, so that a run can be passed on, and so that
the same person has the same name in all runs and in answers about new items.
"""

import hashlib
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.answer_header import PAIRS
from semicrowd.crowd.answer_table import AnswerTable
from semicrowd.crowd.wording import Wording
from semicrowd.data.answer_tables import (
    frame_of_rows,
    in_one_frame,
    said_of_unfilled,
    table_of_file,
    tables_of,
    wording_of,
)
from semicrowd.errors import UserError, warn
from semicrowd.files import expanded
from semicrowd.settings.data import FileSettings

#: Key of known pairs in the ``attrs`` of answers in a data frame.
KNOWN_PAIRS = "semicrowd known pairs"


def read_answers(
    answers: Path | str | pd.DataFrame | np.ndarray | Sequence[Path | str | pd.DataFrame | Sequence[Any]],
    *,
    columns: Mapping[str, str] | None = None,
    same_words: Sequence[str | float] = (),
    different_words: Sequence[str | float] = (),
    unsure_words: Sequence[str | float] = (),
    known: Any = None,
) -> pd.DataFrame:
    """Answers, and what is known besides them, as ``fit(X, pairs=…)`` takes them.

    Parameters
    ----------
    answers : path of a .csv, .parquet or .xlsx file, or a data frame; or a list of these, whose formats may differ; or
        rows, a list or an array [answers, 3 to 5]: i, j, label, or i, j, worker, label[, task], as ``fit`` takes them
    columns : standard name of a column (i, j, item, worker, label, group, task) → its name in the files
    same_words, different_words : further words for the two answers; upper and lower case are not distinguished
    unsure_words : further words of people who do not know the answer; their rows are left out
    known : pairs that are certain: path, data frame or array with i, j and a label (1: same, 0: different); without a
        label all are "same". Those with a column worker are answers of these people

    Returns
    -------
    pd.DataFrame
        Columns i, j, label (1: same, 0: different), or item, group, or item, label; with worker and task if given. Of
        several files it has the columns of all, and a column source that says which file a row is from; people of the
        same name are the same person, tasks of two files are two tasks. That there are several files, and known pairs,
        are in its ``attrs``, which pandas keeps when rows are selected, but not when the data frame is
        merged with another one: its rows are then those of one file, and tasks of the same name are one task. Rows
        without an answer (an empty cell, "don't know", "?") are left out; a warning says how many.

    Raises
    ------
    UserError
        If a column is missing or a word of a pair is not understood, naming the file and the row, or if no row has an
        answer. Items that are not in the table are found by ``fit``.

    Examples
    --------
    >>> import pandas as pd
    >>> verdicts = pd.DataFrame({"Bild A": [0, 1], "Bild B": [1, 2], "Urteil": ["gleich", "verschieden"]})
    >>> read_answers(verdicts, columns={"i": "Bild A", "j": "Bild B", "label": "Urteil"},
    ...              same_words=["gleich"], different_words=["verschieden"])
       i  j  label
    0  0  1      1
    1  1  2      0
    """
    try:
        wording = wording_of(FileSettings(
            columns=columns, same_words=same_words, different_words=different_words, unsure_words=unsure_words
        ))  # fmt: skip
    except UserError as error:  # that names a setting of the command line
        raise UserError(str(error).removeprefix("annotations.")) from None
    tables = tables_of(_files_or_frames(answers), wording)
    unfilled = said_of_unfilled(tables)
    for note in filter(None, unfilled):
        warn(note)
    tables = [table for table, note in zip(tables, unfilled, strict=True) if not note]
    frames = [_frame(table) for table in tables]
    frame = frames[0] if len(frames) == 1 else in_one_frame(frames, [str(table.path) for table in tables])
    if known is not None:
        frame.attrs[KNOWN_PAIRS] = _frame(_known_table(known)).to_dict("list")
    return frame


def _files_or_frames(answers: Any) -> list[Path | str | pd.DataFrame]:
    """The files and data frames of answers; rows as one data frame."""
    if isinstance(answers, Path | str | pd.DataFrame):
        return [answers]
    if isinstance(answers, np.ndarray):
        return [frame_of_rows(answers, "answers")]
    if not isinstance(answers, list | tuple):
        raise UserError(f"answers: {type(answers).__name__}; expected a file, a data frame, rows, or a list of files")
    if not answers:
        raise UserError("answers: an empty list; expected a file or a data frame at least")
    if all(isinstance(one, Path | str | pd.DataFrame) for one in answers):
        return list(answers)
    return [frame_of_rows(answers, "answers")]


def _frame(table: AnswerTable) -> pd.DataFrame:
    for note in table.said_of_skipped():
        warn(note)
    frame = pd.DataFrame(table.columns)
    return frame.assign(label=table.answers()) if table.kind == PAIRS else frame


def _known_table(known: Any) -> AnswerTable:
    """Known pairs; all are "same" if they have no label.

    Raises
    ------
    UserError
        If they are no pairs.
    """
    if isinstance(known, Path | str):
        read = partial(table_of_file, expanded(known), Wording())
    else:
        if not isinstance(known, pd.DataFrame):
            known = np.asarray(known)
            if known.ndim != 2 or known.shape[1] not in (2, 3):
                raise UserError(f"known: shape {known.shape}; expected [pairs, 2 or 3]: i, j[, label]")
            known = pd.DataFrame(known, columns=["i", "j", "label"][: known.shape[1]])
        read = partial(AnswerTable.of_frame, known, "known", Wording())
    try:
        table = read()
    except UserError as error:
        try:
            table = read(label=1)
        except UserError:
            raise error from None
    if table.kind != PAIRS:
        raise UserError(f"{table.path}: groups of items; expected pairs i,j[,label], which are known")
    return table


#: The salt's file in the data root, which only its owner can read.
_FILE = "salt"
#: Bytes of a salt.
_SALT = 32
#: Bytes of a hash: of a thousand people two have the same one in one crowd of two million.
_HASH = 5


def anonymised(answers: PairAnnotations, root: Path) -> PairAnnotations:
    """The same answers, their annotators called ``person-`` and ten digits, and numbered in the order of these names.

    Parameters
    ----------
    root : folder of the salt, which is made where there is none; ``SEMICROWD_SALT`` is one for several machines

    Raises
    ------
    UserError
        Where no salt can be read or made.
    """
    salt = _salt(root)
    names = [f"person-{hashlib.blake2b(name.encode(), digest_size=_HASH, key=salt).hexdigest()}"
             for name in answers.worker_names]  # fmt: skip
    notes = list(answers.notes)
    for old, new in zip(answers.worker_names, names, strict=True):  # notes name somebody as an example
        notes = [note.replace(f"such as {old} about ", f"such as {new} about ") for note in notes]
    return replace(answers, worker_names=tuple(names), notes=tuple(notes)).renumbered(np.argsort(names))


def _salt(root: Path) -> bytes:
    from filelock import FileLock  # imported here: most runs are not anonymous

    given = os.environ.get("SEMICROWD_SALT")
    if given:
        return hashlib.sha256(given.encode()).digest()
    path = root / _FILE
    # Imported here: estimators read files of answers without the extra that has it.

    try:
        if not path.exists():
            root.mkdir(parents=True, exist_ok=True)
            with FileLock(root / f"{_FILE}.lock"):  # of two runs that start at once, both take the first one's salt
                if not path.exists():
                    new = path.with_name(f".{_FILE}.{os.getpid()}.tmp")  # nobody may see it half-written
                    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                        file.write(secrets.token_bytes(_SALT))
                    new.replace(path)
        salt = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be used: {error.strerror}; annotations.anonymise=true keeps its salt there, "
                        "or takes SEMICROWD_SALT") from error
    if len(salt) != _SALT:
        raise UserError(f"{path}: not a salt of {_SALT} bytes; remove it, names are then new ones")
    return salt
