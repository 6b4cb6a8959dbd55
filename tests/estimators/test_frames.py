"""Rows of data frames are matched by id or index, in whatever library; arrays count rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import adjusted_rand_score

from semicrowd.errors import UserError
from semicrowd.methods.constrained_kmeans import ConstrainedKMeans
from semicrowd.methods.cotraining import CoTraining
from semicrowd.methods.unsupervised import KMeansOnly

RNG = np.random.default_rng(0)
KIND = np.arange(40) % 2
ITEMS = pd.DataFrame({"x": RNG.normal(size=40) + 9 * KIND, "y": RNG.normal(size=40)})
PAIRS = pd.DataFrame({"i": [0, 0, 2], "j": [2, 1, 5], "worker": ["ann", "bob", "ann"], "label": [1, 0, 0]})
ARRAY = PAIRS[["i", "j", "label"]].to_numpy()


@pytest.mark.parametrize("rows", [RNG.permutation(40), np.arange(8, 40), np.arange(0, 40, 2)])
def test_an_array_of_pairs_is_refused_where_the_index_does_not_count_the_rows(rows: np.ndarray) -> None:
    X = ITEMS.iloc[rows]
    for pairs in (ARRAY, ARRAY.tolist(), ARRAY.astype(float)):
        with pytest.raises(UserError, match=r"^pairs: .*reset_index"):
            ConstrainedKMeans(2).fit(X, pairs)
    with pytest.raises(UserError, match=r"^pairs: .*column id"):
        ConstrainedKMeans(2).fit(ITEMS.assign(id=rows.argsort() if len(rows) == 40 else range(40)), ARRAY)
    ConstrainedKMeans(2).fit(X.reset_index(drop=True), ARRAY)


def test_pairs_in_a_frame_are_values_of_the_index() -> None:
    shuffled = ITEMS.iloc[RNG.permutation(40)]
    labels = pd.Series(ConstrainedKMeans(2).fit(shuffled, PAIRS).labels_, index=shuffled.index)
    assert labels[0] == labels[2] != labels[1]
    assert adjusted_rand_score(KIND, labels.sort_index()) == 1.0
    position = {name: row for row, name in enumerate(shuffled.index)}
    moved = PAIRS.assign(i=PAIRS["i"].map(position), j=PAIRS["j"].map(position))
    other = ConstrainedKMeans(2).fit(shuffled.reset_index(drop=True), moved)
    assert other.labels_.tolist() == labels.tolist()


@pytest.mark.parametrize("of", [pl.from_pandas, pa.Table.from_pandas])
def test_frames_of_other_libraries_have_ids_and_columns_by_name(of: Callable[[pd.DataFrame], Any]) -> None:
    X = ITEMS.assign(id=[f"item {row}" for row in range(40)])[["y", "id", "x"]].iloc[RNG.permutation(40)]
    named = PAIRS.assign(i="item " + PAIRS["i"].astype(str), j="item " + PAIRS["j"].astype(str))
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
