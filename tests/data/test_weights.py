"""``data.weight``: a column of a table with weights of its items."""

import re
from functools import partial
from pathlib import Path

import pytest
from tests.answer_files import written

from semicrowd.data import load_dataset
from semicrowd.data.odd_items import odd_items
from semicrowd.errors import UserError

_csv = partial(written, name="mine.csv")


def test_a_column_of_weights_is_no_feature_and_unusual_ones_are_said(tmp_path: Path) -> None:
    rows = "".join(f"u{k},{k % 3}.5,{100 if k == 0 else k % 2}\n" for k in range(12))
    data = load_dataset("table", Path("unused"), path=_csv(tmp_path, "id,x,w\n" + rows), weight="w")
    assert data.num_features == 1
    assert data.weights is not None
    assert data.weights.tolist() == [100, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
    said = " ".join(odd_items(data))
    assert "12 items say as much as 1 of equal weight; the largest is 94%" in said
    assert "5 items have weight 0" in said


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (("1", "-2", "1"), "line 3, column w: -2; expected a weight"),
        (("1", "", "1"), "line 3, column w: empty; expected a weight"),
        (("1", "many", "1"), "line 3, column w: many; expected a weight"),
        (("0", "0", "0"), "column w: all weights are 0"),
    ],
)
def test_other_weights_are_refused_where_they_stand(tmp_path: Path, cells: tuple[str, ...], said: str) -> None:
    path = _csv(tmp_path, "x,w\n" + "".join(f"{k}.5,{cell}\n" for k, cell in enumerate(cells)))
    with pytest.raises(UserError, match=re.escape(said)):
        load_dataset("table", Path("unused"), path=path, weight="w")
