"""The strict reader of answers: its three forms, what it refuses, and files that are read as they were written."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.made import read_csv_answers, rows, written

from semicrowd import UserError, read_answers
from semicrowd.crowd import answer_files, simulate
from semicrowd.crowd.answer_files import AnswerTable, joined

IDS = ["a", "b", "c", "101", "=d"]


@pytest.mark.parametrize(
    "labels", ["1,0,1,0", "true,FALSE,True,false", "yes,no,Yes,NO", "same,different,Same,different", "1.0,0.0,1,0"]
)
def test_pairs(tmp_path: Path, labels: str) -> None:
    pairs = ["a,b,Ann", "b,c,Bo", "c,101,Ann", "a,c,Bo"]
    rows_ = (f"{one},{label}" for one, label in zip(pairs, labels.split(","), strict=True))
    text = "\n".join(["i,j,worker,label", *rows_])
    found = read_csv_answers(written(tmp_path, text + "\n\n"), 5, IDS)
    assert found.worker_names == ("Ann", "Bo")
    assert rows(found) == [("Ann", 0, 1, 1), ("Ann", 2, 3, 1), ("Bo", 0, 2, 0), ("Bo", 1, 2, 0)]


def test_rows_without_an_answer_and_tasks(tmp_path: Path) -> None:
    text = "task,j,i,worker,label,seconds\nx,1,0,7,1,3\nx,2,0,7,,3\n,,,,,\ny,2,1,10,0,3\n"
    with pytest.raises(UserError, match=r"line 4.*column task"):
        read_csv_answers(written(tmp_path, text.replace(",,,,,", ",2,0,7,1,")), 3)
    found = read_csv_answers(written(tmp_path, text), 3)
    assert found.worker_names == ("7", "10")  # by value
    assert found.task.tolist() == [0, 1]
    assert len(found.notes) == 1


@pytest.mark.parametrize(("header", "classes"), [("item,worker,group,task", False), ("item,worker,label", True)])
def test_groupings_and_classes_are_all_pairs_of_a_task(tmp_path: Path, header: str, classes: bool) -> None:
    random = np.random.default_rng(0)
    cells: list[tuple[Any, ...]] = [
        (item, worker, random.integers(2), task) for task in range(2) for worker in ("u", "v") for item in range(4)
    ]
    if classes:
        cells = [one[:3] for one in cells if one[3] == 0]
    text = header + "\n" + "\n".join(",".join(map(str, one)) for one in cells)
    found = read_csv_answers(written(tmp_path, text), 4)
    expected = sorted(
        (one[1], one[0], two[0], int(one[2] == two[2])) for one, two in combinations(cells, 2)
        if one[1] == two[1] and one[3:] == two[3:]
    )
    assert rows(found) == expected
    assert found.num_tasks == len({(one[1], *one[3:]) for one in cells})


def test_a_number_is_one_name_however_it_is_written(tmp_path: Path) -> None:
    one = written(tmp_path, "i,j,worker,label\n101,102,101,1\n", "one.csv")
    two = written(tmp_path, "i,j,worker,label\n101.0,103.0,101.0,0\n", "two.csv")
    found = joined([AnswerTable.of(path).about(["101", "102", "103"]) for path in (one, two)])
    assert rows(found) == [("101", 0, 1, 1), ("101", 0, 2, 0)]
    frame = pd.DataFrame({"i": [101.0], "j": [103.0], "worker": [101.0], "label": [False]})
    assert rows(AnswerTable.of(frame).about(["101.0", "102.0", "103.0"])) == [("101", 0, 2, 0)]


WRONG = [
    ("i,j,worker,label\na,b,Ann,1\na,zzz,Ann,1\n", ["line 3", "column j", "zzz"]),
    ("i,j,worker,label\na,b,Ann,1\n\na,b,Ann,maybe\n", ["line 4", "column label", "maybe"]),
    ("i,j,worker,label\na,b,,1\n", ["line 2", "column worker"]),
    ("item,worker,group,task\na,Ann,x,1\nb,Ann,,1\n", ["line 3", "column group"]),
    ("item,worker,group\na,Ann,x\nb,Ann,x\na,Ann,y\n", ["line 4", "column group", "'x'", "line 2"]),
    ("left,right,who,verdict\na,b,Ann,1\n", ["{i: left, j: right, worker: who, label: verdict}", "howto/answers.md"]),
    ("i;j;worker;label\na;b;Ann;1\n", ["by ';'"]), ("i\tj\tlabel\na\tb\t1\n", ["tabs"]),
    ("i,j,worker\na,b,Ann\n", ["no column label"]), ("i,worker,label\na,Ann,1\n", ["no column j"]),
    ("i,j,is it?\na,b,1\n", ["{label: 'is it?'}"]), ("a,b,Ann,same\nb,c,Ann,same\n", ["first line"]),
    ("", ["answers.csv"]), ('i,j,worker,label\n"a,b,Ann,1\n', ["answers.csv"]), ("item,group\na,x\n", ["answers.csv"]),
]


@pytest.mark.parametrize(("text", "named"), WRONG)
def test_what_is_refused_names_file_row_and_column_in_one_line(tmp_path: Path, text: str, named: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        read_csv_answers(written(tmp_path, text), 5, IDS)
    assert all(part in str(caught.value) for part in ("answers.csv", *named))
    assert "\n" not in str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "bytes.csv").write_bytes(b"i,j,label\n\xff\xfe\x00,1,1\n")
    (tmp_path / "broken.parquet").write_bytes(b"no parquet")
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04\xc7\x00")
    for name, named in (("bytes.csv", "utf-8"), ("broken.parquet", "parquet"), ("book.xlsx", "csv, tsv or parquet"),
                        ("not_there.csv", "no such file"), (".", "a folder")):  # fmt: skip
        with pytest.raises(UserError, match=named):
            AnswerTable.of(tmp_path / name)


@pytest.mark.parametrize(
    ("pairs", "named"),
    [
        (np.zeros((3, 2), int), "shape"),
        ([[0, 1, 1], [0, 1]], "lengths"),
        ([[0, 9, 1]], "column j"),
        ([[0, 1, 2]], "column label"),
        (pd.DataFrame({"left": [0], "j": [1], "label": [1]}), "columns"),
    ],
)
def test_arrays_and_frames_that_are_refused(pairs: Any, named: str) -> None:
    with pytest.raises(UserError, match=named):
        joined([one.about(3) for one in answer_files.tables_of(pairs)])


def test_rows_with_errors_are_dropped_and_counted_where_that_is_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, "i,j,worker,label\na,b,Ann,1\na,zzz,Ann,1\nb,b,Bo,1\nb,c,Bo,perhaps\nc,a,Bo,\nc,b,Bo,0\n")
    with pytest.warns(UserWarning, match="left out") as caught:
        frame = read_answers(path, items=["a", "b", "c"], errors="drop")
    assert frame.to_numpy().tolist() == [["a", "b", "Ann", 1], ["c", "b", "Bo", 0]]
    assert [any(number in str(one.message) for one in caught) for number in ("1 of 6", "3 of 6")] == [True, True]
    grouped = written(tmp_path, "item,worker,group\na,Ann,x\nb,Ann,x\na,Ann,y\nzzz,Ann,y\n")
    with pytest.warns(UserWarning, match="left out"):
        frame = read_answers(grouped, items=["a", "b", "c"], errors="drop")
    assert frame[["i", "j", "label"]].to_numpy().tolist() == [["a", "b", 1]]


def test_frames_of_other_libraries_and_files_give_the_same(tmp_path: Path) -> None:
    table = {"label": ["same", "no"], "right": ["b", "c"], "left": ["a", "a"]}
    mapping = {"i": "left", "j": "right"}
    frame = pd.DataFrame(table)
    expected = read_answers(frame, columns=mapping)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    for other in (pl.DataFrame(table), *(tmp_path / f"a.{end}" for end in ("parquet", "csv", "tsv"))):
        pd.testing.assert_frame_equal(read_answers(other, columns=mapping), expected)
    with pytest.raises(UserError, match="verdict"):
        read_answers(frame, columns={"label": "verdict"})
    both = read_answers([tmp_path / "a.csv", frame], columns=mapping)
    assert both.to_numpy().tolist() == 2 * expected.to_numpy().tolist()


def test_written_answers_are_read_again_with_names_that_spreadsheets_would_run(tmp_path: Path) -> None:
    labels = np.arange(30) % 3
    for answers in (
        simulate.two_coin(labels, np.random.default_rng(0), num_annotators=3, pairs_per_annotator=40, num_annotated=20),
        simulate.tasks(labels, np.random.default_rng(0), num_annotators=3, num_tasks=6, task_size=5, num_annotated=20),
    ):
        path = tmp_path / "made" / "answers.csv"
        answer_files.write(answers, path)
        again = read_csv_answers(path, 30)
        for name in ("i", "j", "worker", "label", "task"):
            np.testing.assert_array_equal(getattr(again, name), getattr(answers, name))
    names = read_answers(written(tmp_path, "i,j,worker,label\na,'=d,'@x,1\n"))
    assert names.to_numpy().tolist() == [["a", "=d", "@x", 1]]


def test_people_of_one_name_in_several_files_are_one_person_and_repeated_rows_are_counted(tmp_path: Path) -> None:
    pairs = written(tmp_path, "i,j,worker,label\n0,1,Ann,1\n", "pairs.csv")
    groups = written(tmp_path, "item,worker,group\n0,Bo,x\n2,Bo,x\n1,Ann,y\n2,Ann,z\n", "groups.csv")
    found, twice = (joined([one.about(3) for one in answer_files.tables_of(n * [pairs, groups])]) for n in (1, 2))
    assert rows(found) == [("Ann", 0, 1, 1), ("Ann", 1, 2, 0), ("Bo", 0, 2, 1)]
    assert (found.num_tasks, found.notes, ["3 of 6" in note for note in twice.notes]) == (3, (), [True])
