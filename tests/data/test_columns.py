"""Tables as people have them: ids, categories, yes and no, gaps, dates and text."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from semicrowd.data.cells import CATEGORY, DATE, kind_of
from semicrowd.data.columns import Columns
from semicrowd.data.dataset import Dataset
from semicrowd.data.table import load_new_items, load_table
from semicrowd.errors import UserError
from semicrowd.settings.sources import TableSettings

MESSY = """id,region,age,member,joined,income
u-7,north,31,yes,2024-01-05,10.5
u-3,south,,no,2024-02-11,20
u-9,north,45,yes,2023-12-31,NA
u-1,west,27,no,2024-03-03,5
"""


def load(path: Path, *ignore: str) -> Dataset:
    return load_table(path.parent, TableSettings(path=path, ignore=ignore))


def written(folder: Path, text: str, name: str = "mine.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", ""], "number"), (["1", "two", "3"], "number"), ([True, False], "yes or no"),
        (["Yes", "no", ""], "yes or no"), (["a", "b", "a", "a"], "category"), (["3 May 2020", "4 May 2020"], "date"),
        (pd.to_datetime(["2020-01-01"]), "date"), ([f"text {k} of many" for k in range(50)], "text"),
    ],
)  # fmt: skip
def test_what_a_column_is(cells: list[object], kind: str) -> None:
    assert kind_of(pd.Series(cells))[0] == kind


def test_a_date_is_refused_by_name_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"joined \(a date\); leave them out with 'data.ignore=\[joined\]'"):
        load(written(tmp_path, MESSY))
    with pytest.raises(UserError, match=r"data.ignore=\[joint\]: .* has no such column"):
        load(written(tmp_path, MESSY), "joint")


@pytest.mark.parametrize("gap", ["", "unknown"])
def test_dates_written_as_numbers_are_refused_like_other_dates(tmp_path: Path, gap: str) -> None:
    text = f"x,joined\n1.5,20210119\n2.5,20201231\n3.5,{gap}\n4,19990228\n"
    with pytest.raises(UserError, match=(
        r"joined \(a date written as a number, such as 20210119\); leave them out with 'data.ignore=\[joined\]'"
    )):  # fmt: skip
        load(written(tmp_path, text))
    assert load(written(tmp_path, text), "joined").num_features == 1


@pytest.mark.parametrize(
    "cells",
    [
        [20210119, 20210229], [20210119, 20211301], [18991231, 20210119], [21010101], [20210119.5], [2021, 2022],
        [20210119, 7], [float("inf"), 20210119], [float("nan")],
    ],
)  # fmt: skip
def test_other_numbers_of_eight_digits_are_numbers(cells: list[float]) -> None:
    assert kind_of(pd.Series(cells)).name == "number"


def test_a_messy_table_is_what_one_would_make_of_it_by_hand(tmp_path: Path) -> None:
    data = load(written(tmp_path, MESSY), "joined")
    assert data.ids == ("u-7", "u-3", "u-9", "u-1")
    by_hand = pd.read_csv(tmp_path / "mine.csv").set_index("id")
    expected = pd.concat(
        [pd.get_dummies(by_hand["region"]), by_hand["age"], by_hand["member"] == "yes", by_hand["income"]], axis=1
    ).to_numpy(np.float32)
    np.testing.assert_array_equal(data.features, expected)
    filled = data.with_gaps_filled().features
    gaps = np.isnan(expected[:, [3, 5]])
    median = np.nanmedian(expected, 0)
    np.testing.assert_array_equal(filled, np.hstack([np.where(np.isnan(expected), median, expected), gaps]))
    columns = data.with_gaps_filled().columns
    assert columns is not None
    columns.write(tmp_path)
    said = pd.read_csv(tmp_path / "columns.csv", index_col="column")
    assert said["what it is"].to_dict() == {
        "id": "ids", "joined": "ignored", "region": "category", "age": "number", "member": "yes or no",
        "income": "number",
    }  # fmt: skip
    assert said["what was done"]["region"] == "3 categories, one-hot encoded: north, south, west"
    assert said["what was done"]["age"].startswith("1 empty cells replaced by the median, 31,")
    assert columns.feature_names[:4] == ["region=north", "region=south", "region=west", "age"]
    assert columns.feature_names[-2:] == ["age is empty", "income is empty"]
    assert len(columns.feature_names) == filled.shape[1]


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv", "mine.parquet"])
def test_other_separators_and_kinds_of_files_say_the_same(tmp_path: Path, name: str) -> None:
    first = load(written(tmp_path, MESSY, "first.csv"), "joined")
    path, frame = tmp_path / name, pd.read_csv(tmp_path / "first.csv")
    if name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if name.endswith("tsv") else ";", decimal=",")
    other = load(path, "joined")
    np.testing.assert_array_equal(other.features, first.features)
    assert other.ids == first.ids


def test_an_index_without_a_name_and_that_of_a_data_frame_are_ids(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=[11, 10])
    frame.to_csv(tmp_path / "mine.csv")
    frame.to_parquet(tmp_path / "mine.parquet")
    for name in ("mine.csv", "mine.parquet"):
        data = load(tmp_path / name)
        assert (data.ids, data.features.tolist()) == (("11", "10"), [[1, 3], [2, 4]])


def test_an_id_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a is the id of items 0 and 2"):
        load(written(tmp_path, "id,x\na,1\nb,2\na,3\n"))
    with pytest.raises(UserError, match="item 1, column id: empty"):
        load(written(tmp_path, "id,x\na,1\n,2\n"))


def test_of_many_columns_only_the_missing_one_is_named_with_the_nearest(tmp_path: Path) -> None:
    frame = pd.DataFrame({f"x{k}": [0.5, 1.5, 2.5] for k in range(63)} | {"tyre width": [1.5, 2.5, 4.0]})
    columns = Columns.of(frame, "X")
    with pytest.raises(UserError, match=r"^new: no column tyre width, with which the run was trained; the nearest is "):
        columns.features(frame.rename(columns={"tyre width": "tire width"}), "new", lambda *_: "", new=True)


def test_new_items_are_read_by_the_columns_names(tmp_path: Path) -> None:
    data = load(written(tmp_path, MESSY), "joined").with_gaps_filled()
    assert data.columns is not None
    data.columns.write(tmp_path)
    columns = Columns.read(tmp_path)
    assert columns == data.columns
    frame = pd.read_csv(tmp_path / "mine.csv")
    frame[frame.columns[::-1]].to_csv(tmp_path / "new.csv", index=False)
    new = load_new_items(tmp_path / "new.csv", columns)
    np.testing.assert_array_equal(new.features, data.features)
    assert new.ids == data.ids
    assert not new.notes
    frame.assign(shoes=1).to_csv(tmp_path / "new.csv", index=False)
    assert any("shoes: ignored" in note for note in load_new_items(tmp_path / "new.csv", columns).notes)
    frame.drop(columns="age").to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(UserError, match=r"no column age, with which the run was trained$"):
        load_new_items(tmp_path / "new.csv", columns)
    frame[["id"]].assign(shoes=1).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(UserError, match=f"none of the {len(columns.columns)} with which the run was trained"):
        load_new_items(tmp_path / "new.csv", columns)
    frame.assign(member="perhaps").to_csv(tmp_path / "new.csv", index=False)
    said = r"line 2, column member: perhaps; expected yes or no \(member had no and yes in the training items\)$"
    with pytest.raises(UserError, match=said):
        load_new_items(tmp_path / "new.csv", columns)
    frame.replace("west", "mars").to_csv(tmp_path / "new.csv", index=False)
    new = load_new_items(tmp_path / "new.csv", columns)
    assert new.features[3, :3].tolist() == [0, 0, 0]
    assert any("mars is not among the categories" in note for note in new.notes)


def test_a_feature_called_label_stays_one_in_new_items_where_another_column_has_the_classes(tmp_path: Path) -> None:
    path = written(tmp_path, "label,x,species\n1,5,a\n2,6,b\n4,7,a\n")
    data = load_table(path, TableSettings(path=path, label="species"))
    assert data.columns is not None
    np.testing.assert_array_equal(load_new_items(path, data.columns).features, data.features)


def test_columns_of_a_run_that_are_none_are_refused(tmp_path: Path) -> None:
    assert Columns.read(tmp_path) is None
    (tmp_path / "columns.json").write_text("{}")
    with pytest.raises(UserError, match="not the columns of a run"):
        Columns.read(tmp_path)


def test_pandas_own_missing_values_are_gaps(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [True, False, True], "c": ["x", "y", "x"]}).convert_dtypes()
    frame.loc[1] = pd.NA
    frame["d"] = [0.5, 1.5, 2.5]
    frame.to_parquet(tmp_path / "mine.parquet")
    features = load(tmp_path / "mine.parquet").features
    np.testing.assert_array_equal(features[:, [0, 1, 4]], [[1, 1, 0.5], [np.nan, np.nan, 1.5], [3, 1, 2.5]])
    assert features[:, 2:4].tolist() == [[0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize("cells", [("1-9", "10-49", "50+"), ("1/2", "1/4", "1/8"), ("T1", "T2", "T3"), ("A1", "B2")])
def test_categories_that_a_lenient_reader_takes_for_dates(cells: tuple[str, ...]) -> None:
    assert kind_of(pd.Series([*cells] * 10))[0] == CATEGORY


@pytest.mark.parametrize(
    "cells", [("2026-11-27", "27.11.2026"), ("Jan 5", "12 March"), ("12:30", "7:05"), ("1/2/26", "3/4/26")]
)
def test_dates_are_no_categories(cells: tuple[str, ...]) -> None:
    assert kind_of(pd.Series([*cells] * 10))[0] == DATE


@pytest.mark.parametrize(
    "word",
    ["k.A.", "k. A.", "keine Angabe", "unbekannt", "unknown", "Missing", "not available", "-", "--", "?", "n.v."],
)
def test_words_for_nothing_among_numbers_are_gaps_that_are_told(tmp_path: Path, word: str) -> None:
    path = written(tmp_path, f"age,kind\n31,a\n{word},b\n45,a\n,b\n")
    columns = load(path).with_gaps_filled().columns
    assert columns is not None
    assert np.isnan(load(path).features[:, 0]).tolist() == [False, True, False, True]
    assert columns.table()[0] == (
        "age", "number",
        f"2 empty cells (also {word}) replaced by the median, 38, and marked in a further feature (1: empty)",
    )  # fmt: skip
    columns.write(tmp_path)
    assert Columns.read(tmp_path) == columns


def test_among_categories_a_word_for_nothing_is_one_of_them(tmp_path: Path) -> None:
    data = load(written(tmp_path, "x,colour\n1,red\n2,unknown\n3,red\n4,blue\n5,unknown\n6,blue\n"))
    assert data.columns is not None
    assert data.columns.feature_names == ["x", "colour=blue", "colour=red", "colour=unknown"]
    assert not data.missing
    assert kind_of(pd.Series(["none", "unknown", "none"]))[0] == CATEGORY
