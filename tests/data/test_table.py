"""The user's own tables: what is read, what becomes a feature, and one line for what cannot be."""

import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.made import written

from semicrowd.data import Dataset
from semicrowd.data.columns import Columns
from semicrowd.data.frames import read_frame
from semicrowd.data.table import load_new_items, load_table
from semicrowd.errors import UserError


def _load(path: Path, **options: Any) -> Dataset:
    return load_table(path=path, **options)


def _csv(folder: Path, text: str, **options: Any) -> Dataset:
    return _load(written(folder, text, name="mine.csv"), **options)


def test_columns_with_roles_are_no_features(tmp_path: Path) -> None:
    data = _csv(tmp_path, "x,label,id,sequence,y\n1,rose,007,mon,-2.5\n2e1,NA,NA,mon,0\n.5,rose,08,tue,7\n")
    assert data.features.tolist() == [[1.0, -2.5], [20.0, 0.0], [0.5, 7.0]]
    assert data.features.dtype == np.float64
    assert (data.ids, data.class_names, data.num_classes) == (("007", "NA", "08"), ("NA", "rose"), 2)
    assert data.labels.tolist() == [1, 0, 1]
    assert data.sequence.tolist() == [0, 0, 1]
    assert list(data.hashes) == ["mine.csv"]


def test_other_columns_are_named_for_ids_and_classes_and_left_out(tmp_path: Path) -> None:
    data = _csv(tmp_path, "nick,species,x,y\nzoe,3,1,5\nann,-1,2,6\n", id="nick", label="species", ignore=["y"])
    assert (data.ids, data.class_names, data.features.tolist()) == (("zoe", "ann"), None, [[1], [2]])
    assert data.labels.tolist() == [3, -1]
    # Without a name they are features: nothing is taken for ids that is not called id.
    assert _csv(tmp_path, "customer_id,x\n7,1\n3,2\n").features.tolist() == [[7, 1], [3, 2]]


SEMICOLONS = "Größe;Preis;Tag\n1,5;1.250,5;03/02/2020\n2,5;9,75;28/12/2021\n"


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_keywords_of_pandas_read_other_texts(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(SEMICOLONS, encoding=encoding)
    keywords = {"sep": ";", "decimal": ",", "thousands": ".", "encoding": encoding}
    data = _load(path, read_csv=keywords)
    assert [one.kind for one in data.columns.columns] == ["number", "number", "date"]
    assert data.features[:, :2].tolist() == [[1.5, 1250.5], [2.5, 9.75]]
    path.write_text(SEMICOLONS.replace(";", "\t"), encoding=encoding)
    tabs = path.rename(tmp_path / "mine.tsv")
    np.testing.assert_array_equal(_load(tabs, read_csv={**keywords, "sep": "\t"}).features, data.features)
    path.write_text(SEMICOLONS, encoding=encoding)
    np.testing.assert_array_equal(load_new_items(path, data.columns, keywords).features, data.features)


def _parquet(frame: pd.DataFrame, path: Path) -> None:
    frame.to_parquet(path)


def _excel(frame: pd.DataFrame, path: Path) -> None:
    frame.to_excel(path, index=False)


@pytest.mark.parametrize(("write", "name"), [(_parquet, "mine.parquet"), (_excel, "mine.xlsx")])
def test_other_files_of_tables(tmp_path: Path, write: Callable[[pd.DataFrame, Path], None], name: str) -> None:
    frame = pd.DataFrame({"id": ["007", "NA", "c"], "x": [1.5, None, 3], "kind": ["u", "v", "u"]})
    write(frame, tmp_path / name)
    data = _load(tmp_path / name)
    assert data.ids == ("007", "NA", "c")
    np.testing.assert_array_equal(data.features, [[1.5, 1, 0], [np.nan, 0, 1], [3, 1, 0]])


def test_arrays(tmp_path: Path) -> None:
    X = np.array([[1.0, 2], [3, np.nan], [5, 6]])
    np.save(tmp_path / "mine.npy", X)
    data = _load(tmp_path / "mine.npy")
    assert data.missing == "row 1, column 1"
    assert data.with_gaps_filled().features.tolist() == [[1, 2, 0], [3, 4, 1], [5, 6, 0]]
    np.savez(tmp_path / "mine.npz", features=X, y=["b", "a", "b"], ids=["u", "v", "w"], columns=[b"left", b"right"])
    data = _load(tmp_path / "mine.npz")
    assert (data.ids, data.class_names) == (("u", "v", "w"), ("a", "b"))
    assert data.columns.feature_names == ["left", "right"]
    np.savez(tmp_path / "alone.npz", codes=np.eye(3, dtype=np.float32))
    assert _load(tmp_path / "alone.npz").features.tolist() == np.eye(3).tolist()


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def _promising(shape: str) -> bytes:
    """A .npy file whose header promises more than there is."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(80)


ROWS = "".join(f"{k},{k % 2}\n" for k in range(8))
#: Content or options, and what the one line names.
REFUSED: dict[str, tuple[str | bytes, dict[str, Any], list[str]]] = {
    "unit": ("x,id\n17.5 cm,a\n18 cm,b\n17 cm,c\n", {}, ["id a, column x", "17.5 cm", "table.md"]),
    "decimal commas": ('x,y\n"1,5",1\n"2,5",2\n', {}, ["column x", "1,5"]),
    "a word among numbers": (f"x,y\n{ROWS}call us,1\n", {}, ["column x", "call us", "data.ignore=[x]"]),
    "too large": ("x,y\n1,1e39\n2,3\n", {}, ["line 2, column y", "1e+39"]),
    "longer row": ("x,y\n1,2\n3,4,5\n", {}, ["mine.csv"]),
    "open quote": ('x,y\n1,2\n3,"4\n' + "1,2\n" * 30_000, {}, ["mine.csv"]),
    "id twice": ("x,id\n1,a\n2,b\n3,a\n", {}, ["line 4, column id", "line 2"]),
    "another column of ids": ("x,ID\n1,a\n2,b\n", {}, ["column ID", "data.id=ID"]),
    "answers": ("i,j,worker,label\n1,2,ann,1\n", {}, ["i, j, label"]),
    "groups": ("item,worker,group\n1,ann,1\n", {}, ["item", "group"]),
    "no rows": ("x,y\n", {}, ["no rows"]),
    "semicolons": (SEMICOLONS, {}, ["data.read_csv", ";"]),
    "commas": ("x,y\n1,2\n", {"read_csv": {"sep": ";"}}, ["','", "';'"]),
    "no features": ("label,id\n1,2\n", {}, ["no column of features"]),
    "only free text": ("x\n" + "".join(f"remark {k}\n" for k in range(50)), {}, ["column x"]),
    "not UTF-8": ("Größe,y\n1,2\n".encode("cp1252"), {}, ["encoding"]),
    "no text": (b"x,y\n1,\xff\x00\n", {}, ["mine.csv"]),
    "no such column": ("nick,x\na,1\n", {"label": "nik"}, ["data.label", "nik", "nick"]),
    "infinite": (_npy(np.array([[1.0, 2.0], [np.nan, np.inf]])), {}, ["row 1, column 1"]),
    "complex": (_npy(np.zeros((2, 2), complex)), {}, ["complex"]),
    "no items": (_npy(np.zeros((0, 2))), {}, ["[0, 2]"]),
    "objects": (_npy(np.array([[{}, 1]], dtype=object)), {}, ["mine.npy"]),
    **{f"shape {shape[:12]}": (_promising(shape), {}, ["mine.npy"])
       for shape in ("(10000000000, 5)", "(50, 4)", "(" * 3000 + ")" * 3000)},
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_outside_the_documented_form_is_refused_in_one_line(tmp_path: Path, case: str) -> None:
    content, options, named = REFUSED[case]
    content = content.encode() if isinstance(content, str) else content
    path = tmp_path / ("mine.npy" if content.startswith(b"\x93NUMPY") else "mine.csv")
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        _load(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert all(name in message for name in named), message


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    np.savez(tmp_path / "mine.npz", features=np.eye(2), columns=["left"])
    for name, named in {
        "absent.csv": "No such file", "fotos": "fotos", "photos": "data=images", "pipe.csv": "pipe",
        "mine.npz": "columns",
    }.items():  # fmt: skip
        with pytest.raises(UserError, match=named):
            _load(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "header.npz", "w") as archive:
        archive.writestr("X.npy", _promising("(50, 4)"))
    for name in ("broken.parquet", "broken.xlsx", "broken.npz"):
        (tmp_path / name).write_bytes(b"no table")
    for name in ("broken.parquet", "broken.xlsx", "broken.npz", "header.npz"):
        with pytest.raises(UserError, match=name):
            read_frame(tmp_path / name)


def test_kinds_of_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "number": rng.normal(size=60), "as text": [str(k) for k in range(59)] + ["n/a"], "gap": [1.0, None, 3] * 20,
        "whole": pd.array([1, None, 3] * 20, "Int64"), "truth": [True, False] * 30,
        "truth or nothing": [True, None] * 30,
        "word": ["a", "b", None] * 20, "size": ["2 doors", "few", "many"] * 20, "class": ["1st", "2nd", "3rd"] * 20,
        "day": pd.date_range("2020-01-01", periods=60),
        "written": [f"{k % 28 + 1}.{k % 12 + 1}.2020" for k in range(60)],
        "lasted": pd.to_timedelta(range(60), "min"), "many kinds": pd.Categorical(range(60)),
        "remark": [f"remark {k}" for k in range(60)], "same": 1, "nothing": [None] * 60,
    })  # fmt: skip
    columns, notes = Columns.of(frame, "mine.csv")
    kinds = {one.name: one.kind for one in columns.columns}
    numbers = ("number", "as text", "gap", "whole", "truth", "truth or nothing", "lasted")
    assert kinds == {
        **dict.fromkeys(numbers, "number"), **dict.fromkeys(("word", "size", "class", "many kinds"), "category"),
        **dict.fromkeys(("day", "written"), "date"),
    }  # fmt: skip
    assert [note.split(":")[0] for note in notes] == ["column remark", "column same", "column nothing"]
    assert [one.name for one in columns.columns if one.gaps] == ["as text", "gap", "whole", "truth or nothing"]
    features, _ = columns.features(frame, "mine.csv")
    features, names = columns.with_gaps_filled().fill(features), columns.with_gaps_filled().feature_names
    named = pd.DataFrame(features, columns=names)
    assert len(names) == features.shape[1] == len(set(names))
    assert named["day"].diff().iloc[1:].eq(86_400).all()
    assert named["written"][:3].tolist() == [pd.Timestamp(2020, k, k).timestamp() for k in (1, 2, 3)]
    assert named["gap"].tolist() == [1.0, 2.0, 3.0] * 20
    assert named["gap is empty"].tolist() == [0.0, 1.0, 0.0] * 20
    assert named["word="].tolist() == [0.0, 0.0, 1.0] * 20
    assert named[["class=1st", "class=2nd", "class=3rd"]].sum(axis=1).eq(1).all()
    assert named["many kinds=7"].sum() == 1


def test_new_items_are_converted_as_those_of_the_fit(tmp_path: Path) -> None:
    rows = "TRUE,S,1,2020-01-05\nFALSE,38,2,2020-02-28\nmaybe,M,3,2021-01-01\nmaybe,L,,2021-01-01\n" * 9
    data = _csv(tmp_path, "agreed,size,x,day\n" + rows)
    columns = data.columns.with_gaps_filled()
    new = load_new_items(written(tmp_path, "day,size,x,agreed,more\n2022-01-01,38,7,TRUE,1\n,huge,,?,2\n"), columns)
    assert len(new.notes) == 2
    assert all(word in "".join(new.notes) for word in ("column size", "huge", "column agreed"))
    named = pd.DataFrame(new.features, columns=columns.feature_names)
    assert named["x"].tolist() == [7.0, 2.0]
    assert named["x is empty"].tolist() == [0.0, 1.0]
    assert named[["size=38", "size=L", "size=M", "size=S"]].to_numpy().tolist() == [[1, 0, 0, 0], [0, 0, 0, 0]]
    assert named["day"].tolist() == [pd.Timestamp("2022-01-01").timestamp(), pd.Timestamp("2020-07-31").timestamp()]
    for text, place in (("agreed,size,x\nTRUE,S,1\n", "day"), ("agreed,size,x,day\nTRUE,S,two,\n", "line 2, column x")):
        with pytest.raises(UserError, match=place):
            load_new_items(written(tmp_path, text), columns)
