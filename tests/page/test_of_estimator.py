"""``write_report``: the page of a run, from an estimator that was fitted in Python."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import semicrowd
from semicrowd import MCVC, CoTraining, KMeansOnly, UserError, write_report

#: It does not matter here in how many parts a candidate is fitted again.
pytestmark = pytest.mark.usefixtures("quick_cotraining")


def people() -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Items with an id, a category and a gap; their classes; answers about them by their ids."""
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 3
    table = pd.DataFrame({
        "id": [f"person {number}" for number in range(60)], "age": kind * 20 + rng.normal(30, 2, 60),
        "income": kind * 5 + rng.normal(0, 1, 60), "region": np.array(["north", "south", "<west>"])[kind],
    })  # fmt: skip
    table.loc[7, "age"] = np.nan
    i = rng.integers(60, size=300)
    j = (i + rng.integers(1, 60, size=300)) % 60
    answers = pd.DataFrame({
        "i": table["id"].to_numpy()[i], "j": table["id"].to_numpy()[j], "worker": np.array(["Ann", "Bo"])[i % 2],
        "label": np.where(kind[i] == kind[j], "same", "different"),
    })  # fmt: skip
    return table, kind, answers


@pytest.mark.filterwarnings("ignore:X. column id is taken")
def test_it_names_items_columns_people_and_scores(tmp_path: Path) -> None:
    table, kind, answers = people()
    model = CoTraining(random_state=0).fit(table, answers)
    page = write_report(model, table, answers, tmp_path / "page.html", labels=np.array(["a", "b", "c"])[kind])
    text = page.read_text()
    for expected in ("CoTraining", "person 7", "age", "Ann", "Bo", "300 of 2 annotators", "accuracy 1.000"):
        assert expected in text, expected
    assert "<west>" not in text
    assert f"{model.n_clusters_} clusters with at least one item" in text


@pytest.mark.filterwarnings("ignore:X. column id is taken")
def test_new_items_are_called_by_the_column_that_gave_the_ids_in_the_fit() -> None:
    table, _, answers = people()
    model = semicrowd.BayesSCDC(random_state=0, epochs=0, init="mixture").fit(table, answers)
    new = table.iloc[::-1].reset_index(drop=True)  # the numbers of the rows are others
    assert (model.predict(new, answers) == model.predict(table, answers)[::-1]).mean() > 0.9
    assert np.allclose(model.predict_proba(new, answers), model.predict_proba(table, answers)[::-1], atol=1e-3)


def test_a_method_without_answers_and_an_array_have_a_page(tmp_path: Path) -> None:
    features = np.repeat([[0.0, 0.0], [9.0, 1.0]], 10, axis=0) + np.random.default_rng(1).normal(size=(20, 2))
    page = write_report(KMeansOnly(n_clusters=2, random_state=0).fit(features), features, path=tmp_path / "page.html")
    assert "2 clusters with at least one item" in page.read_text()
    with pytest.raises(UserError, match="X: "):
        write_report(KMeansOnly(n_clusters=2).fit(features), features[::-1], path=tmp_path / "page.html")
    with pytest.raises(UserError, match="pairs"):  # that the fit did not have
        write_report(KMeansOnly(n_clusters=2).fit(features), features, [(0, 1, "a", 1)], tmp_path / "page.html")


def test_questions_are_written_beside_the_page(tmp_path: Path) -> None:
    table, _, answers = people()
    table = table.set_index("id").drop(columns=["region"]).dropna()
    answers = answers[answers[["i", "j"]].isin(table.index).all(axis=1)]
    model = KMeansOnly(n_clusters=3, random_state=0).fit(table, pairs=answers)
    page = write_report(model, table, answers, tmp_path / "page.html", questions=tmp_path / "ask.csv")
    asked = pd.read_csv(tmp_path / "ask.csv")
    ends = [f"{name} ({end})" for name in ("age", "income") for end in "ij"]
    assert list(asked) == ["i", "j", "worker", "label", *ends]
    assert set(asked["i"]) | set(asked["j"]) <= set(table.index)
    assert "ask.csv" in page.read_text(encoding="utf-8")
    asked.assign(worker="Ann", label="same").to_csv(tmp_path / "ask.csv", index=False)
    KMeansOnly(n_clusters=3).fit(table, pairs=[tmp_path / "ask.csv"])


@pytest.fixture(scope="module")
def fitted() -> tuple[MCVC, np.ndarray, list[tuple[int, int, str, int]]]:
    """A model, and the items and answers of its fit."""
    features = np.repeat([[0.0, 0.0], [9.0, 1.0]], 10, axis=0) + np.random.default_rng(1).normal(size=(20, 2))
    answers = [(0, 1, "a", 1), (0, 11, "a", 0), (2, 12, "b", 0), (12, 13, "b", 1)]
    return MCVC(n_clusters=2, random_state=0).fit(features, answers), features, answers


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"X": np.zeros((9, 2))}, "X"),
        ({"pairs": None}, "pairs"),
        ({"pairs": [(0, 1, "a", 1), (1, 2, "c", 0)]}, "pairs"),
        ({"labels": [0, 1]}, "labels"),
        ({"path": f"{__file__}/page.html"}, "page.html"),
    ],
)  # fmt: skip
def test_what_is_not_of_the_fit_is_refused(
    more: dict[str, object], expected: str, fitted: tuple[MCVC, np.ndarray, list[tuple[int, int, str, int]]]
) -> None:
    model, features, answers = fitted
    with pytest.raises(UserError, match=expected):
        write_report(model, **{"X": features, "pairs": answers, **more})
