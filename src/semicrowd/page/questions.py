"""``questions.csv``: pairs of items to ask about, in a form that people fill in and that ``fit`` and a run read."""

import csv
from collections.abc import Sequence
from pathlib import Path

from semicrowd.crowd.answer_files import AnswerTable
from semicrowd.errors import UserError
from semicrowd.files import write_csv

#: The file's name in a run's folder.
QUESTIONS = "questions.csv"
_COLUMNS = ("i", "j", "worker", "label")


def write_questions(path: Path, pairs: Sequence[tuple[int, int]], names: Sequence[str] | None) -> None:
    """Write the pairs as answers i,j,worker,label, with nothing in the last two columns.

    A file in which somebody has written anything is kept as it is. Without pairs there is no file.

    Parameters
    ----------
    pairs : numbers of the items of each pair
    names : names of the items; None if they have none, so that their rows name them
    """
    if pairs and not filled_in(path):
        written = ((i, j) if names is None else (names[i], names[j]) for i, j in pairs)
        write_csv(path, _COLUMNS, ((*pair, "", "") for pair in written))


def filled_in(path: Path) -> bool:
    """Whether there is a file of questions in which anything has been written since it was made.

    A name of a worker or a don't know is work that nobody wants to lose, and so is a column that has been added.
    """
    return bool(_changed(path))


def check_not_filled_in(folder: Path) -> None:
    """Refuse to empty a run's folder in which people have filled in the questions.

    Raises
    ------
    UserError
        Naming the file.
    """
    if changed := _changed(folder / QUESTIONS):
        raise UserError(f"{folder / QUESTIONS}: {changed}, and a new run in this folder would remove it; move the file "
                        "to another folder, or choose another hydra.run.dir")


def _changed(path: Path) -> str:
    """What has happened to a file of questions since it was written; empty if nothing has, or if there is none."""
    if not path.exists():
        return ""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            header, *rows = csv.reader(file, strict=True)
    except (OSError, ValueError, csv.Error):  # ValueError: it is empty, or no text
        return "cannot be read"
    if tuple(header) == _COLUMNS and not any(cell.strip() for row in rows for cell in row[2:]):
        return ""
    try:
        return "has answers" if (AnswerTable.of(path).columns["label"] != "").any() else "has been changed"
    except (UserError, KeyError):
        return "has been changed"
