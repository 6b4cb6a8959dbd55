"""Initial clusters, on answers whose truth is known, and that a candidate made without an answer has not seen it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import kmeans_cells
from semicrowd.starts.cotraining import scores_without_clusters
from semicrowd.starts.initial_clusters import MERGED_BY_ANSWERS, NUMBER_FROM_ANSWERS
from semicrowd.starts.portfolio import Portfolio
from semicrowd.starts.prepared_features import WEIGHTED

TABLE, LABELS = make_blobs(200, 3, centers=4, cluster_std=1.0, random_state=3)
_RATES: dict[str, Any] = {"sensitivity": 0.85, "specificity": 0.85, "num_annotated": 40, "num_annotators": 5}
ANSWERS_OF = {
    "two_coin": simulate.two_coin(LABELS, np.random.default_rng(0), pairs_per_annotator=80, **_RATES),
    "tasks": simulate.tasks(LABELS, np.random.default_rng(0), num_tasks=30, task_size=6, **_RATES),
}


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


#: The answer of which a refit must know nothing.
ROW = 17


def _of_both_answers(
    monkeypatch: pytest.MonkeyPatch, answers: PairAnnotations, scores: Callable[[Portfolio], np.ndarray]
) -> tuple[float, float]:
    """Scores of an answer and of its opposite; candidates are fitted again without its fold alone, to save time."""
    refit, noisy = Portfolio._scores_of_refit, np.c_[TABLE, np.random.default_rng(0).normal(size=(200, 4))]
    monkeypatch.setattr(
        Portfolio, "_scores_of_refit",
        lambda made, name, way, training, other, independent: (
            other if training[ROW] else refit(made, name, way, training, other, independent)
        ),
    )
    turned = replace(answers, label=np.where(np.arange(answers.num_pairs) == ROW, 1 - answers.label, answers.label))
    one, other = (scores(Portfolio(noisy, each, 0, lambda _: None))[ROW] for each in (answers, turned))
    assert one != scores_without_clusters(answers)[ROW], "the candidate was made without the fold"
    return float(one), float(other)


@pytest.mark.usefixtures("few_folds")
@pytest.mark.parametrize("preparation", ["standardised", WEIGHTED])
@pytest.mark.parametrize("kind", ANSWERS_OF)
def test_no_part_of_a_candidate_that_is_made_anew_has_seen_the_answer(
    kind: str, preparation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flipped, an answer has the rest of the probability: weights, clusters, classifiers, annotators are the same."""
    name = f"few cells of {preparation} features"
    both = _of_both_answers(monkeypatch, ANSWERS_OF[kind], lambda made: made._refitted_scores(name, None))
    assert np.exp(both).sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.usefixtures("few_folds")
@pytest.mark.parametrize(
    "name", [f"standardised {NUMBER_FROM_ANSWERS}", f"{WEIGHTED} {NUMBER_FROM_ANSWERS}", MERGED_BY_ANSWERS]
)
def test_clusters_of_features_made_anew_have_not_seen_the_answer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = kmeans_cells(TABLE, 12, seed=0)  # more than classes, so that the answers merge some
    monkeypatch.setattr(Portfolio, "of_features", lambda *_: cells)
    both = _of_both_answers(
        monkeypatch, ANSWERS_OF["two_coin"], lambda made: made._refitted_scores(name, made.without_answers(4)[name])
    )
    assert np.exp(both).sum() == pytest.approx(1, abs=1e-9)
