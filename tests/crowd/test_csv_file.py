"""Answers as files: there and back, and one clear line for what cannot be read."""

import json
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.answer_files import read_csv_answers, written

from semicrowd.crowd import csv_file, simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError

from .conftest import any_answers


def test_names_spaces_order_of_columns_and_further_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "label, worker,i,j,when\n1,zoë,0,1,today\n\n 0 ,ann, 2,1,\n1,zoë,2,0,now\n")
    answers = read_csv_answers(path, num_items=3)
    assert answers.worker_names == ("ann", "zoë")
    assert answers.worker.tolist() == [1, 0, 1]
    assert answers.i.tolist() == [0, 2, 2]
    assert answers.j.tolist() == [1, 1, 0]
    assert answers.label.tolist() == [1, 0, 1]
    assert answers.task is None
    assert (answers.source, answers.simulated) == ("answers.csv", False)


def test_numbers_as_names_are_ordered_as_numbers(tmp_path: Path) -> None:
    rows = "".join(f"0,1,{worker},1,{task}\n" for worker, task in [(10, "b"), (9, "a"), (2, "b")])
    answers = read_csv_answers(written(tmp_path, "i,j,worker,label,task\n" + rows), num_items=2)
    assert answers.worker_names == ("2", "9", "10")
    assert answers.worker.tolist() == [2, 1, 0]
    assert answers.task is not None
    assert answers.task.tolist() == [1, 0, 1]


@pytest.mark.parametrize("kind", ["two_coin", "tasks"])
def test_there_and_back(tmp_path: Path, kind: str) -> None:
    labels = np.random.default_rng(0).integers(4, size=200)
    few = {"num_annotators": 3, "num_tasks": 5} if kind == "tasks" else {}
    before = getattr(simulate, kind)(labels, np.random.default_rng(1), **few)
    path = tmp_path / "new" / "answers.csv"
    csv_file.write_with_truth(before, path)
    after = read_csv_answers(path, num_items=200)
    for name in ("i", "j", "worker", "label", "task", "true_sensitivity", "true_specificity"):
        assert np.array_equal(getattr(before, name), getattr(after, name)), name
    assert (after.source, after.simulated) == (f"{kind} (simulated)", True)
    assert after.worker_names == before.worker_names
    assert sorted(p.name for p in path.parent.iterdir()) == ["answers.csv", "answers.truth.json"]


#: A name without control characters, with no space around it.
NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8).filter(
    lambda name: name == name.strip()
)


@given(any_answers(), st.lists(NAMES, min_size=4, max_size=4, unique=True))
def test_any_answers_there_and_back(before: PairAnnotations, names: list[str]) -> None:
    before = replace(before, worker_names=tuple(names[: before.num_annotators]))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        csv_file.write(before, path)
        after = read_csv_answers(path, before.num_items)
    for name in ("i", "j", "label"):
        assert getattr(after, name).tolist() == getattr(before, name).tolist()
    assert [after.worker_names[m] for m in after.worker] == [before.worker_names[m] for m in before.worker]
    if before.task is None:
        assert after.task is None
    else:
        assert after.task is not None
        assert after.task.tolist() == np.unique(before.task, return_inverse=True)[1].tolist()


def test_without_truth(tmp_path: Path) -> None:
    before = PairAnnotations.from_arrays([0, 1], [1, 2], [0, 0], [1, 0], num_items=3, source="people")
    csv_file.write_with_truth(before, tmp_path / "answers.csv")
    after = read_csv_answers(tmp_path / "answers.csv", num_items=3)
    assert (after.source, after.simulated) == ("people", False)
    assert after.true_sensitivity is None
    csv_file.write(before, tmp_path / "plain.csv")
    assert not (tmp_path / "plain.truth.json").exists()


def test_truth_that_is_partly_unknown(tmp_path: Path) -> None:
    before = PairAnnotations.from_arrays(
        [0, 1], [1, 2], [0, 1], [1, 0], num_items=3, true_sensitivity=[0.5, np.nan], true_specificity=[np.nan, 1.0]
    )
    csv_file.write_with_truth(before, tmp_path / "answers.csv")
    json.loads((tmp_path / "answers.truth.json").read_text(), parse_constant=pytest.fail)
    after = read_csv_answers(tmp_path / "answers.csv", num_items=3)
    assert after.true_sensitivity is not None
    assert after.true_specificity is not None
    assert np.array_equal(after.true_sensitivity, [0.5, np.nan], equal_nan=True)
    assert np.array_equal(after.true_specificity, [np.nan, 1.0], equal_nan=True)


def test_joined_answers_keep_what_is_known_of_each_part() -> None:
    simulated = PairAnnotations.from_arrays(
        [0, 1], [1, 2], [0, 1], [1, 0], num_items=3, worker_names=["a", "b"], true_sensitivity=[0.7, 0.8],
        true_specificity=[0.9, 0.6], simulated=True,
    )  # fmt: skip
    links = PairAnnotations.from_arrays([0], [2], [0], [1], num_items=3, worker_names=["links"])
    both = csv_file.joined([links, simulated])
    assert (both.worker_names, both.simulated) == (("links", "a", "b"), False)
    assert csv_file.joined([simulated, simulated]).simulated
    assert np.array_equal(both.true_sensitivity, [np.nan, 0.7, 0.8], equal_nan=True)  # type: ignore[arg-type]
    assert np.array_equal(both.true_specificity, [np.nan, 0.9, 0.6], equal_nan=True)  # type: ignore[arg-type]
    assert csv_file.joined([links, links]).true_sensitivity is None
    repeated = PairAnnotations.from_arrays([0, 0], [2, 2], [0, 0], [1, 1], num_items=3, worker_names=["a"])
    (note,) = csv_file.joined([repeated, links]).notes
    assert "1 duplicate answer (" in note


@pytest.mark.parametrize("text", ["{", "[]", '{"source": "x", "simulated": true, "annotators": {"0": 3}}'])
def test_truth_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, "i,j,worker,label\n0,1,0,1\n")
    (tmp_path / "answers.truth.json").write_text(text)
    with pytest.raises(UserError, match=r"answers\.truth\.json: not a valid description of answers"):
        read_csv_answers(path, num_items=2)


HEADER = "i,j,worker,label\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": empty; expected a header i,j,worker,label[,task]"),
        (HEADER, ": no answers; expected at least one row"),
        ("i,j,worker\n0,1,1\n", ", line 1: no column label; expected i,j,worker,label[,task], found i,j,worker"),
        ("i;label\n0;1\n", ", line 1: no column j; expected i,j,worker,label[,task], found i,label"),
        ("item\tworker\n0\ta\n", ", line 1: no column group or label; expected item,worker,group[,task], or item,"),
        ("a|b\n", ", line 1: no column i and j, or item; expected i,j,worker,label[,task], or item,worker,group"),
        ("i,j,worker,label,i\n0,1,a,1,0\n", ", line 1: two columns are called i; expected one"),
        (HEADER + "0,1,a,1\n0,9,a,1\n", ", line 3, column j: 9; expected an item id from 0 to 4"),
        (HEADER + "\n0,1,a,1\n\n-1,2,a,1\n", ", line 5, column i: -1; expected an item id from 0 to 4"),
        (HEADER + "3,3,a,1\n", ", line 2, column j: 3; expected another item than i"),
        (HEADER + "0,1,a,2\n", ", line 2, column label: 2; expected 1 (same) or 0 (different)"),
        (HEADER + "0,1,a,maybe\n", ", line 2, column label: maybe; expected 1 (same) or 0 (different), or true/false,"),
        (HEADER + "0,1.0,a,1\n", ", line 2, column j: 1.0; expected an item id"),
        (HEADER + "0,,a,1\n", ", line 2, column j: empty; expected an item id"),
        (HEADER + "0,99999999999999999999,a,1\n", ", line 2, column j: 99999999999999999999; expected an item id"),
        (HEADER + "0,1,a\0,1\n", ", line 2: a NUL byte; expected a text file"),
        (HEADER + "0," + "1" * 140_000 + ",a,1\n", ", line 2: not valid csv: field larger than field limit"),
        (HEADER + "0,1,a,1\n0,2,,1\n", ", line 3, column worker: empty; expected a name or number"),
        ("i,j,worker,label,task\n0,1,a,1,\n", ", line 2, column task: empty"),
        (HEADER + "0,1,a\n", ", line 2: 3 columns; expected at least 4"),
        (HEADER + '0,1,"a"b,1\n', ", line 2: not valid csv"),
    ],
)
def test_bad_file(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError, match="^" + re.escape(f"{path}{message}")) as caught:
        read_csv_answers(path, num_items=5)
    assert "\n" not in str(caught.value)


def test_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"absent\.csv: cannot be read: No such file"):
        read_csv_answers(tmp_path / "absent.csv", num_items=5)
    for no_text in (b"i,j,worker,label\n0,1,\xff\x00,1\n", "i,j,worker,label\n0,1,a,1\n".encode("utf-16"), b"\x81\xff"):
        (tmp_path / "answers.csv").write_bytes(no_text)
        with pytest.raises(UserError, match="not a text file"):
            read_csv_answers(tmp_path / "answers.csv", num_items=5)


def test_answers_may_be_saved_as_excel_in_western_europe_does(tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text("i;j;worker;label\n0;1;Jürgen;same\n", encoding="cp1252")
    assert read_csv_answers(tmp_path / "answers.csv", num_items=5).worker_names == ("Jürgen",)


def test_file_that_cannot_be_written(tmp_path: Path) -> None:
    answers = PairAnnotations.from_arrays([0], [1], [0], [1], num_items=2)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(UserError, match="cannot be written"):
        csv_file.write(answers, tmp_path / "file" / "answers.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
