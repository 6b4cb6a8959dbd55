"""questions.csv: a run writes it, people fill it in, and the next run reads it beside the earlier answers."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from semicrowd.errors import UserError
from semicrowd.page.questions import check_not_filled_in, write_questions

from .conftest import Command, rows_of
from .test_page import report

FIT = ("model=kmeans", "model.K=2", "annotations=file")


def a_table(folder: Path) -> pd.Series:
    """40 items with ids, some of which need quotes, in two far groups; the group of each."""
    kinds = np.repeat([0, 1], 20)
    ids = [f'0{k}, the "{k % 3}"' for k in range(40)]
    values = np.random.default_rng(0).normal(10.0 * kinds, 1)
    pd.DataFrame({"id": ids, "x": values, "y": values**2}).to_csv(folder / "items.csv", index=False)
    return pd.Series(kinds, index=ids)


def pictures(folder: Path) -> pd.Series:
    """40 pictures in two folders, light above or light below; the kind of each."""
    kinds = {}
    for number in range(40):
        pixels = np.random.default_rng(number).integers(0, 60, (8, 8, 3), np.uint8)
        pixels[slice(0, 4) if number % 2 else slice(4, 8)] += 150
        name = f"{'früh' if number < 20 else 'late'}/{number}.png"
        (folder / "items" / name).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(folder / "items" / name)
        kinds[name] = number % 2
    return pd.Series(kinds)


@pytest.mark.parametrize(("make", "path"), [(a_table, "items.csv"), (pictures, "items")])
def test_what_a_run_asks_is_read_back_beside_its_answers(
    train: Command, tmp_path: Path, make: Callable[[Path], pd.Series], path: str
) -> None:
    kinds = make(tmp_path)
    first = pd.DataFrame({"i": kinds.index[0], "j": kinds.index[1:13]}).assign(worker="ann")
    first["label"] = (kinds[first["i"]].to_numpy() == kinds[first["j"]].to_numpy()).astype(int)
    first.to_csv(tmp_path / "answers.csv", index=False)
    data = ("data=images" if path == "items" else "data=table", f"data.path={path}")
    done = train(*data, *FIT, "annotations.path=answers.csv", "hydra.run.dir=first")
    assert done.returncode == 0, done.stderr

    asked = pd.read_csv(tmp_path / "first" / "questions.csv", dtype=str)
    assert list(asked) == ["i", "j", "worker", "label"]
    assert len(asked) == 200  # k-means gives no probabilities, from which a number would follow
    assert asked[["worker", "label"]].isna().all(axis=None)
    assert set(asked["i"]) | set(asked["j"]) <= set(kinds.index)
    assert not set(map(frozenset, asked[["i", "j"]].to_numpy())) & set(map(frozenset, first[["i", "j"]].to_numpy()))
    assert "questions.csv in the folder of the run has 200 pairs" in page_text(tmp_path / "first")

    same = kinds[asked["i"]].to_numpy() == kinds[asked["j"]].to_numpy()
    asked["label"] = np.where(same, "same", "different")  # nobody's name is written into the column worker
    asked.loc[30:, "label"] = ""
    asked.loc[49, "label"] = "don't know"
    asked.to_csv(tmp_path / "filled.csv", index=False)
    more = train(*data, *FIT, "annotations.path=[answers.csv,filled.csv]", "hydra.run.dir=second")
    assert more.returncode == 0, more.stderr
    assert "note: filled.csv: 170 of 200 rows have no answer" in more.stderr
    answers = rows_of(tmp_path / "second" / "annotations.csv")
    assert len(answers) == 12 + 30
    number = {name: row for row, name in enumerate(pd.read_csv(tmp_path / "second" / "assignments.csv")["item"])}
    assert [(int(row["i"]), int(row["j"])) for row in answers[12:]] == [
        (number[i], number[j]) for i, j in asked.loc[:29, ["i", "j"]].to_numpy()
    ]
    alone = train(*data, *FIT, "annotations.path=filled.csv", "hydra.run.dir=third")
    assert alone.returncode == 0, alone.stderr


def page_text(run: Path) -> str:
    return (run / "report.html").read_text().replace("<code>", "").replace("</code>", "")


@pytest.mark.usefixtures("table", "answers")
def test_answers_that_were_written_into_a_runs_folder_are_not_removed(train: Command, tmp_path: Path) -> None:
    command = ["data.path=items.csv", *FIT, "annotations.path=answers.csv", "hydra.run.dir=run"]
    assert train(*command).returncode == 0
    assert train(*command).returncode == 0  # nobody has filled it in
    assert "annotations.path=[answers.csv,COPY.csv]" in (tmp_path / "run" / "report.html").read_text()
    path = tmp_path / "run" / "questions.csv"
    before = path.read_text()
    filled = before.replace(",,\n", ",ann,same\n", 1)
    path.write_text(filled)
    again = train(*command)
    assert again.returncode == 2
    assert again.stderr.splitlines()[-1].endswith(
        "run/questions.csv: has answers, and a new run in this folder would remove it; move the file to another "
        "folder, or choose another hydra.run.dir"
    )
    assert report(tmp_path, "run=run").returncode == 0
    assert path.read_text() == filled
    assert (tmp_path / "run" / "assignments.csv").exists()
    own = train(*command[:-2], "annotations.path=[answers.csv,run/questions.csv]", "hydra.run.dir=next")
    assert own.returncode == 0, own.stderr
    path.unlink()
    assert report(tmp_path, "run=run").returncode == 0
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("i,j,worker,label\na,b,,\na,c,,same\n", "has answers"),
        ("i,j,worker,label\na,b,ann,\na,c,ann,\n", "has been changed"),
        ("i,j,worker,label\na,b,,?\na,c,,don't know\n", "has been changed"),
        ("i,j,worker,label,remark\na,b,,,blurred\na,c,,,\n", "has been changed"),
        ("i,j,worker,label\na,b,,\na,c,,perhaps\n", "has answers"),
        ("i;j;worker;label\na;b;;\n", "has been changed"),
        ("i,j,worker,label\na,b,,same\na,ü,,\n".encode("utf-16"), "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_whatever_somebody_has_written_into_the_file_is_kept(tmp_path: Path, text: str | bytes, what: str) -> None:
    path = tmp_path / "questions.csv"
    path.write_bytes(before := text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError, match=rf"questions.csv: {what}, and a new run in this folder would remove it; move"):
        check_not_filled_in(tmp_path)
    write_questions(tmp_path / "questions.csv", [(0, 1)], None)
    assert path.read_bytes() == before


def test_a_file_that_only_a_spreadsheet_has_saved_is_written_again(tmp_path: Path) -> None:
    write_questions(tmp_path / "questions.csv", [(0, 1), (1, 2)], ["a", 'b, "the" second', "c"])
    path = tmp_path / "questions.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b",,,\r\n")
    check_not_filled_in(tmp_path)
    write_questions(tmp_path / "questions.csv", [(0, 1)], None)
    assert path.read_text() == "i,j,worker,label\n0,1,,\n"


def test_the_first_questions_of_a_run_without_answers_are_random_pairs(train: Command, tmp_path: Path) -> None:
    a_table(tmp_path)
    done = train("data.path=items.csv", "data=table", "model=kmeans", "model.K=2", "hydra.run.dir=run")
    assert done.returncode == 0, done.stderr
    assert len(rows_of(tmp_path / "run" / "questions.csv")) == 200
    done = train("data.path=items.csv", "data=table", "model=kmeans", "model.K=2", "questions=7", "hydra.run.dir=few")
    assert done.returncode == 0, done.stderr
    assert len(rows_of(tmp_path / "few" / "questions.csv")) == 7
    assert "has 200 pairs to ask about, drawn at random, to begin with." in page_text(tmp_path / "run")
