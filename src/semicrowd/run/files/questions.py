"""``questions.csv`` of a run: pairs of items to ask about, in a form that people fill in and that a run reads."""

from collections.abc import Sequence
from pathlib import Path

from semicrowd.crowd.answer_table import AnswerTable
from semicrowd.errors import UserError
from semicrowd.files import write_csv

#: The file's name in a run's folder.
QUESTIONS = "questions.csv"


def write_questions(folder: Path, pairs: Sequence[tuple[int, int]], names: Sequence[str] | None) -> None:
    """Write the pairs as answers i,j,worker,label, with nothing in the last two columns.

    A file that people have begun to fill in is kept as it is. Without pairs there is no file.

    Parameters
    ----------
    pairs : numbers of the items of each pair
    names : names of the items; None if they have none, so that their rows name them
    """
    if pairs and not filled_in(folder):
        written = ((i, j) if names is None else (names[i], names[j]) for i, j in pairs)
        write_csv(folder / QUESTIONS, ("i", "j", "worker", "label"), ((*pair, "", "") for pair in written))


def filled_in(folder: Path) -> bool:
    """Whether a run's folder has a file of questions of which one at least has an answer, or that has been changed."""
    path = folder / QUESTIONS
    if not path.exists():
        return False
    try:
        return bool(AnswerTable.read(path).lines)
    except UserError:
        return True


def check_not_filled_in(folder: Path) -> None:
    """Refuse to empty a run's folder in which people have filled in the questions.

    Raises
    ------
    UserError
        Naming the file.
    """
    if filled_in(folder):
        raise UserError(f"{folder / QUESTIONS}: has answers, which a new run in this folder would remove; move the "
                        "file to another folder, or choose another hydra.run.dir")
