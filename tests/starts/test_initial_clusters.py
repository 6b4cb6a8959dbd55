"""Initial clusters, on answers whose truth is known."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from semicrowd.crowd import simulate
from semicrowd.crowd.cells import kmeans_cells
from semicrowd.starts.initial_clusters import MERGED_BY_ANSWERS
from semicrowd.starts.portfolio import Portfolio

TABLE, LABELS = make_blobs(200, 3, centers=4, cluster_std=1.0, random_state=3)


@pytest.mark.parametrize(("quality", "merged"), [(0.85, True), (0.5, False)])
def test_answers_merge_cells_of_one_class_and_guesses_merge_none(
    quality: float, merged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = kmeans_cells(TABLE, 8, seed=0)
    assert adjusted_rand_score(LABELS, cells) < 0.8
    answers = simulate.two_coin(
        LABELS, np.random.default_rng(0), num_annotators=5, pairs_per_annotator=80, num_annotated=200,
        sensitivity=quality, specificity=quality,
    )  # fmt: skip
    made = Portfolio(TABLE, answers, 0, lambda _: None)
    monkeypatch.setattr(made, "of_features", lambda *_: cells)
    candidates = made.without_answers(1)
    assert (MERGED_BY_ANSWERS in candidates) == merged
    if merged:
        assert adjusted_rand_score(LABELS, candidates[MERGED_BY_ANSWERS](made)) > 0.95
