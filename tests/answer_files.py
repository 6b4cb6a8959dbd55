"""Answers of csv files, as runs read them."""

from collections.abc import Sequence
from pathlib import Path

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.answer_files import AnswerTable


def read_csv_answers(path: Path, num_items: int, ids: Sequence[str] | None = None) -> PairAnnotations:
    """The answers of a file about ``num_items`` items, with the true rates beside it."""
    return AnswerTable.of(path).about(ids or num_items)


def written(folder: Path, text: str, name: str = "answers.csv") -> Path:
    """A file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def rows(answers: PairAnnotations | None) -> list[tuple[str, int, int, int]]:
    """Annotator, items and label of each answer, in their order."""
    assert answers is not None
    names = [answers.worker_names[m] for m in answers.worker]
    return sorted(zip(names, answers.i.tolist(), answers.j.tolist(), answers.label.tolist(), strict=True))
