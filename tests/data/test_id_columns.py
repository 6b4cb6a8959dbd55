"""Columns of ids as people have them: wherever they stand, they are no features, and what looks like them is named."""

from functools import partial
from pathlib import Path

import pytest
from tests.answer_files import written

from semicrowd.data import Dataset, load_dataset
from semicrowd.data.odd_items import odd_items
from semicrowd.data.table import load_new_items

_csv = partial(written, name="mine.csv")


def _load(path: Path) -> Dataset:
    return load_dataset("table", Path("unused"), path=path)


@pytest.mark.parametrize("name", ["customer_id", "orderNo", "Kunden-Nr", "item number", "sort.key", "ID", "customerID"])
def test_a_column_that_is_called_as_ids_are_has_them_wherever_it_is(tmp_path: Path, name: str) -> None:
    data = _load(_csv(tmp_path, f"x,y,{name}\n1,5,040\n2,6,7\n2,7,39\n"))
    assert (data.ids, data.features.tolist()) == (("040", "7", "39"), [[1, 5], [2, 6], [2, 7]])
    same = _load(_csv(tmp_path, f"x,y,{name}x\n1,5,040\n2,6,7\n2,7,39\n"))
    assert (same.ids, same.num_features) == (None, 3)


def test_a_column_that_is_called_as_ids_are_is_a_feature_if_its_values_are_not_distinct(tmp_path: Path) -> None:
    for cells in ("4 4 5", "4.5 5 6"):
        rows = "".join(f"{k},{cell}\n" for k, cell in enumerate(cells.split()))
        assert _load(_csv(tmp_path, f"x,shop_no\n{rows}")).num_features == 2
    assert _load(_csv(tmp_path, "x,body_mass_index\n1,20\n2,30\n")).ids is None


def test_further_columns_of_ids_are_left_out_and_said(tmp_path: Path) -> None:
    path = _csv(tmp_path, "id,order_no,x,y\na,17,1,3\nb,4,2,4\n")
    data = _load(path)
    assert (data.ids, data.features.tolist()) == (("a", "b"), [[1, 3], [2, 4]])
    assert data.columns is not None
    said = {name: done for name, _, done in data.columns.table()}
    assert said["order_no"].startswith("further ids, no feature")
    new = load_new_items(path, data.columns)
    assert (new.num_features, new.notes) == (2, ())


@pytest.mark.parametrize("numbers", [range(10_000, 70_000, 1_001), [(k * 17) % 60 for k in range(60)]])
def test_other_columns_that_look_like_ids_are_named(tmp_path: Path, numbers: list[int]) -> None:
    rows = [f"{number},{number % 7},{number / 4}" for number in numbers]
    data = _load(_csv(tmp_path, "\n".join(["Kunde,x,y", *rows]) + "\n"))
    assert data.num_features == 3
    (line,) = (line for line in odd_items(data) if "Kunde" in line)
    assert line.startswith("column Kunde: a different whole number in every row, and a feature; if these are ids")
    assert "data.id=Kunde names" in line
    assert "'data.ignore=[Kunde]' leaves" in line
    few = _load(_csv(tmp_path, "\n".join(["Kunde,x,y", *rows[:20]]) + "\n"))
    assert not any("Kunde" in line for line in odd_items(few))
