"""Answers of csv files, as runs read them."""

from collections.abc import Sequence
from pathlib import Path

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.answer_table import AnswerTable
from semicrowd.crowd.csv_file import of_table, truth_path


def read_csv_answers(
    path: Path, num_items: int, ids: Sequence[str] | None = None, *, skip_unknown: bool = False
) -> PairAnnotations:
    """The answers of a file about ``num_items`` items, with the true rates beside it."""
    return of_table(AnswerTable.read(path), num_items, ids, truth_path(path), skip_unknown=skip_unknown)
