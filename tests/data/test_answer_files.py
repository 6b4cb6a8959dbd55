"""Answers as people have them: other names of columns, lists of links, names of pictures; nobody's name kept."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.answer_files import rows, written

import semicrowd
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.data.answer_files import anonymised
from semicrowd.data.answers import answers_of_files
from semicrowd.errors import UserError
from semicrowd.estimators.inputs import checked_answers
from semicrowd.settings.data import FileSettings

DATA = Dataset("table", np.zeros((4, 1), np.float32), ids=("a", "b", "c", "d"))


@pytest.mark.parametrize(
    "text",
    [
        "item_1,item_2,annotator,answer\na,b,eve,same\nb,c,eve,different\n",
        "Left;Right;Rater;Same\na;b;eve;yes\nb;c;eve;no\n", "I,J,WORKER,LABEL\n0,1,eve,1.0\n1,2,eve,FALSE\n",
        "i,j,worker,label\na,b,eve,1\nb,c,eve,0\n,,,\n,,,\n",
        "image1,image2,person,answer\na,b,eve,yes\nb,c,eve,no\n",
    ],
)  # fmt: skip
def test_columns_may_have_other_names(tmp_path: Path, text: str) -> None:
    answers = answers_of_files(DATA, FileSettings(path=written(tmp_path, text)))
    assert rows(answers) == [("eve", 0, 1, 1), ("eve", 1, 2, 0)]


#: A file whose column ``label`` is no answer.
OWN_WORDS = "Bild A;Bild B;label;wer;Urteil\na;b;x;eve;Passt\nb;c;y;eve;-1\n"


def test_columns_and_words_of_ones_own_can_be_named(tmp_path: Path) -> None:
    columns = {"i": "Bild A", "j": "Bild B", "worker": "wer", "label": "Urteil"}
    path = written(tmp_path, OWN_WORDS)
    settings = FileSettings(path=path, columns=columns, same_words=["passt"], different_words=[-1])
    assert rows(answers_of_files(DATA, settings)) == [("eve", 0, 1, 1), ("eve", 1, 2, 0)]
    with pytest.raises(UserError, match=r"line 2, column Urteil: Passt; .*annotations\.same_words"):
        answers_of_files(DATA, FileSettings(path=path, columns=columns))
    missing = r"line 1: no column Wer \(annotations\.columns, in Python columns\); found Bild A,Bild B,label"
    with pytest.raises(UserError, match=missing):
        answers_of_files(DATA, FileSettings(path=path, columns={**columns, "worker": "Wer"}))
    frame = pd.read_csv(path, sep=";")
    frame.to_parquet(tmp_path / "answers.parquet")
    settings = FileSettings(**{**vars(settings), "path": tmp_path / "answers.parquet"})
    assert rows(answers_of_files(DATA, settings)) == [("eve", 0, 1, 1), ("eve", 1, 2, 0)]


def test_answers_in_words_of_ones_own_fit_in_python(tmp_path: Path) -> None:
    columns = {"i": "Bild A", "j": "Bild B", "worker": "wer", "label": "Urteil"}
    words: dict[str, Any] = {"same_words": ["passt"], "different_words": [-1]}
    path = written(tmp_path, OWN_WORDS)
    expected = pd.DataFrame({"i": ["a", "b"], "j": ["b", "c"], "worker": ["eve"] * 2, "label": [1, 0]})
    for given in (path, str(path), pd.read_csv(path, sep=";")):
        frame = semicrowd.read_answers(given, columns=columns, **words)
        pd.testing.assert_frame_equal(frame[list(expected)], expected)
        assert rows(checked_answers(frame, 4, DATA.ids)) == [("eve", 0, 1, 1), ("eve", 1, 2, 0)]
    piles = pd.DataFrame({"Stapel": ["x", "x"], "Bild": [0, 2]})
    groups = semicrowd.read_answers(piles, columns={"group": "Stapel", "item": "Bild"})
    assert rows(checked_answers(groups, 4)) == [("everybody", 0, 2, 1)]
    with pytest.raises(UserError, match=r"answers, row 0, column Urteil: Passt; .*in Python read_answers"):
        semicrowd.read_answers(pd.read_csv(path, sep=";"), columns=columns)
    with pytest.raises(UserError, match=r"^columns=\{k: x\}: expected a name for some of i, j"):
        semicrowd.read_answers(path, columns={"k": "x"})
    for table, given, message in (
        ({"a": [0]}, {"i": "b"}, r"^answers: no column b \(annotations.columns, in Python columns\); found a$"),
        ({"a": [0]}, {}, "^answers: no column i and j, or item; expected "),
    ):
        with pytest.raises(UserError, match=message):
            semicrowd.read_answers(pd.DataFrame(table), columns=given)


def test_links_in_a_table_file_are_what_the_file_is_for(tmp_path: Path) -> None:
    """No column of answers is needed, as in a csv file; one that says otherwise would be turned into its opposite."""
    for name, columns in (("bare", {}), ("labelled", {"label": [1, 1]}), ("named", {"class": ["x", "y"]})):
        pd.DataFrame({"i": ["a", "b"], "j": ["b", "c"], **columns}).to_parquet(tmp_path / f"{name}.parquet")
        answers = answers_of_files(DATA, FileSettings(must_link=tmp_path / f"{name}.parquet"))
        assert rows(answers) == [("known", 0, 1, 1), ("known", 1, 2, 1)]
    pd.DataFrame({"i": ["a", "b"], "j": ["b", "c"], "label": [1, 0]}).to_csv(tmp_path / "gold.csv", index=False)
    with pytest.raises(UserError, match=r"gold\.csv: column label has other answers than these links"):
        answers_of_files(DATA, FileSettings(must_link=tmp_path / "gold.csv"))


def test_words_of_ones_own_replace_the_usual_ones(tmp_path: Path) -> None:
    path = written(tmp_path, "i,j,label\n0,1,0.0\n1,2,1\n2,3,yes\n")
    reversed_answers = answers_of_files(DATA, FileSettings(path=path, same_words=[0], different_words=["1", "Yes"]))
    assert reversed_answers.label.tolist() == [1, 0, 0]
    with pytest.raises(UserError, match=r"annotations\.same_words and annotations\.different_words: ja is in both"):
        answers_of_files(DATA, FileSettings(path=path, same_words=["Ja"], different_words=["ja"]))


@pytest.mark.parametrize("columns", [{"k": "x"}, {"i": ""}, ["i"], {"i": 3}])
def test_names_of_columns_are_texts_by_the_names_that_there_are(columns: Any) -> None:
    with pytest.raises(UserError, match=r"annotations.columns=.*: expected a name for some of i, j, item, label"):
        FileSettings(path="answers.csv", columns=columns)


def test_a_header_that_is_not_understood_is_said_as_the_file_has_it(tmp_path: Path) -> None:
    hint = r"columns of other names: 'annotations.columns=\{i: …\}', or in Python read_answers\(…, columns=\{…\}\)$"
    with pytest.raises(UserError, match=rf"found one,other,who,answer \(one, other, who not understood\); {hint}"):
        answers_of_files(DATA, FileSettings(path=written(tmp_path, "one,other,who,answer\na,b,eve,1\n")))


def test_tables_that_are_no_text_have_answers_too(tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    pd.DataFrame({"item": ["a", "b", "c"], "worker": "eve", "group": [1.0, 1, 2]}).to_parquet(path)
    expected = [("eve", 0, 1, 1), ("eve", 0, 2, 0), ("eve", 1, 2, 0)]
    assert rows(answers_of_files(DATA, FileSettings(path=path))) == expected


def test_lists_of_links_are_known_beside_answers_of_people(tmp_path: Path) -> None:
    must, cannot = written(tmp_path, "x,y\na,b\n", "must.csv"), written(tmp_path, "i,j,note\nc,d,?\n", "cannot.csv")
    both = answers_of_files(DATA, FileSettings(must_link=must, cannot_link=cannot))
    assert rows(both) == [("known", 0, 1, 1), ("known", 2, 3, 0)]
    path = written(tmp_path, "item,worker,group,task\na,eve,1,t\nb,eve,1,t\n")
    all_three = answers_of_files(DATA, FileSettings(path=path, must_link=must, cannot_link=cannot))
    assert rows(all_three) == [("eve", 0, 1, 1), ("known", 0, 1, 1), ("known", 2, 3, 0)]
    assert all_three.task is not None
    assert len(set(all_three.task.tolist())) == 3
    with pytest.raises(UserError, match="expected i,j"):
        answers_of_files(DATA, FileSettings(must_link=written(tmp_path, "0,1\n2,3\n", "bare.csv")))


@pytest.mark.parametrize("name", ["cats/one.png", "one.png", "one"])
def test_pictures_are_called_by_their_files(tmp_path: Path, name: str) -> None:
    data = Dataset("images", np.zeros((2, 1), np.float32), files=("cats/one.png", "dogs/two.png"))
    other = name.replace("cats", "dogs").replace("one", "two")
    answers = answers_of_files(data, FileSettings(path=written(tmp_path, f"i,j,label\n{other},{name},0\n")))
    assert (answers.i.tolist(), answers.j.tolist()) == ([1], [0])


def test_pictures_in_a_folder_are_known_by_their_paths_where_the_first_lies_beside_it(tmp_path: Path) -> None:
    pictures = Dataset("images", np.zeros((3, 4), np.float32), files=("b.png", "sub folder/a.png", "sub folder/c.png"))
    path = written(tmp_path, "i,j,worker,label\nb.png,sub folder/a.png,ann,1\nsub folder/c.png,b.png,ann,0\n")
    answers = answers_of_files(pictures, FileSettings(path=path))
    assert [(i, j) for _, i, j, _ in rows(answers)] == [(0, 1), (2, 0)]


def test_a_file_about_other_items_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = written(tmp_path, "i,j,label\na,b,1\na,z,1\ny,x,0\nv,w,0\n")
    said = r"only 2 of its 7 items are there, not v, w, x, y, z; .*skip_unknown=true leaves these out"
    with pytest.raises(UserError, match=said) as caught:
        answers_of_files(DATA, FileSettings(path=path))
    assert "\n" not in str(caught.value)
    assert rows(answers_of_files(DATA, FileSettings(path=path, skip_unknown=True))) == [("everybody", 0, 1, 1)]


def test_a_row_of_commas_between_answers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="line 3: every cell is empty"):
        answers_of_files(DATA, FileSettings(path=written(tmp_path, "i,j,label\na,b,1\n,,\nb,c,0\n")))


def test_names_become_the_same_hashes_everywhere_and_the_salt_is_its_owners(tmp_path: Path) -> None:
    answers = PairAnnotations.from_arrays(
        [0, 1, 2, 2], [1, 2, 3, 3], [0, 1, 2, 2], [1, 0, 1, 1], num_items=4, worker_names=["Zoe", "Anna", "Mia"],
        true_sensitivity=[0.1, 0.2, 0.3], true_specificity=[0.1, 0.2, 0.3],
    )  # fmt: skip
    hidden = anonymised(answers, tmp_path)
    assert list(hidden.worker_names) == sorted(hidden.worker_names)
    assert not set(hidden.worker_names) & {"Zoe", "Anna", "Mia"}
    assert hidden.true_sensitivity is not None
    assert hidden.true_sensitivity[hidden.worker].tolist() == [0.1, 0.2, 0.3, 0.3]
    assert f"such as {hidden.worker_names[hidden.worker[2]]} about row 2 and row 3" in hidden.notes[0]
    some = answers.some(np.array([1]))
    assert anonymised(some, tmp_path).worker_names == hidden.worker_names
    assert anonymised(answers, tmp_path / "another").worker_names != hidden.worker_names
    assert stat.S_IMODE((tmp_path / "salt").stat().st_mode) == 0o600


def test_runs_that_make_the_salt_at_once_have_the_same(tmp_path: Path) -> None:
    answers = PairAnnotations.from_arrays([0], [1], [0], [1], num_items=2, worker_names=["Zoe"])
    with ThreadPoolExecutor(8) as pool:
        names = set(pool.map(lambda _: anonymised(answers, tmp_path / "root").worker_names, range(8)))
    assert len(names) == 1


def test_a_salt_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "salt").write_bytes(b"short")
    answers = PairAnnotations.from_arrays([0], [1], [0], [1], num_items=2)
    with pytest.raises(UserError, match="not a salt of 32 bytes"):
        anonymised(answers, tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot be used"):
        anonymised(answers, tmp_path / "file" / "below")



@pytest.mark.parametrize(
    "answer", ["i,j,worker,label\na,b,eve,1\nb,c,zoe,0\n", "item,worker,group\na,eve,1\nb,eve,1\n"]
)
def test_known_pairs_in_python_are_those_of_the_command_line(tmp_path: Path, answer: str) -> None:
    path = written(tmp_path, answer)
    same = written(tmp_path, "i,j\nc,d\n", "same.csv")
    different = written(tmp_path, "i,j\na,d\nb,d\n", "different.csv")
    known = pd.DataFrame({"i": ["a", "c", "b"], "j": ["d", "d", "d"], "label": ["different", "same", "different"]})
    told = answers_of_files(DATA, FileSettings(path=path, must_link=same, cannot_link=different))
    known.to_csv(tmp_path / "known.csv", index=False)
    for links in (known, tmp_path / "known.csv"):
        frame = semicrowd.read_answers(path, known=links)
        found = checked_answers(frame, 4, DATA.ids)
        assert found is not None
        assert rows(found) == rows(told)
        assert found.worker_names == told.worker_names
    some = checked_answers(semicrowd.read_answers(path, known=[["c", "d"]]), 4, DATA.ids)
    assert ("known", 2, 3, 1) in rows(some), "without a label they are the same"


def test_what_is_wrong_with_known_pairs_is_one_line(tmp_path: Path) -> None:
    answers = pd.DataFrame({"i": ["a"], "j": ["b"], "worker": ["eve"], "label": [1]})
    groups = pd.DataFrame({"item": ["a", "b"], "group": [1, 1]})
    given: list[tuple[dict[str, Any], str]] = [
        ({"known": [[1]]}, r"^known: shape \(1, 1\); expected \[pairs, 2 or 3\]"),
        ({"known": groups}, "^known: groups of items; expected pairs"),
        ({"known": [["a", "b", "perhaps"]]}, "^known, row 0, column label: perhaps"),
    ]
    for options, said in given:
        with pytest.raises(UserError, match=said):
            semicrowd.read_answers(answers, **options)
