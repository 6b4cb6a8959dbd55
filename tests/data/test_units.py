"""Numbers with units: what is removed, what is refused, and what is something else."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from semicrowd.data.cells import CATEGORY, DATE, NUMBER, TEXT, UNITS, kind_of
from semicrowd.data.columns import Columns
from semicrowd.data.dataset import Dataset
from semicrowd.data.table import load_new_items, load_table
from semicrowd.errors import UserError
from semicrowd.settings.sources import TableSettings


def load(folder: Path, text: str, name: str = "mine.csv") -> Dataset:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return load_table(folder, TableSettings(path=path))


@pytest.mark.parametrize(
    ("cells", "values", "unit"),
    [
        (["12,1 kW", "9 kW", "13,25 kW"], [12.1, 9, 13.25], "kW"),
        (["45 %", "5%", "100 %"], [45, 5, 100], "%"),
        (["3.5kg", "4kg", "0.125 KG"], [3.5, 4, 0.125], "kg"), (["5 mm", "7 mm", "6 MM"], [5, 7, 6], "mm"),
        (["€ 12.50", "€3", "4.25 €"], [12.5, 3, 4.25], "€"),
        (["1.234,5 €", "1.234 €", "17 €"], [1234.5, 1234, 17], "€"),
        (["$1,234.50", "$1,234", "$17"], [1234.5, 1234, 17], "$"),
        (["1 234 567 m²", "12 m²", "-3 m²"], [1234567, 12, -3], "m²"),
        (["1'234 CHF", "CHF 12"], [1234, 12], "CHF"),
        (["5 Std.", "6 Std", "0"], [5, 6, 0], "Std"),
        (["1.234 l/100km", "7.9 l/100km"], [1.234, 7.9], "l/100km"),
    ],
)  # fmt: skip
def test_a_unit_that_all_cells_have_is_removed(
    tmp_path: Path, cells: list[str], values: list[float], unit: str
) -> None:
    data = load(tmp_path, "x;y\n" + "".join(f"{k}.5;{cell}\n" for k, cell in enumerate(cells)))
    np.testing.assert_allclose(data.features[:, 1], values, rtol=1e-6)
    assert data.columns is not None
    assert not data.columns.plain
    assert data.columns.table()[1] == ("y", "number", f"unit {unit} removed")


def test_a_column_with_a_unit_may_have_gaps_and_few_cells_without_it() -> None:
    cells = pd.Series([*[f"{k} kW" for k in range(1, 20)], "20", "k.A.", ""])
    columns = Columns.of(cells.to_frame("power"), "X").with_gaps_filled()
    features, _ = columns.features(cells.to_frame("power"), "X", lambda row, name: f"{row} {name}")
    assert features[:20, 0].tolist() == list(range(1, 21))
    assert columns.table() == [(
        "power", "number", "unit kW removed; 2 empty cells (also k.A.) replaced by the median, 10.5, and marked in a "
        "further feature (1: empty)",
    )]  # fmt: skip


@pytest.mark.parametrize("rows", ['x,price\n{}.5,"{}"\n', "x;price\n{},5;{}\n"])
@pytest.mark.parametrize(("bare", "value"), [("1.234", 1234), ("1.234,5", 1234.5), ("12,345", 12.345), ("7.5", 7.5)])
def test_a_number_without_unit_is_written_as_those_with_one(
    tmp_path: Path, rows: str, bare: str, value: float
) -> None:
    """In a file with decimal commas, too, where pandas reads numbers in other columns."""
    header, row = rows.splitlines(keepends=True)
    cells = [*(f"{k}.{100 + k},25 €" for k in range(1, 20)), bare]
    data = load(tmp_path, header + "".join(row.format(k, cell) for k, cell in enumerate(cells)))
    np.testing.assert_allclose(data.features[[0, -1], 1], [1101.25, value])


def test_numbers_of_a_spreadsheet_beside_texts_are_what_they_are() -> None:
    cells = pd.Series([f"1.{k} €" for k in range(100, 120)] + ["2,5 €", 1.234, 7], dtype=object)
    features, _ = Columns.of(cells.to_frame("price"), "X").features(cells.to_frame("price"), "X", lambda *_: "")
    assert features[[0, -3, -2, -1], 0].tolist() == [1100, 2.5, 1.234, 7]


def test_new_items_may_have_the_unit_or_not_but_no_other(tmp_path: Path) -> None:
    data = load(tmp_path, 'x,power\n1,"12,1 kW"\n2,"9,5 kW"\n3,"1,125 kW"\n')
    np.testing.assert_allclose(data.features[:, 1], [12.1, 9.5, 1.125])
    assert data.columns is not None
    data.columns.write(tmp_path)
    columns = Columns.read(tmp_path)
    assert columns == data.columns
    new = tmp_path / "new.csv"
    new.write_text('x,power\n1,"1,125 kW"\n2,9.5\n')  # what the first means is known from the fit
    np.testing.assert_allclose(load_new_items(new, columns).features[:, 1], [1.125, 9.5])
    new.write_text("x,power\n1,900 W\n")
    with pytest.raises(UserError, match=r"line 2, column power: 900 W; expected a number \(power in kW\)$"):
        load_new_items(new, columns)


@pytest.fixture
def euros(tmp_path: Path) -> Columns:
    """Columns of a fit with a decimal comma, and points between thousands."""
    columns = load(tmp_path, 'x,price\n1,"€ 1.234,00"\n2,"€ 99,50"\n3,"€ 2.750,25"\n').columns
    assert columns is not None
    return columns


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1234.50", "99.9"], [1234.5, 99.9]),  # a point in front of two digits, or one, is the decimal sign
        (["1.234", "2.750"], [1234, 2750]),  # without the unit as with it
        (["€ 1.234", "1.234,50"], [1234, 1234.5]), (["1234.50", "1.234,00"], [1234.5, 1234]),
        (["1,234", "999"], [1.234, 999]), ([".5", "€ 7"], [0.5, 7]),
    ],
)  # fmt: skip
def test_new_items_without_unit_are_read_as_in_the_fit(
    tmp_path: Path, euros: Columns, cells: list[str], values: list[float]
) -> None:
    new = tmp_path / "new.csv"
    new.write_text("x,price\n" + "".join(f'1,"{cell}"\n' for cell in cells))
    np.testing.assert_allclose(load_new_items(new, euros).features[:, 1], values)


def test_a_number_of_new_items_that_has_two_meanings_is_refused(tmp_path: Path, euros: Columns) -> None:
    new = tmp_path / "new.csv"
    new.write_text("x,price\n1,1234.50\n2,2.750\n")
    with pytest.raises(UserError, match=(
        r"line 3, column price: 2\.750 has two meanings: another cell of the column has a decimal point, but numbers "
        r"are read with a decimal comma, as in the fit; expected one way of writing$"
    )):  # fmt: skip
        load_new_items(new, euros)
    frame = pd.DataFrame({"x": [1.0, 2.0], "price": [1234.5, 2.75]})  # numbers already
    assert euros.features(frame, "X", lambda *_: "", new=True)[0][:, 1].tolist() == [1234.5, 2.75]


@pytest.mark.parametrize(
    ("cells", "examples"),
    [
        (["5 mW", "6 mW", "7 MW"], "5 mW, 7 MW"),
        (["12 kW", "900 W", "3 kW", "4 kW"], "12 kW, 900 W"), (["5kg", "250g", "1kg"], "5kg, 250g"),
        (["5 kg", "6", "7 kg", "8 kg"], "5 kg, 6"), (["€ 5", "6 $"], "€ 5, 6 $"),
    ],
)  # fmt: skip
def test_different_units_are_refused_by_name_with_the_way_out(
    tmp_path: Path, cells: list[str], examples: str
) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, "power,x\n" + "".join(f"{cell},1.5\n" for cell in cells))
    assert str(caught.value).endswith(
        f"cannot be converted to features: power (numbers with different units, or with and without one: {examples}; "
        "use one unit); leave them out with 'data.ignore=[power]', or replace them by numbers"
    )


def test_a_number_that_has_two_meanings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"mass \(numbers with unit kg; 1,234 kg may have a decimal sign or one bet"):
        load(tmp_path, 'x,mass\n1,"1,234 kg"\n2,"7,125 kg"\n')
    data = load(tmp_path, 'x,mass\n1,"1,234 kg"\n2,"7,125,000 kg"\n')
    assert data.features[:, 1].tolist() == [1234, 7125000]
    data = load(tmp_path, "x,price\n1,1.500 €\n2,999 €\n3,1.000.000 €\n")
    assert data.features[:, 1].tolist() == [1500, 999, 1000000]
    with pytest.raises(UserError, match=r"1\.234 € may have a decimal sign or one between thousands"):
        load(tmp_path, 'x,price\n1,1.234 €\n2,"12,50 €"\n3,12.50 €\n')
    with pytest.raises(UserError, match=(
        r"price \(1,234 may have a decimal sign or one between thousands\); say which with data\.decimal=point or "
        r"data\.decimal=comma, or leave them out with 'data\.ignore=\[price\]'$"
    )):  # fmt: skip
        load(tmp_path, 'x,price\n1,999\n2,"1,234"\n3,"2,345"\n')
    with pytest.raises(UserError, match=(
        r"price \(.*\), day \(a date\); say which with data\.decimal=point or data\.decimal=comma; leave the others "
        r"out with 'data\.ignore=\[day\]', or replace them by numbers$"
    )):  # fmt: skip
        load(tmp_path, 'price,day\n999,2024-01-01\n"1,234",2024-01-02\n"2,345",2024-02-03\n')
    with pytest.raises(UserError, match=r"thousands\); convert them to numbers with pandas, or leave them"):
        Columns.of(pd.DataFrame({"price": ["1,234", "999", "2,345"]}), "X")
    with pytest.raises(UserError, match=r"10\.000 € may have a decimal sign or one between thousands"):
        load(tmp_path, "x,price\n1,10.000 €\n2,950 €\n3,12.500 €\n")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1st", "2nd", "3rd", "1st"], CATEGORY), (["5A", "5B", "6A", "5A"], CATEGORY),
        (["18-25 years", "26-40 years", "18-25 years"], CATEGORY), (["10W-40", "5W-30", "10W-40"], CATEGORY),
        (["12 May", "13 May", "14 May"], DATE), (["12 Main Street", "5 Oak Road", "7 High Street"], TEXT),
        (["3/5 cm", "4/5 cm", "1/5 cm"], TEXT), (["W048", "W159", "W161"], TEXT),
        (["12 kW", "nice", "cheap", "good"], TEXT), (["5 years", "10 years", "5 years"], NUMBER),
        (["5 kg", "10 kg", "5 kg"], NUMBER), (["−5 °C", "3 °C"], NUMBER), (["2000 t", "1500 t", "1999 t"], NUMBER),
        (["512 GB", "1 TB", "256 GB"] * 5, CATEGORY), (["2 rooms", "3 rooms"] * 10 + ["studio"], CATEGORY),
        (["5'11\"", "6'1\""] * 5, CATEGORY),
        ([f"{feet}'{inch}\"" for feet in (4, 5, 6) for inch in range(12)], TEXT),
        (["1A", "2A", "3A"] * 4, CATEGORY), (["10 am", "9 am"] * 4, CATEGORY),
        (["4th grade", "5th grade"] * 4, CATEGORY), (["12 Main St", "14 Main St"] * 4, CATEGORY),
        (["5 kg", "10 kg", "20 kg"] * 5 + ["7"], NUMBER), (["5 kg", "10 kg"] * 5 + ["?"] * 3, NUMBER),
        (["n/a", "NaN", "n/a", ""] * 5, NUMBER), (["-", "?"] * 4, NUMBER), (["none", "unknown"] * 4, CATEGORY),
        (["1.500 €", "12.000 €", "999 €", "1.000.000 €"], NUMBER), (["10.000 €", "950 €", "12.500 €"], UNITS),
    ],
)  # fmt: skip
def test_what_is_no_number_with_a_unit(cells: list[str], kind: str) -> None:
    assert kind_of(pd.Series(cells)).name == kind


def test_a_first_column_of_numbers_with_a_letter_has_the_ids_and_one_of_weights_has_not(tmp_path: Path) -> None:
    assert load(tmp_path, "flat,x\n12a,1\n13a,2\n14a,3\n").ids == ("12a", "13a", "14a")
    for ids in (("1.1a", "1.2a"), ("007 a", "008 a"), ("1 Paris", "2 Paris"), ("12m", "13m")):
        assert load(tmp_path, "flat,x\n" + "".join(f"{name},{k}\n" for k, name in enumerate(ids))).ids == ids
    assert load(tmp_path, "share,x\n45%,1\n50%,2\n").ids is None
    data = load(tmp_path, "mass,x\n12kg,1\n13kg,2\n14kg,3\n")
    assert (data.ids, data.features[:, 0].tolist()) == (None, [12, 13, 14])
