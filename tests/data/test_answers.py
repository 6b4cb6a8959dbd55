"""Sources of answers as runs call them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, answers
from semicrowd.data.generated import load_pinwheel
from semicrowd.errors import UserError
from semicrowd.random import stream


@pytest.mark.parametrize("source", [answers.two_coin, answers.quota, answers.tasks, answers.labels])
def test_simulated_answers_depend_on_the_seed_alone(source: Callable[..., PairAnnotations]) -> None:
    points = load_pinwheel()
    first = source(points, seed=0)
    stream(0, "init").random(100)  # other streams of the same seed do not disturb it
    again, other = source(points, seed=0), source(points, seed=1)
    for name in ("i", "j", "worker", "label"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert not np.array_equal(first.i, other.i)


def test_files_call_items_by_ids_paths_or_rows(tmp_path: Path) -> None:
    points, path = load_pinwheel(), tmp_path / "mine.csv"
    path.write_text("i,j,worker,label\n0,499,ann,1\n")
    (tmp_path / "named.csv").write_text("i,j,label\np0,p499,same\n")
    names = tuple(f"p{k}" for k in range(500))
    items: list[tuple[Dataset, Path]] = [
        (points, path), (replace(points, ids=names), tmp_path / "named.csv"),
        (replace(points, files=names), tmp_path / "named.csv"),
    ]  # fmt: skip
    for data, file in items:
        found = answers.file(data, path=[str(file)])
        assert (found.i.tolist(), found.j.tolist(), found.label.tolist()) == ([0], [499], [1])
    with pytest.raises(UserError, match=r"named\.csv, line 2, column i"):
        answers.file(points, path=tmp_path / "named.csv")
    (tmp_path / "other.csv").write_text("left,j,label\n0,1,1\n0,0,1\n")
    found = answers.file(points, path=tmp_path / "other.csv", columns={"i": "left"}, errors="drop")
    assert (found.num_pairs, len(found.notes)) == (1, 1)
    with pytest.raises(UserError, match="columns"):
        answers.file(points, path=path, columns={"who": "a"})
