"""The user's own tables: what is read, and one clear line for what cannot be."""

import os
import tracemalloc
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.answer_files import read_csv_answers, written

from semicrowd.data import Dataset, load_dataset
from semicrowd.data.odd_items import odd_items
from semicrowd.data.table import load_new_items
from semicrowd.errors import UserError

_csv = partial(written, name="mine.csv")


def _load(path: Path | None) -> Dataset:
    return load_dataset("table", Path("unused"), path=path)


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
        ("x,y,z\n1,2,3\n3,abc,4\n5,6,7\n5,6,seven\n",
         r"mine\.csv, line 3, column y: abc; line 5, column z: seven; expected a number; correct all such cells, or "
         r"leave the columns out with 'data\.ignore=\[y,z\]'$"),
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
    for no_text in (b"x,y\n1,\xff\x00\n", "x,y\n1,2\n".encode("utf-16"), b"x,y\n1,\x81\n"):
        path.write_bytes(no_text)
        with pytest.raises(UserError, match="not a csv"):
            _load(path)


def test_a_table_may_be_saved_as_excel_in_western_europe_does(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("Größe;Stück\n1,5;2\n2,5;3\n", encoding="cp1252")
    data = _load(path)
    assert data.columns is not None
    assert data.columns.names == ["Größe", "Stück"]
    assert any("cp1252" in note for note in data.notes)


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


def test_a_header_as_long_as_two_gigabytes_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "mine.npy"
    path.write_bytes(b"\x93NUMPY\x02\x00" + (2**31).to_bytes(4, "little") + bytes(100))
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match="not a NumPy array of numbers that is whole"):
            _load(path)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


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
    (tmp_path / "photos").mkdir()
    for name in ("fotos", "photos2", "phoots/mine.csv"):
        said = rf"{name}: cannot be read: No such file or directory; the nearest is photos$"
        with pytest.raises(UserError, match=said):
            _load(tmp_path / name)


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "items.csv")
    with pytest.raises(UserError, match="cannot be read: not a file"):
        _load(tmp_path / "items.csv")


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("(10000000000, 5)", r"float64 \[10000000000, 5\] needs 400,000,000,000 bytes, and 80 are there"),
        ("(-1, 5)", "bytes, and 80 are there"),
        ("(4294967296, 4294967296)", "bytes, and 80 are there"),
        ("(" * 3000 + ")" * 3000, "not a NumPy array of numbers that is whole"),
    ],
)
def test_a_header_that_promises_more_than_there_is(tmp_path: Path, shape: str, message: str) -> None:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(80)
    (tmp_path / "mine.npy").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "mine.npz", "w") as archive:
        archive.writestr("X.npy", content)
    for name in ("mine.npy", "mine.npz"):
        with pytest.raises(UserError, match=message):
            _load(tmp_path / name)


def test_numbers_that_are_no_measurements_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "mine.npy", np.array([[2**63, 1], [3, 4]], np.uint64))
    with pytest.raises(UserError, match=r"row 0, column 0: 9223372036854775808; expected a number below 1e\+15"):
        _load(tmp_path / "mine.npy")


def test_arrays_with_names_labels_and_ids(tmp_path: Path) -> None:
    X = np.array([[1.0, 2], [3, np.nan], [5, 6]])
    np.savez(tmp_path / "mine.npz", features=X, y=["b", "a", "b"], ids=["u", "v", "w"], columns=["left", "right"])
    data = _load(tmp_path / "mine.npz")
    assert data.ids == ("u", "v", "w")
    assert data.labels is not None
    assert data.labels.tolist() == [1, 0, 1]
    assert data.columns is not None
    assert data.columns.names == ["left", "right"]
    assert data.with_gaps_filled().features.tolist() == [[1, 2, 0], [3, 4, 1], [5, 6, 0]]
    np.savez(tmp_path / "bytes.npz", X=X, columns=np.array([b"left", b"right"]))
    assert (of_bytes := _load(tmp_path / "bytes.npz").columns) is not None
    assert of_bytes.names == ["left", "right"]
    np.savez(tmp_path / "alone.npz", codes=np.eye(3, dtype=np.float32))
    assert _load(tmp_path / "alone.npz").features.tolist() == np.eye(3).tolist()
    np.savez(tmp_path / "mine.npz", features=X, columns=["left"])
    with pytest.raises(UserError, match="columns: 1 names; expected 2"):
        _load(tmp_path / "mine.npz")


def test_columns_of_ones_own_for_ids_and_classes(tmp_path: Path) -> None:
    path = _csv(tmp_path, "nick,species,x\nzoe,cat,1\nann,dog,2\n")
    data = load_dataset("table", Path("unused"), path=path, id="nick", label="species")
    assert (data.ids, data.features.tolist()) == (("zoe", "ann"), [[1], [2]])
    assert data.labels is not None
    assert data.labels.tolist() == [0, 1]
    for twice in ({"id": "nick", "ignore": ["nick"]}, {"id": "nick", "label": "nick"}):
        with pytest.raises(UserError, match=r"column nick: expected in one of data\.ignore, data\.id, data\.label"):
            load_dataset("table", Path("unused"), path=path, **twice)
    with pytest.raises(UserError, match=r"data.label=\[kind\]: .* has no such column; it has nick, species, x"):
        load_dataset("table", Path("unused"), path=path, label="kind")
    labelled = load_dataset("table", Path("unused"), path=_csv(tmp_path, "label,x\na,1\nb,2\n"), id="label")
    assert (labelled.ids, labelled.labels) == (("a", "b"), None)
    customers = _load(_csv(tmp_path, "customer_id,x\n7,1\n3,2\n"))
    assert (customers.ids, customers.features.tolist()) == (("7", "3"), [[1], [2]])


def test_ids_keep_their_zeros_and_answers_may_have_them_or_not(tmp_path: Path) -> None:
    for header in ("id", "customer_id", "ID"):
        data = _load(_csv(tmp_path, f"{header},x\n001,1\n002,2\n003,3\n"))
        assert data.ids == ("001", "002", "003")
    own = load_dataset("table", Path("unused"), path=_csv(tmp_path, "nick,x\n007,1\n003,2\n"), id="nick")
    assert own.ids == ("007", "003")
    after_others = _csv(tmp_path, "label,colour,customer_id,x\na,u,007,1\nb,v,010,2\n")
    for ignored in (["colour"], ("colour",)):
        found = load_dataset("table", Path("unused"), path=after_others, ignore=ignored)
        assert found.ids == ("007", "010")
    for text in ("i,j,worker,label\n001,002,ann,1\n", "i,j,worker,label\n1,2,ann,1\n"):
        (tmp_path / "answers.csv").write_text(text)
        answers = read_csv_answers(tmp_path / "answers.csv", 3, data.ids)
        assert (answers.i.tolist(), answers.j.tolist()) == ([0], [1])
    (tmp_path / "answers.csv").write_text("i,j,worker,label\n0,1,ann,1\n")
    answers = read_csv_answers(tmp_path / "answers.csv", 3, data.ids)
    assert (answers.i.tolist(), answers.j.tolist()) == ([0], [1])  # rows: no item has the id 0


def test_decimal_commas_beside_words_for_nothing_and_points_between_thousands(tmp_path: Path) -> None:
    rows = ["a;80,8;2.750,75;1,5", "b;n/a;950,00;?", "c;12,5;1.000.000,5;2,25", "d;-3,25;-1.200,5;"]
    data = _load(_csv(tmp_path, "id;x;revenue;z\n" + "\n".join(rows) + "\n"))
    expected = [[80.8, 2750.75, 1.5], [np.nan, 950, np.nan], [12.5, 1000000.5, 2.25], [-3.25, -1200.5, np.nan]]
    np.testing.assert_allclose(data.features, np.array(expected, np.float32))


def test_numbers_with_zeros_in_front_are_said_to_be_codes(tmp_path: Path) -> None:
    data = _load(_csv(tmp_path, "id,postcode,x,share\n007,01234,1,0.5\n008,99999,2,0\n"))
    assert len(data.notes) == 1
    assert data.notes[0].endswith("postcodes are no measurements: 'data.ignore=[postcode]'")
    assert _load(_csv(tmp_path, "id,x,share\n007,1,0.5\n008,2,0\n")).notes == ()


def test_a_first_column_of_fractions_is_a_feature_whatever_its_name(tmp_path: Path) -> None:
    data = _load(_csv(tmp_path, "refractive_index,x\n1.51,1\n1.52,2\n1.53,3\n"))
    assert data.ids is None
    assert data.num_features == 2


def test_a_class_in_capitals_is_for_the_scores_alone(tmp_path: Path) -> None:
    data = _load(_csv(tmp_path, "ID,Label,x\nu,cat,1\nv,dog,2\n"))
    assert data.class_names == ("cat", "dog")
    assert data.features.tolist() == [[1], [2]]


def test_columns_that_say_nothing_are_named_as_the_file_has_them(tmp_path: Path) -> None:
    data = _load(_csv(tmp_path, "x,country,größe,empty,2020\n" + "".join(f"{k},DE,1,,5\n" for k in range(20))))
    line = next(line for line in odd_items(data.with_gaps_filled()) if "the same in every row" in line)
    assert line.endswith("""'data.ignore=[country,"größe",empty,"2020"]'""")


def test_words_for_nothing_are_words_in_a_spreadsheet_too(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    pd.DataFrame({"id": ["NA", "DE", "FR"], "x": [1, 2, 3]}).to_excel(tmp_path / "mine.xlsx", index=False)
    assert _load(tmp_path / "mine.xlsx").ids == ("NA", "DE", "FR")


def test_spreadsheets(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"id": ["a", "b", "c"], "x": [1.5, None, 3], "kind": ["u", "v", "u"]})
    frame.to_excel(tmp_path / "mine.xlsx", index=False)
    data = _load(tmp_path / "mine.xlsx")
    assert data.ids == ("a", "b", "c")
    np.testing.assert_array_equal(data.features, [[1.5, 1, 0], [np.nan, 0, 1], [3, 1, 0]])
    pd.DataFrame([[0, 1], [1, 2]], columns=["label", "label"]).to_excel(tmp_path / "twice.xlsx", index=False)
    with pytest.raises(UserError, match="column label: expected a name of its own"):
        _load(tmp_path / "twice.xlsx")
    pd.DataFrame().to_excel(tmp_path / "empty.xlsx", index=False)
    with pytest.raises(UserError, match="empty; expected a header"):
        _load(tmp_path / "empty.xlsx")


def test_points_of_whole_numbers_are_thousands_beside_decimal_commas(tmp_path: Path) -> None:
    data = _load(_csv(tmp_path, "id;price;share\na;2.750,75;1.5\nb;3.100;2.25\nc;950,5;n/a\n"))
    assert data.features[:, 0].tolist() == [2750.75, 3100.0, 950.5]
    assert data.features[:2, 1].tolist() == [1.5, 2.25], "no comma in this column: points are decimal"
    # A column of whole numbers alone, in a file with decimal commas; a zero in front is that of a fraction.
    data = _load(_csv(tmp_path, "id;rpm;bar;part\na;1.380;1,5;0.125\nb;915;2,25;0.250\nc;12.000;3;1.500\n"))
    assert data.features.tolist() == [[1380, 1.5, 0.125], [915, 2.25, 0.25], [12000, 3, 1.5]]


def test_a_separator_within_the_names_of_columns_is_none(tmp_path: Path) -> None:
    data = _load(_csv(tmp_path, "Länge, cm;Breite, cm;Höhe, cm\n120;310;270\n100;320;250\n"))
    assert data.features.tolist() == [[120, 310, 270], [100, 320, 250]]


def test_a_quote_that_does_not_end_is_one_line_however_much_follows(tmp_path: Path) -> None:
    rows = "".join(f"{number},2\n" for number in range(30_000))
    with pytest.raises(UserError, match=r"mine\.csv, EOF inside string") as caught:
        _load(_csv(tmp_path, f'x,y\n1,"5 inch\n{rows}'))
    assert "\n" not in str(caught.value)


def test_a_home_folder_of_nobody_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"~nobody-of-this-name/x\.csv: cannot be read: No such file"):
        _load(Path("~nobody-of-this-name/x.csv"))


def test_the_index_of_every_second_row_of_a_data_frame_has_the_ids(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pd.DataFrame({"x": np.arange(6.0)})[::2].to_parquet(tmp_path / "mine.parquet")
    assert _load(tmp_path / "mine.parquet").ids == ("0", "2", "4")


def test_ids_and_labels_of_a_spreadsheet_keep_their_zeros(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    pd.DataFrame({"id": ["007", "07"], "x": [1.5, 2.5], "label": ["1E3", "01"]}).to_excel(
        tmp_path / "mine.xlsx", index=False
    )
    data = _load(tmp_path / "mine.xlsx")
    assert (data.ids, data.class_names) == (("007", "07"), ("01", "1E3"))


def test_categories_of_few_new_rows_are_those_of_the_run(tmp_path: Path) -> None:
    """TRUE and FALSE alone would be read as truth values, 38 beside an empty cell as a fraction."""
    rows = "TRUE,S,1\nFALSE,38,2\nmaybe,M,3\nmaybe,L,4\n" * 9
    columns = _load(_csv(tmp_path, "agreed,size,x\n" + rows)).columns
    assert columns is not None
    assert [one.kind for one in columns.columns[:2]] == ["category", "category"]
    new = load_new_items(_csv(tmp_path, "agreed,size,x\nTRUE,38,1\nTRUE,S,\n"), columns.with_gaps_filled())
    assert new.features.sum(1).tolist() == [3.0, 4.5], "one of each category, and x, whose median is 2.5"
    assert new.notes == ("column x: 1 empty cells, none in the training items; replaced by their median",)


@pytest.mark.parametrize(("wrong", "said"), [("P3", "P3 occurs again in item 7"), ("", "item 7 has none")])
def test_ids_of_which_one_is_missing_or_occurs_twice_are_told_from_text(
    tmp_path: Path, wrong: str, said: str
) -> None:
    rows = [f"{wrong if row == 7 else f'P{row}'},{row / 7},{row % 3}" for row in range(60)]
    path = _csv(tmp_path, "\n".join(["code,x,y", *rows]) + "\n")
    with pytest.raises(UserError, match=f"could be ids if each item had one of its own: {said}"):
        _load(path)
    rows = [f"remark {row % 40},{row / 7}" for row in range(60)]
    with pytest.raises(UserError, match=r"40 different values in 60 rows\); leave them out"):
        _load(_csv(tmp_path, "\n".join(["remark,x", *rows]) + "\n"))
