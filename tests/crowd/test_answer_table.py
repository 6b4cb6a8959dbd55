"""Answers as people write them down: what is understood, and one clear line for what is not."""

import os
from pathlib import Path

import numpy as np
import pytest
from tests.answer_files import read_csv_answers

from semicrowd.crowd import csv_file
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError

IDS = ("ant", "bee", "cat", "dog", "elk")
HEADER = "i,j,worker,label\n"


def read(tmp_path: Path, text: str | bytes, ids: tuple[str, ...] | None = None) -> PairAnnotations:
    """Answers about five items."""
    path = tmp_path / "answers.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_csv_answers(path, 5, ids)


def refused(tmp_path: Path, text: str | bytes, ids: tuple[str, ...] | None = None) -> str:
    """The one line about a file that cannot be understood, without its path."""
    with pytest.raises(UserError) as caught:
        read(tmp_path, text, ids)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value).removeprefix(str(tmp_path / "answers.csv"))


def pairs(answers: PairAnnotations) -> list[tuple[int, int, str, int]]:
    """Each answer: two items, who gave it and what it was."""
    workers = [answers.worker_names[m] for m in answers.worker]
    return list(zip(answers.i.tolist(), answers.j.tolist(), workers, answers.label.tolist(), strict=True))


def tasks(answers: PairAnnotations) -> list[int]:
    assert answers.task is not None
    return [int(task) for task in answers.task]


@pytest.mark.parametrize(
    ("same", "different"),
    [
        ("1", "0"), ("1.0", "0.0"), ("true", "false"), ("TRUE", "False"), ("same", "Different"), ("yes", "NO"),
        ("must-link", "cannot-link"), ("Must_Link", "CANNOT_LINK"), ("ja", "Nein"), ("y", "n"), (" +1 ", "00"),
        ("Gleich", "verschieden"),
    ],
)  # fmt: skip
def test_labels_as_words_or_numbers(tmp_path: Path, same: str, different: str) -> None:
    answers = read(tmp_path, HEADER + f"0,1,ann,{same}\n0,2,ann,{different}\n")
    assert answers.label.tolist() == [1, 0]


@pytest.mark.parametrize("label", ["2", "1.5", "-1", "maybe", "mustlink", "0,1", "ye\u017f", "\u0661", "1e0"])
def test_labels_that_are_none(tmp_path: Path, label: str) -> None:
    assert refused(tmp_path, HEADER + f'0,1,ann,1\n0,2,ann,"{label}"\n') == (
        f", line 3, column label: {label}; expected 1 (same) or 0 (different), or true/false, same/different, yes/no, "
        "y/n, must-link/cannot-link, ja/nein, gleich/verschieden; for other words see annotations.same_words and "
        "annotations.different_words, in Python read_answers; an empty cell or don't know skips the row"
    )


def test_the_first_bad_cell_is_named(tmp_path: Path) -> None:
    # A quoted cell over two lines: the row is named by the line that it ends on.
    assert refused(tmp_path, HEADER + '0,1,"a\nb",1\n1,x,ann,y\n9,1,ann,1\n').startswith(", line 4, column j: x;")
    assert refused(tmp_path, HEADER + '0,"1\n2",ann,1\n').startswith(r", line 3, column j: 1\n2; expected an item id")
    long = refused(tmp_path, HEADER + f"0,{'x' * 99_999},ann,1\n")
    assert long.startswith(f", line 2, column j: {'x' * 50}; expected")


def test_items_by_their_ids(tmp_path: Path) -> None:
    answers = read(tmp_path, HEADER + "bee, elk ,ann,1\ncat,ant,bob,0\n", IDS)
    assert pairs(answers) == [(1, 4, "ann", 1), (2, 0, "bob", 0)]
    assert answers.notes == ("answers.csv: items are identified by their ids",)


def test_items_by_their_rows_though_the_table_has_ids(tmp_path: Path) -> None:
    answers = read(tmp_path, HEADER + "1,4,ann,1\n2,0,bob,0\n", IDS)
    assert pairs(answers) == [(1, 4, "ann", 1), (2, 0, "bob", 0)]
    assert answers.notes == ("answers.csv: items are row numbers counted from 0 (no item has the id '1')",)
    assert read(tmp_path, HEADER + "1,4,ann,1\n2,0,bob,0\n").notes == ()


def test_ids_that_look_like_rows_win(tmp_path: Path) -> None:
    ids = ("1", "2", "3", "4", "5")
    answers = read(tmp_path, HEADER + "1,4,ann,1\n2,3,ann,0\n", ids)
    assert pairs(answers) == [(0, 3, "ann", 1), (1, 2, "ann", 0)]
    assert answers.notes == ("answers.csv: items are identified by their ids",)
    answers = read(tmp_path, HEADER + "1,4,ann,1\n2,0,ann,0\n", ids)
    assert pairs(answers) == [(1, 4, "ann", 1), (2, 0, "ann", 0)]
    assert answers.notes == ("answers.csv: items are row numbers counted from 0 (no item has the id '0')",)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("ant,bee,ann,1\ncow,bull,ann,1\nsow,pig,ann,1\nox,ant,ann,1\n",
         ": only 2 of its 7 items are there, not bull, cow, ox, pig, sow; is it a file about other items?"),
        ("0,1,ann,1\n5,2,ann,1\n", ", line 3, column i: 5; expected the id of an item, such as ant and bee, or row"),
        ("ant,1,ann,1\n", ": no row is about items that are there; such as 1; expected ids of the items"),
        ("ant,bee,ann,1\n,ant,ann,1\n", ", line 3, column i: empty; expected the id of an item"),
        ("ant,ant,ann,1\n", ", line 2, column j: ant; expected another item than i"),
    ],
)
def test_items_that_are_not_in_the_table(tmp_path: Path, rows: str, message: str) -> None:
    assert refused(tmp_path, HEADER + rows, IDS).startswith(message)


def test_a_few_answers_about_items_that_are_not_in_the_table_are_left_out_and_counted(tmp_path: Path) -> None:
    answers = read(tmp_path, HEADER + "ant,bee,ann,1\ncat,cow,ann,1\n", IDS)
    assert pairs(answers) == [(0, 1, "ann", 1)]
    assert answers.notes[0] == "answers.csv: 1 of 2 rows are about items that are not there, and left out (cow)"


def test_answers_of_which_no_id_is_there_are_about_other_items(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    said = (f"none of the 2 ids of {path} is among the items: the answers are about other items, or ids are written "
            "otherwise, e.g. cow, while items are such as ant")  # fmt: skip
    assert refused(tmp_path, HEADER + "cow,bull,ann,1\n", IDS) == said
    said = said.replace("e.g. cow", "e.g. Ant")
    assert refused(tmp_path, HEADER + "Ant,BEE,ann,1\n", IDS) == f"{said}; Ant is not there, ant is"


def test_an_id_that_differs_by_capitals_and_blanks_alone_is_said_to(tmp_path: Path) -> None:
    answers = read(tmp_path, HEADER + "ant,bee,ann,1\ncat, B ee,ann,1\n", IDS)
    assert answers.notes[0].endswith("are not there, and left out (B ee; B ee is not there, bee is)")
    ids = ("1", "2", "3", "4", "5a")
    assert refused(tmp_path, HEADER + "1,2,ann,1\n3,4,ann,1\n,5A,ann,1\n", ids).endswith("; 5A is not there, 5a is")


def test_an_example_of_repeated_answers_has_the_names_of_the_items(tmp_path: Path) -> None:
    answers = read(tmp_path, HEADER + "ant,bee,ann,1\ncat,elk,bob,1\nelk,cat,bob,1\nant,bee,ann,0\n", IDS)
    assert answers.notes[1:] == (
        "answers.csv: 1 duplicate answer (same pair, annotator and label, such as bob about cat and elk), kept",
        "answers.csv: 1 pair about which an annotator gave both answers, such as ann about ant and bee, all kept",
    )
    again = csv_file.joined([answers, answers], IDS)
    assert "such as bob about cat and elk), kept" in " ".join(again.notes)


def test_whole_numbers_are_row_numbers_whatever_the_files_are_called(tmp_path: Path) -> None:
    ids = ("2.jpg", "3.jpg", "4.jpg", "a/bee.jpg", "elk.jpg")
    assert pairs(read(tmp_path, HEADER + "2,3,ann,1\n", ids)) == [(2, 3, "ann", 1)]
    answers = read(tmp_path, HEADER + "bee,2.jpg,ann,1\n", ids)
    assert pairs(answers) == [(3, 0, "ann", 1)]
    assert "without folder or ending, such as bee for a/bee.jpg" in answers.notes[0]


def test_an_id_of_two_items(tmp_path: Path) -> None:
    ids = ("ant", "bee", "cat", "bee", "elk")
    assert pairs(read(tmp_path, HEADER + "ant,cat,ann,1\n", ids)) == [(0, 2, "ann", 1)]
    message = refused(tmp_path, HEADER + "ant,cat,ann,1\nant,bee,ann,1\n", ids)
    assert message == ", line 3, column j: bee; expected an id of exactly one item; several items have this id"


def test_without_workers_everybody_answers(tmp_path: Path) -> None:
    answers = read(tmp_path, "i,j,label\n0,1,must-link\n0,2,cannot-link\n")
    assert pairs(answers) == [(0, 1, "everybody", 1), (0, 2, "everybody", 0)]
    assert answers.notes == (
        "answers.csv: no column worker, or no name in it; all answers are taken for those of one person, 'everybody'",
    )


def test_groups_of_workers_and_tasks(tmp_path: Path) -> None:
    text = (
        "task,worker,item,group\n"
        "t2,bob,4,left\nt1,ann,2,a\nt1,ann,0,b\nt1,ann,1,a\n\nt2,bob,3,right\nt1,bob,2,x\nt1,bob,1,y\n"
    )
    answers = read(tmp_path, text)
    # The tasks are in order, that which two workers did is two: nobody said that ann's 'a' is bob's 'x'.
    assert pairs(answers) == [
        (0, 1, "ann", 0), (0, 2, "ann", 0), (1, 2, "ann", 1), (1, 2, "bob", 0), (3, 4, "bob", 0),
    ]  # fmt: skip
    assert tasks(answers) == [0, 0, 0, 1, 2]
    assert answers.notes == (
        "answers.csv: all items of a person and task are compared in pairs; items: 7, answers about pairs: 5",
    )


def test_groups_without_tasks_are_a_task_of_each_worker(tmp_path: Path) -> None:
    text = "worker,item,group\nann,ant,1\nbob,ant,1\nann,elk,1\nbob,bee,2\n"
    answers = read(tmp_path, text, IDS)
    assert pairs(answers) == [(0, 4, "ann", 1), (0, 1, "bob", 0)]
    assert tasks(answers) == [0, 1]
    assert answers.notes[0] == "answers.csv: items are identified by their ids"


def test_groups_without_workers(tmp_path: Path) -> None:
    answers = read(tmp_path, "task,item,group\n1,0,a\n1,1,a\n2,0,a\n2,2,b\n")
    assert pairs(answers) == [(0, 1, "everybody", 1), (0, 2, "everybody", 0)]
    assert tasks(answers) == [0, 1]
    assert len(answers.notes) == 2
    assert "no column worker" in answers.notes[0]


def test_class_labels(tmp_path: Path) -> None:
    text = "item,worker,label\n0,ann,bird\n1,ann,bird\n2,ann,fish\n1,bob,Vogel\n2,bob,bird\n"
    answers = read(tmp_path, text)
    assert pairs(answers) == [
        (0, 1, "ann", 1), (0, 2, "ann", 0), (1, 2, "ann", 0), (1, 2, "bob", 0),
    ]  # fmt: skip
    assert tasks(answers) == [0, 0, 0, 1]


def test_a_column_group_is_meant_rather_than_a_label_and_pairs_rather_than_groups(tmp_path: Path) -> None:
    assert pairs(read(tmp_path, "item,worker,label,group\n0,ann,x,a\n1,ann,x,b\n")) == [(0, 1, "ann", 0)]
    assert pairs(read(tmp_path, "item,group,i,j,worker,label\n,,0,1,ann,1\n")) == [(0, 1, "ann", 1)]


def test_rows_of_groups_that_say_nothing(tmp_path: Path) -> None:
    text = "item,worker,group\n0,bob,a\n1,bob,a\n0,bob,a\n3,ann,a\n"
    answers = read(tmp_path, text)
    assert pairs(answers) == [(0, 1, "bob", 1)]
    assert answers.worker_names == ("bob",)
    assert answers.notes == (
        "answers.csv: all items of a person are compared in pairs; items: 2, answers about pairs: 1",
        "answers.csv: rows that repeat an item of their task, counted once: 1",
        "answers.csv: tasks of a single item, left out: 1",
    )
    assert refused(tmp_path, "item,worker,group\n0,bob,a\n1,ann,a\n").startswith(": no two items in one task; expected")


@pytest.mark.parametrize("column", ["group", "label"])
def test_an_item_in_two_groups_of_a_task(tmp_path: Path, column: str) -> None:
    text = f"item,worker,{column}\n0,bob,a\n0,ann,b\n\n0,bob,b\n"
    assert refused(tmp_path, text) == (
        f", line 5, column {column}: b; expected a as in line 2, for the same item in the same task"
    )


def test_a_task_with_too_many_items(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    rows = [f"{k},7,{k % 3}\n" for k in range(2001)]
    path.write_text("item,task,group\n" + "".join(rows[:-1]))
    answers = read_csv_answers(path, 2001)
    assert answers.num_pairs == 2000 * 1999 // 2
    assert np.array_equal(answers.label, answers.i % 3 == answers.j % 3)
    path.write_text("item,task,group\n" + "".join(rows))
    with pytest.raises(UserError, match=r"2,001 items in task 7 of worker everybody; expected 2,000 at most: split it"):
        read_csv_answers(path, 2001)
    path.write_text("item,worker,label\n" + "".join(rows))
    with pytest.raises(UserError, match=r"2,001 items in one task of worker 7; expected 2,000 at most: split it"):
        read_csv_answers(path, 2001)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_separators_line_ends_and_byte_order_mark(tmp_path: Path, separator: str, end: str, mark: str) -> None:
    rows = [["i", "j", '"worker"', "label"], ["0", "1", f'"a{separator}b"', "yes"], [], ["2", "1", "zoë", "no"]]
    text = mark + end.join(separator.join(row) for row in rows)
    assert pairs(read(tmp_path, text)) == [(0, 1, f"a{separator}b", 1), (2, 1, "zoë", 0)]


def test_a_separator_in_a_name_of_another_column(tmp_path: Path) -> None:
    assert pairs(read(tmp_path, "i,j,label,why; how; when; where; who\n0,1,1,\n")) == [(0, 1, "everybody", 1)]


def test_a_table_with_tabs_by_its_usual_name(tmp_path: Path) -> None:
    path = tmp_path / "answers.tsv"
    path.write_text("i\tj\tworker\tlabel\n0\t1\tann, bob\t1\n")
    assert pairs(read_csv_answers(path, 2)) == [(0, 1, "ann, bob", 1)]


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(UserError, match=r"pipe\.csv: cannot be read: not a file; expected a csv of answers"):
        read_csv_answers(tmp_path / "pipe.csv", 5)
    with pytest.raises(UserError, match=r"cannot be read: a folder; expected a csv of answers"):
        read_csv_answers(tmp_path, 5)
    for name in ("\0", "x" * 1000, ".", ""):
        with pytest.raises(UserError, match="cannot be read"):
            read_csv_answers(Path(name), 5)
    read(tmp_path, HEADER + "0,1,ann,1\n")
    os.mkfifo(tmp_path / "answers.truth.json")
    with pytest.raises(UserError, match=r"answers\.truth\.json: not a valid description of answers"):
        read_csv_answers(tmp_path / "answers.csv", 5)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"source": "x", "simulated": 1, "annotators": ' + "9" * 5000 + "}"])
def test_an_origin_that_is_nonsense(tmp_path: Path, text: str) -> None:
    (tmp_path / "answers.truth.json").write_text(text)
    with pytest.raises(UserError, match=r"answers\.truth\.json: not a valid description of answers"):
        read(tmp_path, HEADER + "0,1,ann,1\n")


ONES = ("1", "2", "3", "4", "5")


@pytest.mark.parametrize("gone", ["3", "5"])
def test_ids_that_count_from_1_are_no_row_numbers_where_one_item_is_gone(tmp_path: Path, gone: str) -> None:
    """Taken for row numbers, every answer would be about the next item."""
    ids = tuple("9" if name == gone else name for name in ONES)
    text = HEADER + "1,2,ann,1\n3,4,ann,0\n4,1,ann,0\n" + ("4,5,ann,0\n" if gone == "5" else "")
    if gone == "5":
        assert "1 of 4 rows are about items that are not there, and left out (5)" in read(tmp_path, text, ids).notes[0]
    else:
        assert ", line 3, column i: 3; expected the id of an item, such as 1 and 2" in refused(tmp_path, text, ids)
        assert "3 of the 4 different cells are ids; if all are row numbers" in refused(tmp_path, text, ids)
    kept = read_csv_answers(tmp_path / "answers.csv", 5, ids, skip_unknown=True)
    assert [(i, j) for i, j, *_ in pairs(kept)] == ([(0, 1), (3, 0)] if gone == "3" else [(0, 1), (2, 3), (3, 0)])


@pytest.mark.parametrize("text", ["0,2,ann,1\n3,4,ann,0\n", "1,2,ann,1\n3,4,ann,0\n"])
def test_row_numbers_beside_ids_that_count_otherwise(tmp_path: Path, text: str) -> None:
    ids = ONES if text.startswith("0") else ("4", "70", "80", "90", "100")
    assert [(i, j) for i, j, *_ in pairs(read(tmp_path, HEADER + text, ids))] == [
        (0, 2) if text.startswith("0") else (1, 2), (3, 4)
    ]


def test_a_name_with_a_comma_needs_quotes(tmp_path: Path) -> None:
    said = refused(tmp_path, "i,j,label,worker\n0,1,1,Smith, Ann\n0,2,1,Smith, Bob\n")
    assert said == ", line 2: 5 columns; expected 4 as in the header (a cell that contains the separator needs quotes)"
    assert read(tmp_path, 'i,j,label,worker\n0,1,1,"Smith, Ann",\n').worker_names == ("Smith, Ann",)


def test_accents_may_be_a_sign_of_their_own(tmp_path: Path) -> None:
    """As in the names of files out of an archive that a Mac has made."""
    ids = ("Zoe\u0308", "bee", "cat", "dog", "elk")
    assert pairs(read(tmp_path, HEADER + "Zo\u00eb,bee,ann,1\n", ids)) == [(0, 1, "ann", 1)]


def test_tasks_that_are_too_many_pairs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_file, "_MOST_PAIRS", 6)
    rows = "".join(f"{item},{worker},a\n" for worker in ("ann", "bob") for item in range(3))
    read(tmp_path, "item,worker,label\n" + rows)
    assert refused(tmp_path, "item,worker,label\n" + rows + "3,ann,b\n") == (
        ": 9 pairs of items in 2 tasks; expected 6 at most: split the tasks by a column task, or give pairs, "
        "i,j,worker,label"
    )
