import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.answer_files import AnswerTable
from semicrowd.crowd.answer_files import write as write_answers
from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.files import (
    RunDirectory,
    existing_ancestor,
    read_status,
    remove_empty,
    settle,
    write_atomic,
    write_csv,
    write_json,
    write_text,
)
from semicrowd.fitting.result import Assignment
from semicrowd.page.items import Items
from semicrowd.page.questions import write_questions
from semicrowd.run.files.results import assignment_csv


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def half(temporary: Path) -> None:
        temporary.write_text("ne")
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        write_atomic(target, half)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_full_disk_is_one_clear_line(tmp_path: Path) -> None:
    def full(_: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(UserError, match=r"a\.txt: cannot be written: No space left on device"):
        write_atomic(tmp_path / "a.txt", full)


def test_a_folder_is_no_target_and_a_pipe_is_written_into(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be written: it is a folder; expected a file"):
        write_text(tmp_path, "new")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_text)
        write_text(pipe, "Łukasz")
        assert read.result() == "Łukasz"
    assert pipe.is_fifo()


def test_numbers_that_are_none_have_no_place_in_json_and_are_empty_in_csv(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", {"x": float("nan")})
    write_csv(tmp_path / "a.csv", ["x", "y"], [[1, float("nan")], [None, 0.1]])
    assert (tmp_path / "a.csv").read_text() == "x,y\n1,\n,0.1\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv"]


def test_names_that_spreadsheets_would_run_are_protected_and_read_again(tmp_path: Path) -> None:
    names = ["=1+2", "-x", "+x", "@x", "x=1", "-5", "+1e3"]
    people = [0, 1, 1]
    answers = PairAnnotations.from_arrays([0, 1, 2], [1, 2, 3], people, people, num_items=7, worker_names=names[:2])
    data = Dataset("table", np.zeros((7, 1), np.float32), ids=tuple(names))
    write_questions(tmp_path / "questions.csv", [(0, 1), (2, 3), (4, 5), (5, 6)], Items(data))
    pairs = [line.split(",")[:2] for line in (tmp_path / "questions.csv").read_text().splitlines()[1:]]
    assert pairs == [["'=1+2", "'-x"], ["'+x", "'@x"], ["x=1", "-5"], ["-5", "+1e3"]]
    filled = pd.read_csv(tmp_path / "questions.csv", dtype=str).assign(worker="'=1+2", label="same")
    filled.to_csv(tmp_path / "filled.csv", index=False)
    found = AnswerTable.of(tmp_path / "filled.csv").about(names)
    assert found.worker_names == ("=1+2",)
    assert (found.i.tolist(), found.j.tolist()) == ([0, 2, 4, 5], [1, 3, 5, 6])
    write_answers(answers, tmp_path / "annotations.csv")
    assert AnswerTable.of(tmp_path / "annotations.csv").about(7).worker_names == ("-x", "=1+2")
    clusters = Assignment.hard(np.arange(7) % 2)
    text = assignment_csv(clusters, np.zeros(7, bool), names)
    assert [line.split(",")[0] for line in text.splitlines()[1:]] == ["'=1+2", "'-x", "'+x", "'@x", "x=1", "-5", "+1e3"]


def test_files_that_are_not_of_a_run_are_never_removed(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("mine: true\n")
    with pytest.raises(UserError, match=r"has a config\.yaml that is not from a run"):
        RunDirectory(tmp_path)
    assert (tmp_path / "config.yaml").read_text() == "mine: true\n"


def test_an_earlier_result_is_set_aside_and_nothing_else_and_comes_back(tmp_path: Path) -> None:
    first = RunDirectory(tmp_path)
    first.set_status("finished")
    first.checkpoint.parent.mkdir()
    for path in (first.checkpoint, tmp_path / "metrics.json", tmp_path / "notes.txt"):
        path.write_text("x")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    second = RunDirectory(tmp_path)
    second.set_status("running")
    second.set_aside()
    assert {p.name for p in tmp_path.iterdir() if p.name[0] != "."} == {"notes.txt", "status.json"}
    (tmp_path / "curves.csv").write_text("of the second")
    assert second.restore()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    second.set_aside()
    second.clear()
    assert {p.name for p in tmp_path.iterdir()} == {"notes.txt", "status.json"}
    assert not second.restore()


def test_status_survives_anything_in_its_file(tmp_path: Path) -> None:
    assert read_status(tmp_path) == {}
    for content in ("", "{", "[1]", "\x00"):
        (tmp_path / "status.json").write_text(content)
        assert read_status(tmp_path) == {}
    RunDirectory(tmp_path).set_status("failed", "why")
    assert json.loads((tmp_path / "status.json").read_text())["error"] == "why"


def test_empty_folders_go_up_to_the_one_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c"
    assert existing_ancestor(path) == tmp_path
    path.mkdir(parents=True)
    (tmp_path / "a" / "kept").touch()
    remove_empty(path, keep=tmp_path)
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["kept"]
    remove_empty(tmp_path, keep=existing_ancestor(tmp_path))
    assert tmp_path.exists()


def test_a_run_whose_process_has_gone_is_interrupted_and_a_finished_one_is_not(tmp_path: Path) -> None:
    for before, after in (("running", "interrupted"), ("finished", "finished")):
        RunDirectory(tmp_path / "run").set_status(before)
        settle(tmp_path / "run")
        assert read_status(tmp_path / "run")["status"] == after
    settle(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_a_linked_folder_of_checkpoints_is_taken_out_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "other.txt").write_text("of somebody else")
    directory = RunDirectory(tmp_path / "run")
    (tmp_path / "run" / "checkpoints").symlink_to(tmp_path / "scratch")
    directory.set_aside()
    directory.clear()
    assert not (tmp_path / "run" / "checkpoints").is_symlink()
    assert (tmp_path / "scratch" / "other.txt").exists()


def test_what_a_killed_process_was_writing_goes_when_the_run_goes_on(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    directory.set_status("running")
    directory.checkpoint.parent.mkdir()
    cut_off = [tmp_path / ".curves.csv.123.tmp", tmp_path / "checkpoints" / ".last.ckpt.123.tmp"]
    own = tmp_path / "notes.tmp"
    for path in (*cut_off, own):
        path.touch()
    RunDirectory(tmp_path)
    assert [path.exists() for path in (*cut_off, own)] == [False, False, True]
