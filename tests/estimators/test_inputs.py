"""Items and answers as a person has them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.estimators.inputs import checked_answers, labels_alone, names_of_rows
from semicrowd.estimators.persistence import load
from semicrowd.methods.constrained_kmeans import ConstrainedKMeans
from semicrowd.methods.cotraining import CoTraining
from semicrowd.methods.unsupervised import KMeansOnly

ROWS = [(0, 1, 7, 1, 3), (1, 2, 7, 0, 3), (0, 3, 12, 1, 9)]


def _is(answers: PairAnnotations | None, **expected: Any) -> None:
    expected = {"i": [0, 1, 0], "j": [1, 2, 3], "worker": [0, 0, 1], "label": [1, 0, 1], **expected}
    for name, values in expected.items():
        assert np.asarray(getattr(answers, name)).tolist() == values, name


TABLE, PAIRS = np.array(ROWS), pd.DataFrame(ROWS, columns=["i", "j", "worker", "label", "task"])
LETTERS, TASKS, NUMBERED = ("a", "b", "c", "d"), {"task": [0, 0, 1]}, {"worker_names": ["7", "12"]}


@pytest.mark.parametrize(
    ("pairs", "names", "expected"),
    [
        (TABLE, None, TASKS | NUMBERED), (ROWS, None, TASKS), (TABLE.astype(float), None, NUMBERED),
        (TABLE[:, :4], None, {}), (TABLE[:, [0, 1, 3]], None, {"worker": [0, 0, 0], "worker_names": ["everybody"]}),
        (PAIRS, None, TASKS | NUMBERED),
        (PAIRS.assign(worker=["eve", "eve", "Özil"], note="x")[["note", "label", "worker", "j", "i"]], None,
         {"worker_names": ["eve", "Özil"]}),
        ([(3, 2, 7, "same"), (2, 1, 7, "different"), (3, 0, 12, "same")], ("3", "2", "1", "0"), {}),
        ([("a", "b", "e", 1), ("b", "c", "e", 0), ("a", "d", "f", 1)], LETTERS, {}),
        (pd.DataFrame({"item": ["a", "b", "c"], "worker": "e", "group": ["x", "x", "y"]}), LETTERS,
         {"i": [0, 0, 1], "j": [1, 2, 2], "worker": [0] * 3, "label": [1, 0, 0]}),
    ],
)  # fmt: skip
def test_arrays_and_frames_of_answers(pairs: Any, names: tuple[str, ...] | None, expected: dict[str, Any]) -> None:
    _is(checked_answers(pairs, 4, names), **expected)


def test_names_of_rows_and_files_of_answers(tmp_path: Path) -> None:
    assert names_of_rows(np.zeros((2, 1))) is None
    assert names_of_rows(pd.DataFrame({"x": range(4)}, index=[3, 2, 1, 0])) == ("3", "2", "1", "0")
    PAIRS.to_csv(tmp_path / "answers.csv", index=False)
    _is(checked_answers(str(tmp_path / "answers.csv"), 4), **TASKS)
    answers = checked_answers(tmp_path / "answers.csv", 4)
    assert checked_answers(answers, 4) is answers
    assert checked_answers(None, 4) is None
    assert checked_answers(TABLE[:, :4], 4).task is None


def test_labels_are_not_taken_for_answers_nor_files_of_answers_for_labels(tmp_path: Path) -> None:
    for y in (np.array([0, 1, 1, 0]), [0, 1, 0, 1], list("abab"), pd.Series([1.0, 2.0, 1.0, 2.0]), []):
        assert labels_alone(y)
    with pytest.warns(UserWarning, match="y:"):
        KMeansOnly(2).fit(np.eye(4), np.array([0, 1, 1, 0]))
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path, (i, j, worker, label, _) in zip(paths, ROWS, strict=False):
        path.write_text(f"i,j,worker,label\n{i},{j},{worker},{label}\n")
    assert not labels_alone([str(path) for path in paths])
    assert not labels_alone(paths)
    both = ConstrainedKMeans(2).fit(np.eye(4), paths)
    assert both.result_.final.cluster.tolist() == ConstrainedKMeans(2).fit(np.eye(4), pairs=paths).labels_.tolist()


def test_answers_cannot_call_rows_by_an_index_with_duplicates() -> None:
    frame = pd.DataFrame({"x": [0.0, 0.1, 9.0, 9.1]}, index=["a", "b", "b", "c"])
    with pytest.raises(UserError, match="id b"):
        ConstrainedKMeans(2).fit(frame, pairs=[("a", "c", 0)])
    assert len(KMeansOnly(2).fit(frame).labels_) == 4
    by_id = frame.assign(id=list("stuv"))
    assert len(set(ConstrainedKMeans(2).fit(by_id, pairs=[("s", "v", 0)]).labels_)) == 2


@pytest.mark.parametrize("routed", [False, True])
def test_a_pipeline_passes_answers_on_by_its_names_and_by_metadata_routing(routed: bool) -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 2)), 9 + rng.normal(size=(20, 2))])
    pairs = np.array([[0, 1, 1], [0, 30, 0], [31, 30, 1]])
    with config_context(enable_metadata_routing=routed):
        last = ConstrainedKMeans(n_clusters=2)
        last = last.set_fit_request(pairs=True) if routed else last
        make_pipeline(StandardScaler(), last).fit(X, **{"pairs" if routed else "constrainedkmeans__pairs": pairs})
    assert adjusted_rand_score(np.repeat([0, 1], 20), last.labels_) == 1.0


MIXED = pd.DataFrame({
    "id": [f"u{k}" for k in range(12)], "x": [0.0, 1, 0, 1, 0, np.nan, 50, 51, 50, 51, 50, 51],
    "kind": list("aaaaaabbbbbb"), "label": [0] * 6 + [1] * 6,
})  # fmt: skip


def test_a_data_frame_is_read_as_a_table_of_the_command_line_is(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="column label is left out"):
        model = ConstrainedKMeans(2).fit(MIXED, pairs=[("u0", "u1", 1), ("u1", "u7", 0)])
    assert model.feature_names_in_.tolist() == ["x", "kind=a", "kind=b", "x is empty"]
    known = MIXED["x"].notna()
    assert adjusted_rand_score(MIXED["label"][known], model.labels_[known]) == 1.0
    model.save(tmp_path / "model.pt")
    for one in (model, load(tmp_path / "model.pt")):
        assert one.predict(MIXED[["kind", "x"]]).tolist() == model.labels_.tolist()
    for wrong, named in ((MIXED[["x"]].assign(kinds="a"), "kind"), (MIXED[["kind"]].assign(x="two"), "row 0, column x"),
                         (MIXED.set_axis(["x", "x", "kind", "label"], axis=1), "column x")):  # fmt: skip
        with pytest.raises(UserError, match=named):
            model.predict(wrong)
    with pytest.warns(UserWarning, match=r"column kind: A, c"):
        model.predict(pd.DataFrame({"kind": ["A", "a", "c"], "x": 1.0}))
    with pytest.raises(UserError, match=r"^X, row 0, column y"):
        KMeansOnly(2).fit(pd.DataFrame({"x": [1, 0, 2, 3], "y": ["-x", "1", "2", "3"]}))
    with pytest.warns(UserWarning, match="column said"):
        KMeansOnly(2).fit(MIXED[["x"]].assign(said=[f"I said {k}" for k in range(12)]))


def test_categories_of_integers_are_categories_and_masks_are_gaps() -> None:
    kinds = pd.Categorical([3, 1, 2, 3, 1, 2])
    model = KMeansOnly(2).fit(pd.DataFrame({"x": [0.0, 1, 2, 3, 4, 5], "kind": kinds}))
    assert model.feature_names_in_.tolist() == ["x", "kind=1", "kind=2", "kind=3"]
    masked = np.ma.masked_greater(np.array([[0.0, 1], [2, 999], [3, 4]]), 100)
    with pytest.raises(UserError, match="row 1, column 1"):
        KMeansOnly(2).fit(masked)
    filled = KMeansOnly(2).fit(pd.DataFrame(masked, columns=["a", "b"]))
    assert filled.feature_names_in_.tolist() == ["a", "b", "b is empty"]


def test_cross_validation_keeps_rows_and_answers_together() -> None:
    rng = np.random.default_rng(0)
    kinds = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) + 9 * kinds[:, None]
    i, j = np.triu_indices(40, 1)
    same = (kinds[i] == kinds[j]).astype(int)
    pairs = PairAnnotations.from_arrays(i, j, i * 0, same, num_items=40)
    model = ConstrainedKMeans(2)
    scores = cross_val_score(model, X, kinds, params={"pairs": pairs}, scoring="adjusted_rand_score")
    assert scores.tolist() == [1.0] * 5
    frame = pd.DataFrame({"i": i, "j": j, "label": same})  # names items that a fold does not have
    with pytest.raises(ValueError, match="column j"):
        cross_val_score(model, pd.DataFrame(X), kinds, params={"pairs": frame}, scoring="adjusted_rand_score")


def test_answers_about_some_items_are_those_of_both_ends() -> None:
    answers = PairAnnotations.from_arrays(
        [0, 1, 2, 3], [1, 2, 3, 0], [0, 1, 0, 2], [1, 0, 1, 0], task=[4, 5, 6, 7], num_items=4,
        worker_names=["a", "b", "c"], true_sensitivity=[0.1, 0.2, 0.3], true_specificity=[0.4, 0.5, 0.6],
    )  # fmt: skip
    some = answers[[3, 2, 1]]
    _is(some, i=[2, 1], j=[1, 0], worker=[1, 0], label=[0, 1], task=[0, 1], worker_names=["a", "b"], num_items=3,
        true_sensitivity=[0.1, 0.2])  # fmt: skip
    assert answers[np.array([False, True, True, True])].num_pairs == 2
    with pytest.raises(UserError, match="none of the 4 answers is about two of these items"):
        answers[[0, 2]]


@pytest.mark.parametrize(
    ("X", "pairs", "named"),
    [
        ([[1.0, np.nan], [0, 1], [2, 3]], None, "X, row 0, column 1"),
        ([["a", "b"], ["c", "d"]], None, "X"),
        ([[1.0]], None, "n_clusters=2"),
        (PAIRS, np.eye(4), "swapped"),
        (np.eye(4), [(0, 1, 1), (1, 2)], "pairs"),
        (np.eye(4), pd.DataFrame([[0, 1, 1, 1]], columns=["i", "j", "label", "label"]), "column label"),
    ],
)
def test_what_is_refused_is_named(X: Any, pairs: Any, named: str) -> None:
    with pytest.raises(UserError, match=named) as caught:
        ConstrainedKMeans(2).fit(X, pairs)
    assert "\n" not in str(caught.value)


RNG = np.random.default_rng(0)
KIND = np.arange(40) % 2
ITEMS = pd.DataFrame({"x": RNG.normal(size=40) + 9 * KIND, "y": RNG.normal(size=40)})
ASKED = pd.DataFrame({"i": [0, 0, 2], "j": [2, 1, 5], "worker": ["ann", "bob", "ann"], "label": [1, 0, 0]})
ARRAY = ASKED[["i", "j", "label"]].to_numpy()


@pytest.mark.parametrize("rows", [RNG.permutation(40), np.arange(8, 40), np.arange(0, 40, 2)])
def test_an_array_of_pairs_is_refused_where_the_index_does_not_count_the_rows(rows: np.ndarray) -> None:
    X = ITEMS.iloc[rows]
    for pairs in (ARRAY, ARRAY.tolist(), ARRAY.astype(float)):
        with pytest.raises(UserError, match=r"^pairs: .*reset_index"):
            ConstrainedKMeans(2).fit(X, pairs)
    with pytest.raises(UserError, match=r"^pairs: .*column id"):
        ConstrainedKMeans(2).fit(ITEMS.assign(id=range(40)[::-1]), ARRAY)
    ConstrainedKMeans(2).fit(X.reset_index(drop=True), ARRAY)


def test_pairs_in_a_frame_are_values_of_the_index() -> None:
    shuffled = ITEMS.iloc[RNG.permutation(40)]
    labels = pd.Series(ConstrainedKMeans(2).fit(shuffled, ASKED).labels_, index=shuffled.index)
    assert labels[0] == labels[2] != labels[1]
    assert adjusted_rand_score(KIND, labels.sort_index()) == 1.0
    position = {name: row for row, name in enumerate(shuffled.index)}
    moved = ASKED.assign(i=ASKED["i"].map(position), j=ASKED["j"].map(position))
    other = ConstrainedKMeans(2).fit(shuffled.reset_index(drop=True), moved)
    assert other.labels_.tolist() == labels.tolist()


@pytest.mark.parametrize("of", [pl.from_pandas, pa.Table.from_pandas])
def test_frames_of_other_libraries_have_ids_and_columns_by_name(of: Callable[[pd.DataFrame], Any]) -> None:
    X = ITEMS.assign(id=[f"item {row}" for row in range(40)])[["y", "id", "x"]].iloc[RNG.permutation(40)]
    named = ASKED.assign(i="item " + ASKED["i"].astype(str), j="item " + ASKED["j"].astype(str))
    pairs = named[["label", "worker", "j", "i"]]
    found = ConstrainedKMeans(2).fit(of(X.reset_index(drop=True)), of(pairs))
    assert found.feature_names_in_.tolist() == ["y", "x"]
    assert found.labels_.tolist() == ConstrainedKMeans(2).fit(X, pairs).labels_.tolist()
    assert found.predict(of(X.reset_index(drop=True))).tolist() == found.labels_.tolist()
    assert KMeansOnly(2).fit(of(ITEMS)).feature_names_in_.tolist() == ["x", "y"]


@pytest.mark.parametrize("seed", range(3))
def test_items_with_an_empty_cell_are_no_cluster_of_their_own(seed: int) -> None:
    """13 of 560 items have no warranty, 16 no rating; each indicator by its own deviation would set them far apart."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(4, size=560)
    X = pd.DataFrame(1.5 * rng.normal(size=(4, 5))[kind] + rng.normal(size=(560, 5)), columns=list("abcde"))
    for name, number in (("warranty", 13), ("rating", 16)):
        X[name] = rng.normal(size=560)
        X.loc[rng.choice(560, number, replace=False), name] = np.nan
    alone: dict[bool, int] = {}
    for weak in (True, False):
        values = X if weak else X.fillna(X.median()).assign(w=X["warranty"].isna() * 1.0, r=X["rating"].isna() * 1.0)
        labels = KMeansOnly(8, standardize=True, random_state=0).fit(values).labels_
        gaps = [X[name].isna().groupby(labels).mean().max() > 0.9 for name in ("warranty", "rating")]
        alone[weak] = sum(gaps)
    assert alone == {True: 0, False: 2}, "columns of 0 and 1 that X has itself are scaled as all others"
    model = CoTraining(random_state=0, max_clusters=4).fit(X)
    (pipeline, _), *_ = model.preparations_.values()
    distance = np.diff(pipeline[:-1].transform(np.vstack([np.zeros(9), np.eye(9)[7]])), axis=0)
    assert np.square(distance).sum() == pytest.approx(2.0)
