"""The user's own tables: what is read, and one clear line for what cannot be."""

from pathlib import Path

import numpy as np
import pytest

from semicrowd.data import Dataset, load_dataset
from semicrowd.errors import UserError


def _load(path: Path | None) -> Dataset:
    return load_dataset("table", Path("unused"), path=path)


def _csv(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_with_labels_anywhere(tmp_path: Path) -> None:
    data = _load(_csv(tmp_path, "x,label,y\n1,3,-2.5\n2e1,3,0\n.5,-1,7\n"))
    assert data.features.tolist() == [[1.0, -2.5], [20.0, 0.0], [0.5, 7.0]]
    assert data.features.dtype == np.float32
    assert data.labels is not None
    assert data.labels.tolist() == [3, 3, -1]
    assert data.class_names is None
    assert data.num_classes == 2
    assert list(data.hashes) == ["mine.csv"]


def test_names_as_labels_are_numbered_in_their_order(tmp_path: Path) -> None:
    data = _load(_csv(tmp_path, "label,x\nrose,1\n iris ,2\nrose,3\nNA,4\n"))
    assert data.labels is not None
    assert data.labels.tolist() == [2, 1, 2, 0]
    assert data.class_names == ("NA", "iris", "rose")


def test_csv_with_sequences(tmp_path: Path) -> None:
    data = _load(_csv(tmp_path, "x,sequence,label\n1,mon,a\n2,mon,b\n3,tue,a\n"))
    assert data.sequence is not None
    assert (data.sequence.tolist(), data.features.tolist()) == ([0, 0, 1], [[1], [2], [3]])
    assert _load(_csv(tmp_path, "x\n1\n")).sequence is None
    with pytest.raises(UserError, match="line 3, column sequence: empty; expected a sequence in every row"):
        _load(_csv(tmp_path, "x,sequence\n1,mon\n2,\n"))
    with pytest.raises(UserError, match="expected one at least besides sequence and label"):
        _load(_csv(tmp_path, "sequence,label\n1,2\n"))


def test_csv_without_labels_with_mark_crlf_and_blank_end(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes("\ufeffx,y\r\n1,2\r\n3,4\r\n\r\n\r\n".encode())
    data = _load(path)
    assert data.labels is None
    assert data.num_classes is None
    assert data.features.tolist() == [[1, 2], [3, 4]]


def test_npy(tmp_path: Path) -> None:
    array = np.random.default_rng(0).normal(size=(5, 3))
    np.save(tmp_path / "mine.npy", array)
    data = _load(tmp_path / "mine.npy")
    assert np.array_equal(data.features, array.astype(np.float32))
    assert data.labels is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x,y\n1,2\n3,nan\n", "line 3, column y"),
        ("x,y\n1,2\n,4\n", "line 3, column x"),
        ("x,y\n1,2\n3\n", "line 3, column y"),
        ("x,y\n1,2\n3, \n", "line 3, column y"),
        ("x,y\n1,2\n3,NA\n", "line 3, column y"),
    ],
)
def test_a_cell_without_a_number_is_missing(tmp_path: Path, text: str, place: str) -> None:
    path = _csv(tmp_path, text)
    data = _load(path)
    assert data.missing == f"{path}, {place}"
    assert np.isnan(data.features[1]).any()
    assert not np.isnan(data.features[0]).any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,-inf\n", "line 2, column y: -inf; expected a finite number"),
        ("x,y\n1,2\n3,abc\n", "line 3, column y: abc; expected a number"),
        ("x,y\n1,2\n3,True\n", "line 3, column y: True; expected a number"),
        ("x,y\n1,1e300\n", "line 2, column y: 1e\\+300; expected a finite number of float32"),
        ("x,y\n1,2,3\n4,5,6\n", "line 2: 3 cells; expected 2 as in the header"),
        ("x,y\n1,2\n3,4,5\n", "line 3: 3 cells; expected 2 as in the header"),
        ('x,y\n1,2\n3,"4\n', "EOF inside string"),
        ("x,y,label\n1,2,0\n3,4,\n", "line 3, column label: empty; expected a label in every row"),
        ("x,y\n", "no rows"),
        ("x,y\n1,2\n\n3,4\n", "line 3: every cell is empty"),
        ("x,y\n1,2\n,\n3,4\n", "line 3: every cell is empty"),
        ("", "empty; expected a header"),
        ("1,2\n3,4\n", "line 1: only numbers; expected a header"),
        ("x,x\n1,2\n", "line 1, column x: expected a name of its own"),
        ("x,\n1,2\n", "line 1, column without a name"),
        ("label\n1\n", "no column of features"),
    ],
)
def test_bad_csv(tmp_path: Path, text: str, message: str) -> None:
    path = _csv(tmp_path, text)
    with pytest.raises(UserError, match=message) as caught:
        _load(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(b"x,y\n1,\xff\xfe\n")
    with pytest.raises(UserError, match="not a csv"):
        _load(path)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([[1.0, 2.0], [np.nan, np.inf]]), "row 1, column 1: inf; expected a finite number"),
        (np.zeros(4), r"expected a table of numbers \[items, features\], found float64 \[4\]"),
        (np.array([["a", "b"]]), "expected a table of numbers"),
        (np.zeros((2, 2), complex), "expected a table of numbers"),
        (np.zeros((0, 2)), "expected a table of numbers"),
    ],
)
def test_bad_array(tmp_path: Path, array: np.ndarray, message: str) -> None:
    np.save(tmp_path / "mine.npy", array)
    with pytest.raises(UserError, match=message):
        _load(tmp_path / "mine.npy")


def test_pickled_objects_are_not_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "mine.npy", np.array([[{}, 1]], dtype=object), allow_pickle=True)
    with pytest.raises(UserError, match="not a NumPy array of numbers that is whole"):
        _load(tmp_path / "mine.npy")


def test_truncated_array(tmp_path: Path) -> None:
    path = tmp_path / "mine.npy"
    np.save(path, np.zeros((50, 4)))
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(UserError, match=r"float64 \[50, 4\] needs 1,600 bytes, and 372 are there"):
        _load(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"data\.path is missing"):
        _load(None)
    with pytest.raises(UserError, match="No such file"):
        _load(tmp_path / "absent.csv")
    with pytest.raises(UserError, match=r"expected a \.csv or \.tsv with a header"):
        _load(tmp_path / "mine.txt")
