"""Rows whose authors do not know the answer are no answers; every other word that is not understood is an error."""

from pathlib import Path

import pandas as pd
import pytest
from tests.answer_files import read_csv_answers

from semicrowd.crowd.answer_table import AnswerTable
from semicrowd.crowd.csv_file import of_table
from semicrowd.crowd.unsure import is_unsure
from semicrowd.crowd.wording import Wording
from semicrowd.errors import UserError
from semicrowd.estimators.inputs import checked_answers


@pytest.mark.parametrize(
    "cell",
    ["", "?", "don't know", "Don’t know.", "dont know", "dont_know", "unsure", "Not  sure", "skip", "can't tell",
     "weiß nicht", "Weiss nicht!", "IDK", "n/a", "k.A.", "I do not know", "i don't know?", "unsure??", "–", "—", "NaN",
     "None", "null", "#N/A", "dunno", "Keine Antwort"],
)  # fmt: skip
def test_words_for_not_knowing(cell: str) -> None:
    assert is_unsure(cell)


@pytest.mark.parametrize("cell", ["same", "different", "0", "1", "maybe", "skipper", "same?", "know", "nothing", "-1"])
def test_other_words(cell: str) -> None:
    assert not is_unsure(cell)


def test_rows_without_an_answer_are_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("i,j,worker,label\n0,1,ann,same\n0,2,ann,Don't know\n1,2,ann,\n1,3,bob,different\n9,9,cy,skip\n")
    answers = read_csv_answers(path, 4)
    assert answers.i.tolist() == [0, 1]
    assert answers.worker_names == ("ann", "bob")
    note = "answers.csv: 3 of 5 rows have no answer (empty, or a word such as don't know), and are skipped"
    assert answers.notes[0] == note


def test_words_of_ones_own_for_not_knowing(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("i,j,worker,label\n0,1,ann,1\n0,2,ann,9\n1,2,ann,Mixed\n1,3,ann,0\n2,3,ann,n\n")
    table = AnswerTable.read(path, wording=Wording(unsure=[9, "mixed", "N"]))
    assert (table.columns["label"], table.skipped) == (["1", "0"], 3)
    path.write_text("item,worker,group\n0,ann,a\n1,ann,a\n2,ann,mixed\n3,ann,mixed\n")
    assert AnswerTable.read(path, wording=Wording(unsure=["mixed"])).columns["item"] == ["0", "1"]
    with pytest.raises(UserError, match=r"annotations\.same_words and annotations\.unsure_words: 9 is in both"):
        Wording(same=[9], unsure=["9"]).meanings()


@pytest.mark.parametrize("column", ["group", "label"])
def test_items_that_somebody_could_not_place_are_no_group(tmp_path: Path, column: str) -> None:
    path = tmp_path / "sorted.csv"
    path.write_text(f"item,worker,{column}\n0,ann,a\n1,ann,a\n2,ann,?\n3,ann,Don't know\n4,ann,?\n")
    answers = read_csv_answers(path, 5)
    assert list(zip(answers.i.tolist(), answers.j.tolist(), strict=True)) == [(0, 1)]
    assert answers.notes[0].startswith("sorted.csv: 3 of 5 rows have no answer")


@pytest.mark.parametrize("column", ["group", "label"])
@pytest.mark.parametrize(
    "name",
    ["pass", "skip", "-", "na", "n/a", "dk", "unknown", "unclear", "uncertain", "undecided", "unbekannt",
     "!"],
)  # fmt: skip
def test_words_that_may_be_names_are_groups_and_classes(tmp_path: Path, column: str, name: str) -> None:
    path = tmp_path / "sorted.csv"
    path.write_text(f"item,worker,{column}\n0,ann,{name}\n1,ann,{name}\n2,ann,fail\n3,ann,not sure\n")
    answers = read_csv_answers(path, 4)
    assert list(zip(answers.i, answers.j, answers.label, strict=True)) == [(0, 1, 1), (0, 2, 0), (1, 2, 0)]
    assert answers.notes[0].startswith("sorted.csv: 1 of 4 rows have no answer")


def test_words_that_are_not_understood_are_named_each_once(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("i,j,label\n0,1,same\n0,2,perhaps\n0,3,?\n1,2,perhaps\n1,3,rather not\n")
    with pytest.raises(UserError, match=r"line 3, column label: perhaps; .*not understood: rather not$"):
        read_csv_answers(path, 4)


def test_a_word_of_ones_own_is_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("i,j,label\n0,1,?\n0,2,unsure\n0,3,same\n")
    answers = of_table(AnswerTable.read(path, wording=Wording(different=["?"])), 4)
    assert answers.label.tolist() == [0, 1]


def test_a_file_that_nobody_has_filled_in_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text("i,j,worker,label\n0,1,,\n0,2,,\n")
    with pytest.raises(UserError, match=r"no answers: column label is empty in all 2 rows, or says that people do not"):
        read_csv_answers(path, 4)


def test_a_column_of_workers_without_a_name_is_that_of_one_person(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text("i,j,worker,label\n0,1,,same\n0,2,,\n1,2,,different\n")
    answers = read_csv_answers(path, 4)
    assert answers.worker_names == ("everybody",)
    assert answers.label.tolist() == [1, 0]


def test_a_data_frame_with_gaps_in_place_of_answers_is_understood_and_warned_of() -> None:
    frame = pd.DataFrame({"i": [0, 0, 1], "j": [1, 2, 2], "worker": [7, 7, 8], "label": [1, None, 0]})
    with pytest.warns(UserWarning, match="pairs: 1 of 3 rows have no answer"):
        answers = checked_answers(frame, 3)
    assert answers is not None
    assert answers.label.tolist() == [1, 0]
    assert answers.worker_names == ("7", "8")
