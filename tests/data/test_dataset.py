"""What loaders, sources of answers and a Dataset refuse: the option or the place is named, in one line."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, answers
from semicrowd.data.benchmark import load_benchmark
from semicrowd.data.cifar10 import load_cifar10
from semicrowd.data.encoded import load_encoded
from semicrowd.data.faces import load_face
from semicrowd.data.generated import load_pinwheel, load_shapes
from semicrowd.data.images import load_images
from semicrowd.data.mnist import load_mnist
from semicrowd.data.npz import load_npz
from semicrowd.data.table import load_table
from semicrowd.errors import UserError
from semicrowd.random import stream

POINTS = load_pinwheel()
WINE = partial(load_benchmark, which="wine")
Function = Callable[..., Any]
#: Function, options, and what the message names.
REFUSED: list[tuple[Function, dict[str, Any], str]] = [
    (load_pinwheel, {"num_classes": 0}, "num_classes"),
    (load_shapes, {"which": "stars"}, "which"),
    (load_mnist, {"subset": 1}, "subset"),
    (load_face, {"pca": 0}, "pca"),
    (load_face, {"standardize": "befor"}, "standardize"),
    (load_face, {"pca": None, "standardize": "after"}, "data.standardize=after"),
    (load_cifar10, {"pca": 3073}, "pca"),
    (load_cifar10, {"features": "efficientnet_lite0", "pca": 7}, "data.pca=7"),
    (WINE, {"fold": 3}, "data.fold=3"),
    (WINE, {"fold": 0, "folds": 179}, "data.folds=179"),
    (WINE, {"fold": 0, "folds": 4, "fold_classes": True}, "data.folds=4"),
    (WINE, {"per_class": 49}, "data.per_class=49"),
    (WINE, {"classes": [0, "Q"]}, "data.classes: Q"),
    (WINE, {"columns": 14}, "data.columns=14"),
    (WINE, {"subset": 179}, "data.subset=179"),
    (load_encoded, {"trained": 30}, "trained"),
    (load_npz, {"path": "mine"}, "data.path=mine"),
    (load_npz, {"path": "*"}, "data.path=*"),
    (load_table, {"path": 3}, "path"),
    (load_images, {"path": ".", "features": "efficientnet_lite0", "size": 8}, "data.size=8"),
    (load_images, {"path": ".", "size": [8, 0]}, "data.size=[8, 0]"),
    (partial(answers.file, POINTS), {}, "annotations.path"),
    (partial(answers.crowd, POINTS), {}, "data=pinwheel"),
    (partial(answers.crowd, POINTS), {"num_tasks": 92}, "num_tasks"),
    (partial(answers.tasks, POINTS), {"confused": "cifar10h"}, "annotations.confused=cifar10h"),
    (partial(answers.tasks, Dataset("table", POINTS.features)), {}, "data=table"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "options", "named"), REFUSED)
def test_a_refused_option_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, function: Function, options: dict[str, Any], named: str
) -> None:
    monkeypatch.setenv("SEMICROWD_DATA", str(tmp_path))
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - scikit-learn's InvalidParameterError, or a UserError
        function(**options)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("features", "more", "named"),
    [
        (np.zeros(4, np.float32), {}, "features"), (np.zeros((2, 3), np.int64), {}, "features"),
        (np.array([[0, 1], [np.inf, 2]], np.float32), {}, "features, row 1, column 0"),
        (np.array([[0, np.nan]]), {}, "features, row 0, column 1"),
        (np.zeros((4, 3), np.float32), {"labels": np.zeros(3, np.int64)}, "labels"),
        (np.zeros((3, 1)), {"ids": ("a", "b")}, "ids"),
        (np.zeros((3, 1)), {"sequence": np.zeros(2, np.int64)}, "sequence"),
    ],
)  # fmt: skip
def test_arrays_that_do_not_fit(features: np.ndarray, more: dict[str, Any], named: str) -> None:
    with pytest.raises(UserError, match=named):
        Dataset("mine", features, **more)


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
    with pytest.raises(UserError, match=r"named\.csv, column i: .* column id"):
        answers.file(points, path=tmp_path / "named.csv")
    with pytest.raises(UserError, match="columns"):
        answers.file(points, path=path, columns={"who": "a"})
