"""questions.csv: a run writes it, people fill it in, and the next run reads it beside the earlier answers."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from .conftest import Command, rows_of

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
    shown = ["file"] if path == "items" else ["x", "y"]
    assert list(asked) == ["i", "j", "worker", "label", *(f"{name} ({end})" for name in shown for end in "ij")]
    assert len(asked) == 200
    assert asked[["worker", "label"]].isna().all(axis=None)
    assert set(asked["i"]) | set(asked["j"]) <= set(kinds.index)
    assert not set(map(frozenset, asked[["i", "j"]].to_numpy())) & set(map(frozenset, first[["i", "j"]].to_numpy()))
    if path == "items":
        assert all((tmp_path / file).is_file() for file in asked["file (j)"])

    same = kinds[asked["i"]].to_numpy() == kinds[asked["j"]].to_numpy()
    asked["label"], asked["worker"] = np.where(same, "same", "different"), "bob"
    asked.loc[30:, "label"] = ""
    asked.to_csv(tmp_path / "filled.csv", index=False)
    more = train(*data, *FIT, "annotations.path=[answers.csv,filled.csv]", "hydra.run.dir=second")
    assert more.returncode == 0, more.stderr
    answers = rows_of(tmp_path / "second" / "annotations.csv")
    assert len(answers) == 12 + 30
    number = {name: row for row, name in enumerate(pd.read_csv(tmp_path / "second" / "assignments.csv")["item"])}
    assert [(int(row["i"]), int(row["j"])) for row in answers[12:]] == [
        (number[i], number[j]) for i, j in asked.loc[:29, ["i", "j"]].to_numpy()
    ]
    alone = train(*data, *FIT, "annotations.path=filled.csv", "hydra.run.dir=third")
    assert alone.returncode == 0, alone.stderr


def test_the_first_questions_of_a_run_without_answers_are_random_pairs(train: Command, tmp_path: Path) -> None:
    a_table(tmp_path)
    done = train("data.path=items.csv", "data=table", "model=kmeans", "model.K=2", "hydra.run.dir=run")
    assert done.returncode == 0, done.stderr
    assert len(rows_of(tmp_path / "run" / "questions.csv")) == 200
    done = train("data.path=items.csv", "data=table", "model=kmeans", "model.K=2", "questions=7", "hydra.run.dir=few")
    assert done.returncode == 0, done.stderr
    assert len(rows_of(tmp_path / "few" / "questions.csv")) == 7
    assert "drawn at random" in (tmp_path / "run" / "report.html").read_text()
