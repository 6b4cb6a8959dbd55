"""A user's own .npz file: what is read of it, and what is said where it is missing or not as expected."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import answers
from semicrowd.data.npz import load_npz
from semicrowd.data.table import load_table
from semicrowd.errors import UserError

FEATURES = np.random.default_rng(0).normal(size=(6, 3))
LABELS = np.array([7, 7, 2, 2, 9, 9])
#: Two tasks with one number, of two annotators; a pair answered twice, and one both ways.
PAIRS = np.array([
    [0, 1, 30, 1, 4], [0, 2, 30, 0, 4], [1, 2, 30, 0, 4], [3, 4, 5, 1, 4], [0, 1, 5, 1, 9], [0, 1, 5, 0, 9],
    [2, 3, 30, 1, 0], [2, 3, 30, 1, 0],
])  # fmt: skip


def write(folder: Path, name: str = "people", **arrays: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.npz"
    np.savez(path, **arrays)
    return path


def crowd(root: Path, **options: Any) -> PairAnnotations:
    found: PairAnnotations = answers.crowd(load_npz(path="people", root=root), **options)
    return found


def test_a_file_with_answers(tmp_path: Path) -> None:
    path = write(tmp_path / "crowds", features=FEATURES, labels=LABELS, pairs=PAIRS, images=np.zeros((6, 2), np.uint8))
    data = load_npz(root=tmp_path, path=str(path))
    assert data.name == "people"
    np.testing.assert_array_equal(data.features, FEATURES)
    assert data.labels.tolist() == [1, 1, 0, 0, 2, 2]
    assert (data.num_classes, data.features.dtype) == (3, np.float64)
    found = crowd(tmp_path)
    assert (found.num_pairs, found.num_annotators, found.num_items) == (8, 2, 6)
    assert found.worker_names == ("5", "30")
    assert found.worker.tolist() == [1, 1, 1, 0, 0, 0, 1, 1]
    assert found.label.tolist() == PAIRS[:, 3].tolist()
    parts = [sorted(np.flatnonzero(found.task == t).tolist()) for t in range(found.num_tasks)]
    assert sorted(parts) == [[0, 1, 2], [3], [4, 5], [6, 7]]
    assert found.true_sensitivity == pytest.approx([0.5, 1.0])
    assert found.true_specificity == pytest.approx([0.0, 1.0])
    assert not found.simulated


def test_a_pair_asked_alone_is_a_task_of_its_own_beside_tasks_and_none_without(tmp_path: Path) -> None:
    mixed = PAIRS.copy()
    mixed[:, 4] = -1
    write(tmp_path / "crowds", features=FEATURES, labels=LABELS, pairs=mixed)
    assert crowd(tmp_path).task is None
    mixed[[0, 1, 2, 6, 7], 4] = PAIRS[[0, 1, 2, 6, 7], 4]
    write(tmp_path / "crowds", features=FEATURES, labels=LABELS, pairs=mixed)
    task = crowd(tmp_path).task
    parts = sorted(np.flatnonzero(task == t).tolist() for t in range(task.max() + 1))
    assert parts == [[0, 1, 2], [3], [4], [5], [6, 7]]


def test_a_table_has_no_answers_and_can_be_drawn_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "elsewhere" / "tables", "seeds", X=FEATURES, y=LABELS, classes=np.array(["a", "b", "c"]))
    monkeypatch.setenv("SEMICROWD_CROWDS", str(tmp_path / "elsewhere"))
    data = load_npz(root=tmp_path, path="seeds")
    assert (data.num_items, data.answers) == (6, None)
    part = load_npz(root=tmp_path, path="seeds", subset=4)
    assert part.num_items == 4
    with pytest.raises(UserError, match="annotations=crowd"):
        answers.crowd(data)
    path = write(tmp_path / "elsewhere", features=FEATURES, labels=LABELS, pairs=PAIRS)
    with pytest.raises(UserError, match=r"annotations\.num_tasks=3"):
        crowd(tmp_path, num_tasks=3)
    with pytest.raises(UserError, match=r"data\.subset=3"):
        load_npz(root=tmp_path, path=str(path), subset=3)


@pytest.mark.parametrize("names", [("features", "y"), ("X", "label"), ("codes", "labels")])
def test_a_file_is_read_by_the_names_that_a_table_may_have(tmp_path: Path, names: tuple[str, str]) -> None:
    arrays: dict[str, Any] = dict(zip(names, (FEATURES, LABELS), strict=True))
    path = write(tmp_path, **arrays)
    found, table = load_npz(path=str(path)), load_table(path=str(path))
    np.testing.assert_array_equal(found.features, table.features)
    assert found.labels.tolist() == np.unique(table.labels, return_inverse=True)[1].tolist()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"table": FEATURES}, r"wrong\.npz"),
        ({"X": FEATURES, "y": LABELS[:4]}, r"wrong\.npz, y"),
        ({"X": FEATURES[0], "y": LABELS}, r"wrong\.npz, X"),
        ({"X": FEATURES, "y": np.array([{}] * 6)}, r"wrong\.npz"),
        ({"features": FEATURES, "labels": LABELS, "pairs": PAIRS + 9}, "row 0, column i"),
        ({"X": np.where(FEATURES > 0, np.nan, FEATURES), "y": LABELS}, "features, row"),
    ],
)
def test_a_file_that_is_not_as_expected(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    path = write(tmp_path, "wrong", **arrays)
    with pytest.raises(UserError, match=message):
        load_npz(root=tmp_path, path=str(path))
