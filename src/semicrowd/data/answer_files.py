"""Files with answers, as tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from semicrowd.crowd.answer_header import PAIRS
from semicrowd.crowd.answer_table import AnswerTable, Wording
from semicrowd.data.frames import read_frame
from semicrowd.errors import UserError
from semicrowd.settings.answers import FileSettings


def wording_of(settings: FileSettings) -> Wording:
    """The column names and words of these settings."""
    return Wording(settings.columns or {}, settings.same_words, settings.different_words)


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
        return AnswerTable.of_frame(read_frame(path).table, path.name, wording, label)
    return AnswerTable.read(path, label, wording)


def read_answers(
    answers: Path | str | pd.DataFrame,
    *,
    columns: Mapping[str, str] | None = None,
    same_words: Sequence[str | float] = (),
    different_words: Sequence[str | float] = (),
) -> pd.DataFrame:
    """Answers whose columns or words have names of their own, as ``fit(X, pairs=…)`` takes them.

    Parameters
    ----------
    answers : path of a .csv, .parquet or .xlsx file, or a data frame
    columns : standard name of a column (i, j, item, worker, label, group, task) → its name in the file
    same_words, different_words : further words for the two answers; upper and lower case are not distinguished

    Returns
    -------
    pd.DataFrame
        Columns i, j, label (1: same, 0: different), or item, group, or item, label; with worker and task if given.

    Raises
    ------
    UserError
        If a column is missing or a word of a pair is not understood, naming the file and the row. Items that are not in
        the table are found by ``fit``.

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
        wording = wording_of(FileSettings(columns=columns, same_words=same_words, different_words=different_words))
    except UserError as error:  # that names a setting of the command line
        raise UserError(str(error).removeprefix("annotations.")) from None
    if isinstance(answers, pd.DataFrame):
        table = AnswerTable.of_frame(answers, "answers", wording)
    else:
        table = table_of_file(Path(answers).expanduser(), wording)
    frame = pd.DataFrame(table.columns)
    return frame.assign(label=table.answers()) if table.kind == PAIRS else frame
