"""Numbers without units that have signs between thousands or decimal commas: what decides which ones these are."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from semicrowd.data.cells import NUMBER, kind_of
from semicrowd.data.columns import Columns
from semicrowd.data.dataset import Dataset
from semicrowd.data.table import load_new_items, load_table
from semicrowd.errors import UserError
from semicrowd.settings.sources import TableSettings

_NOT_CLEAR = "may have a decimal sign or one between thousands"


def load(folder: Path, text: str, decimal: str | None = None) -> Dataset:
    path = folder / "mine.csv"
    path.write_text(text, encoding="utf-8")
    return load_table(folder, TableSettings(path=path, decimal=decimal))


def rows(*columns: list[str], separator: str = ",") -> str:
    """A file with a column of whole numbers and these columns, y and z."""
    header = separator.join(["x", "y", "z"][: 1 + len(columns)])
    quoted = ([f'"{cell}"' for cell in row] for row in zip(*columns, strict=True))
    return "\n".join([header, *(separator.join([str(k), *row]) for k, row in enumerate(quoted))]) + "\n"


@pytest.mark.parametrize(
    ("cells", "values", "done"),
    [
        (["1,234", "1,013,934", "7"], [1234, 1013934, 7], "decimal point"),
        (["1,234", "1,234.5", "7"], [1234, 1234.5, 7], "decimal point"),
        (["1,234", "0,5", "7"], [1.234, 0.5, 7], "decimal comma"),
        (["1,234", "12,34", "700"], [1.234, 12.34, 700], "decimal comma"),
        (["1.234", "1.234,50", "7"], [1234, 1234.5, 7], "decimal comma"),
        (["1.234", "1.234.567", "999"], [1234, 1234567, 999], "decimal comma"),
        (["1 234", "12 345,5", "999"], [1234, 12345.5, 999], "decimal comma"),
        (["1'234", "1'234'567", ".5"], [1234, 1234567, 0.5], "decimal point"),
    ],
)
@pytest.mark.parametrize("separator", [",", ";"])
def test_a_cell_with_one_meaning_decides_for_its_column(
    tmp_path: Path, cells: list[str], values: list[float], done: str, separator: str
) -> None:
    data = load(tmp_path, rows(cells, separator=separator))
    np.testing.assert_allclose(data.features[:, 1], values, rtol=1e-6)
    assert data.columns is not None
    converted = data.columns.columns[1]
    assert converted.unit is None or data.columns.table()[-1] == ("y", "number", done)  # None: read by pandas


def test_few_different_numbers_are_no_categories() -> None:
    assert kind_of(pd.Series(["0,5", "1,5", "2,5"] * 10)).name == NUMBER


@pytest.mark.parametrize(
    ("other", "values", "done"),
    [
        (["20.2 kg", "7 kg", "9 kg"], [1456, 381, 1295], "decimal point, as in z"),
        (["20.2", "7", "9"], [1456, 381, 1295], "decimal point, as in z"),
        (["20,2 kg", "7 kg", "9 kg"], [1.456, 381, 1.295], "decimal comma, as in z"),
    ],
)
def test_other_columns_decide_if_no_cell_of_the_column_does(
    tmp_path: Path, other: list[str], values: list[float], done: str
) -> None:
    for mark in ("", "€ "):
        data = load(tmp_path, rows([f"{mark}1,456", f"{mark}381", f"{mark}1,295"], other))
        np.testing.assert_allclose(data.features[:, 1], values)
        assert data.columns is not None
        name, _, said = data.columns.table()[1]
        assert (name, said) == ("y", f"{mark and 'unit € removed; '}{done}")


def test_other_columns_that_disagree_or_are_unclear_decide_nothing(tmp_path: Path) -> None:
    for others in (["1.456", "2.295", "3.111"], ["20.2", "20,2", "7"]):
        with pytest.raises(UserError, match=rf"y \(1,456 {_NOT_CLEAR}\).*; say which with data\.decimal=point or"):
            load(tmp_path, rows(["1,456", "381", "1,295"], others))
    text = "x,y,z\n" + "".join(f'{x},"{y}","{z}"\n' for x, y, z in (("2.5 m", "1,456", "2,5 s"), ("3 m", "7", "1 s")))
    with pytest.raises(UserError, match=_NOT_CLEAR):
        load(tmp_path, text)
    with pytest.raises(UserError, match=_NOT_CLEAR):  # a semicolon does not say it either
        load(tmp_path, "x;y\n1;1,456\n2;381\n3;1,295\n")


@pytest.mark.parametrize(("sign", "value"), [("point", 1456), ("comma", 1.456)])
@pytest.mark.parametrize("mark", ["", "€ "])
@pytest.mark.parametrize("separator", [",", ";"])
def test_the_user_says_which_sign_it_is_and_new_items_are_read_alike(
    tmp_path: Path, sign: str, value: float, mark: str, separator: str
) -> None:
    text = rows([f"{mark}1,456", f"{mark}381", f"{mark}1,295"], separator=separator)
    data = load(tmp_path, text, decimal=sign)
    np.testing.assert_allclose(data.features[0, 1], value)
    assert data.columns is not None
    data.columns.write(tmp_path)
    columns = Columns.read(tmp_path)
    assert columns == data.columns
    assert columns.columns[1].unit is None or f"decimal {sign}, data.decimal={sign}" in columns.table()[-1][2]
    new = tmp_path / "new.csv"
    new.write_text(rows([f"{mark}1,456"], separator=separator), encoding="utf-8")
    np.testing.assert_allclose(load_new_items(new, columns).features[:, 1], [value])


def test_points_are_between_thousands_where_the_user_says_comma_but_not_against_clear_cells(tmp_path: Path) -> None:
    data = load(tmp_path, rows(["1.456", "381", "1.295"], ["1,234", "1,234,567", "5"]), decimal="comma")
    assert data.features[:, 1:].tolist() == [[1456, 1234], [381, 1234567], [1295, 5]]
    cells = pd.DataFrame({"y": ["1.456", "381", "1.295"]})  # texts of a spreadsheet
    columns = Columns.of(cells, "mine.xlsx", decimal="comma")
    assert columns.features(cells, "mine.xlsx", lambda *_: "")[0][:, 0].tolist() == [1456, 381, 1295]


def test_a_word_among_such_numbers_is_named_and_other_texts_stay_what_they_are(tmp_path: Path) -> None:
    cells = [f"{k},{100 + k}.5" for k in range(1, 20)]
    with pytest.raises(UserError, match=r"line 21, column y: cheap; expected a number; correct all such cells"):
        load(tmp_path, rows([*cells, "cheap"]))
    with pytest.raises(UserError, match="y \\(numbers with signs between thousands or decimal commas, such as 0171"):
        load(tmp_path, rows(["0171 234 567", "0172 345 678", "0173 456 789"]))


def test_points_of_whole_numbers_mean_in_new_items_what_they_mean_in_the_fit(tmp_path: Path) -> None:
    """New items without a single decimal comma: their file alone does not say that 2.900 is 2900."""
    data = load(tmp_path, "x;y;z\n3,5;2.754;8\n4,5;900;9\n")
    np.testing.assert_allclose(data.features, [[3.5, 2754, 8], [4.5, 900, 9]])
    assert any("points are between thousands" in note for note in data.notes)
    assert data.columns is not None
    (tmp_path / "new.csv").write_text("x;y;z\n3;2.900;7\n4;5.100;7\n")
    new = load_new_items(tmp_path / "new.csv", data.columns)
    np.testing.assert_allclose(new.features, [[3, 2900, 7], [4, 5100, 7]])


def test_points_that_may_be_between_thousands_are_not_guessed(tmp_path: Path) -> None:
    """In a file whose cells are separated by semicolons, as where the comma is the decimal sign."""
    text = "x;y\n1;102\n2;2.440\n3;3.102\n"
    with pytest.raises(UserError, match=rf"y \(2.440 {_NOT_CLEAR}\); say which with data.decimal=point or"):
        load(tmp_path, text)
    np.testing.assert_allclose(load(tmp_path, text, "comma").features[:, 1], [102, 2440, 3102])
    np.testing.assert_allclose(load(tmp_path, text, "point").features[:, 1], [102, 2.44, 3.102], rtol=1e-6)
    beside = "x;y\n1.5;102\n2.5;2.440\n3.5;3.102\n"  # x has decimal points
    np.testing.assert_allclose(load(tmp_path, beside).features[:, 1], [102, 2.44, 3.102], rtol=1e-6)
    np.testing.assert_allclose(load(tmp_path, text.replace(";", ",")).features[:, 1], [102, 2.44, 3.102], rtol=1e-6)
