"""Several files of answers: each in its own format, people of the same name are the same person."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.answer_files import rows, written

import semicrowd
from semicrowd.data import Dataset
from semicrowd.data.answers import answers_of_files
from semicrowd.errors import UserError
from semicrowd.estimators.inputs import checked_answers
from semicrowd.settings.data import FileSettings

DATA = Dataset("table", np.zeros((5, 1), np.float32), ids=("a", "b", "c", "d", "7"))


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """Pairs, a grouping and classes."""
    return [
        written(tmp_path, "i,j,worker,label,task\na,b,eve,same,1\nb,c,zoe,different,2\n", "pairs.csv"),
        written(tmp_path, "item;worker;group\na;eve;1\n7;eve;1\nd;eve;2\n", "groups.csv"),
        written(tmp_path, "item,worker,label\na,bob,x\nb,bob,x\n", "classes.csv"),
    ]


ALL = [("bob", 0, 1, 1), ("eve", 0, 1, 1), ("eve", 0, 3, 0), ("eve", 0, 4, 1), ("eve", 3, 4, 0), ("zoe", 1, 2, 0)]


def test_files_of_different_formats_are_put_together(three: list[Path]) -> None:
    answers = answers_of_files(DATA, FileSettings(path=three))
    assert rows(answers) == ALL
    assert sorted(answers.worker_names) == ["bob", "eve", "zoe"]
    assert answers.num_tasks == 4  # two of the pairs, and a grouping of two people each


def test_in_python_too(three: list[Path]) -> None:
    frame = semicrowd.read_answers([three[0], str(three[1]), pd.read_csv(three[2])])
    assert frame["source"].unique().tolist() == [str(three[0]), str(three[1]), "answers 3"]
    found = checked_answers(frame, 5, DATA.ids)
    assert rows(found) == ALL
    assert found is not None
    assert found.num_tasks == 4
    without_eve = checked_answers(frame[frame["worker"] != "eve"], 5, DATA.ids)
    assert rows(without_eve) == [ALL[0], ALL[-1]]
    assert "source" not in semicrowd.read_answers([three[0]])
    given = checked_answers([three[0], str(three[1]), three[2]], 5, DATA.ids)
    assert given is not None
    assert rows(given) == ALL, "paths alone are read"


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("folders", [("one", "two"), ("one", "one")])
def test_files_of_the_same_name_are_two_files(tmp_path: Path, kind: str, folders: tuple[str, str]) -> None:
    """Items a and b are in task 1 of the first file, c and d in that of the second."""
    paths = [tmp_path / folder / f"groups.{kind}" for folder in folders]
    for path, items in zip(paths, ("ab", "cd"), strict=True):
        path.parent.mkdir(exist_ok=True)
        frame = pd.DataFrame({"item": list(items), "worker": "eve", "group": ["1", "1"], "task": 1})
        if kind == "csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path)
    frame = semicrowd.read_answers(paths)
    names = [str(paths[0]), str(paths[1]) if paths[0] != paths[1] else f"{paths[0]} (2)"]
    assert frame["source"].unique().tolist() == names
    found = checked_answers(frame, 5, DATA.ids)
    assert found is not None
    assert found.num_tasks == 2
    if paths[0] != paths[1]:
        assert rows(found) == [("eve", 0, 1, 1), ("eve", 2, 3, 1)]
        assert rows(answers_of_files(DATA, FileSettings(path=paths))) == rows(found)


def test_items_are_found_in_each_file_by_itself(tmp_path: Path) -> None:
    by_row = written(tmp_path, "i,j,label\n0,4,1\n", "rows.csv")
    by_id = written(tmp_path, "i,j,label\na,7,0\n", "ids.csv")
    answers = answers_of_files(DATA, FileSettings(path=[by_row, by_id]))
    assert rows(answers) == [("everybody", 0, 4, 0), ("everybody", 0, 4, 1)]


def test_people_can_be_left_out_by_their_names(three: list[Path]) -> None:
    answers = answers_of_files(DATA, FileSettings(path=three, leave_out=("eve",)))
    assert rows(answers) == [ALL[0], ALL[-1]]
    assert answers.worker_names == ("zoe", "bob")
    assert answers.notes[-1] == "4 answers of eve are left out: annotations.leave_out"
    with pytest.raises(UserError, match=r'^annotations\.leave_out=\["zoë"\]: no answers of zoë; the nearest is zoe$'):
        answers_of_files(DATA, FileSettings(path=three, leave_out=("bob", "zoë")))
    with pytest.raises(UserError, match=r"^annotations\.leave_out=.*: these are all people; expected answers of o"):
        answers_of_files(DATA, FileSettings(path=three, leave_out=("bob", "eve", "zoe")))


def test_people_may_be_called_by_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, "i,j,worker,label\na,b,7,1\na,c,12,0\n", "numbers.csv")
    assert rows(answers_of_files(DATA, FileSettings(path=path, leave_out=(7,)))) == [("12", 0, 2, 0)]


def test_people_of_an_anonymous_run_are_left_out_by_the_names_in_its_files(three: list[Path], tmp_path: Path) -> None:
    everybody = answers_of_files(DATA, FileSettings(path=three, anonymise=True), root=tmp_path)
    first, *others = everybody.worker_names
    answers = answers_of_files(DATA, FileSettings(path=three, anonymise=True, leave_out=(first,)), root=tmp_path)
    assert answers.worker_names == tuple(others)
    with pytest.raises(UserError, match=r"leave_out=\[eve\]: no answers of eve"):
        answers_of_files(DATA, FileSettings(path=three, anonymise=True, leave_out=("eve",)), root=tmp_path)


def test_rows_are_read_as_fit_takes_them() -> None:
    row = ("a", "b", "Mia", "same")
    for given in ([row], [list(row)], np.array([row])):
        read = semicrowd.read_answers(given)
        assert read[["i", "j", "worker", "label"]].to_numpy().tolist() == [["a", "b", "Mia", 1]]
    with pytest.raises(UserError, match=r"answers: shape \(1, 2\); expected \[answers, 3 to 5\]: i, j\[, worker\], "):
        semicrowd.read_answers([("a", "b")])


def test_a_mistake_names_its_file(three: list[Path]) -> None:
    three[1].write_text("item,worker,group\ny,eve,1\nz,eve,2\n")
    with pytest.raises(UserError, match=r"none of the 2 ids of .*groups.csv is among the items"):
        answers_of_files(DATA, FileSettings(path=three))
    with pytest.raises(UserError, match=r"none of the 2 ids of .*groups.csv is among the items"):
        checked_answers(semicrowd.read_answers(three), 5, DATA.ids)
    three[0].write_text("i,j,label\na,b,perhaps\n")
    with pytest.raises(UserError, match=r"pairs.csv, line 2, column label: perhaps; expected"):
        semicrowd.read_answers(three)
    with pytest.raises(UserError, match=r"annotations.path=\[\]: expected the path of a file or a list, such as"):
        FileSettings(path=[])


def test_columns_of_ones_own_may_be_those_of_one_of_the_files(tmp_path: Path) -> None:
    pairs = written(tmp_path, "Bild A,Bild B,worker,Urteil\na,b,eve,gleich\n", "pairs.csv")
    classes = written(tmp_path, "item,worker,label\na,bob,x\nc,bob,y\n", "classes.csv")
    columns = {"i": "Bild A", "j": "Bild B", "label": "Urteil"}
    settings = FileSettings(path=[pairs, classes], columns=columns, same_words=["gleich"])
    assert rows(answers_of_files(DATA, settings)) == [("bob", 0, 2, 0), ("eve", 0, 1, 1)]
    with pytest.raises(UserError, match=r"pairs.csv and .*classes.csv: no column Rater \(annotations.columns"):
        answers_of_files(DATA, FileSettings(path=[pairs, classes], columns={**columns, "worker": "Rater"}))


def test_a_file_that_nobody_has_filled_in_is_left_out_beside_others(tmp_path: Path, three: list[Path]) -> None:
    empty = written(tmp_path, "i,j,worker,label\na,b,,\na,c,,\n", "questions.csv")
    answers = answers_of_files(DATA, FileSettings(path=[three[0], empty]))
    assert rows(answers) == [ALL[1], ALL[-1]]
    note = "questions.csv: none of its 2 rows has an answer yet; the file is left out"
    assert note in answers.notes
    with pytest.warns(UserWarning, match=note):
        assert len(semicrowd.read_answers([three[0], empty])) == 2
    with pytest.raises(UserError, match=r"questions.csv: no answers: column label is empty in all 2 rows"):
        answers_of_files(DATA, FileSettings(path=[empty]))
