"""ITML against a general optimiser, and where k-means fails for want of a metric."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import majority_vote
from semicrowd.crowd.simulate import quota
from semicrowd.methods import itml
from semicrowd.methods.itml import GAMMAS, ITML, MAX_PAIRS, _differences, _squared_distances


def _stretched(rng: np.random.Generator, size: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Three classes along the first feature; the others are wide and say nothing."""
    labels = np.repeat(np.arange(3), size)
    features = np.column_stack([2.0 * labels + 0.3 * rng.normal(size=3 * size), 5 * rng.normal(size=(3 * size, 3))])
    return features, labels


def test_metric_is_the_one_of_least_log_det_divergence(monkeypatch: pytest.MonkeyPatch) -> None:
    difference = np.array([[2.0, 0.5], [1.8, -0.3], [0.3, 0.9], [-0.2, 0.7]])
    must = np.array([True, True, False, False])
    bounds = np.array([1.0, 2.0])

    def matrix(p: np.ndarray) -> np.ndarray:
        root = np.array([[p[0], 0.0], [p[1], p[2]]])
        return root @ root.T

    def slack(p: np.ndarray) -> np.ndarray:
        squared = np.einsum("cd,de,ce->c", difference, matrix(p), difference)
        return np.where(must, bounds[0] - squared, squared - bounds[1])

    best = minimize(
        lambda p: np.trace(matrix(p)) - np.linalg.slogdet(matrix(p)).logabsdet,
        [1.0, 0.0, 1.0],
        constraints={"type": "ineq", "fun": slack},
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    # Bounds that cannot all hold would leave nothing to compare.
    assert best.success
    # Without slack: γ → ∞.
    monkeypatch.setattr(itml, "MOST_PASSES", 5000)
    root = ITML(2)._learn(difference, must, bounds, 1e9)
    assert root.T @ root == pytest.approx(matrix(best.x), rel=0.02, abs=0.02)


def test_it_finds_the_classes_where_k_means_cannot() -> None:
    features, labels = _stretched(np.random.default_rng(0))
    answers = quota(labels, np.random.default_rng(1), pairs_per_annotator=100)
    plain = KMeans(3, n_init=10, random_state=0).fit(features)
    found = ITML(3).fit(features, answers)
    assert normalized_mutual_info_score(labels, plain.labels_) < 0.1
    assert normalized_mutual_info_score(labels, found.labels_) > 0.9
    assert found.gamma_ in GAMMAS
    new, classes = _stretched(np.random.default_rng(2))
    assert normalized_mutual_info_score(classes, found.predict(new)) > 0.9
    # The nearest centre under the metric, written out.
    difference = new[:, None] - found.cluster_centers_
    squared = np.einsum("nkd,de,nke->nk", difference, found.metric_, difference)
    assert adjusted_rand_score(squared.argmin(axis=1), found.predict(new)) == 1.0


def test_answers_of_one_kind_leave_nothing_to_choose_gamma_by() -> None:
    features, labels = _stretched(np.random.default_rng(3), size=10)
    answers = quota(labels, np.random.default_rng(4), sensitivity=1.0, specificity=(1.0,), pairs_per_annotator=40)
    same = answers.label == 1
    worker = np.zeros(same.sum(), np.int64)
    only = PairAnnotations.from_arrays(answers.i[same], answers.j[same], worker, answers.label[same], num_items=30)
    assert ITML(3).fit(features, only).gamma_ == 1.0


def test_links_between_equal_items_are_left_out() -> None:
    features = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 3.0], [4.0, 4.0]])
    answers = PairAnnotations.from_arrays([0, 0, 2], [1, 2, 3], [0, 0, 0], [1, 0, 1], num_items=4)
    difference, must = _differences(features, majority_vote(answers))
    assert difference.tolist() == [[-2.0, -2.0], [-2.0, -1.0]]
    assert must.tolist() == [False, True]


def test_squared_distances_of_many_items_are_a_sample_without_self_pairs() -> None:
    few = np.array([[0.0], [1.0], [3.0]])
    assert sorted(_squared_distances(few, np.random.default_rng(0)).tolist()) == [1.0, 4.0, 9.0]
    many = np.arange(1000.0)[:, None]
    sample = _squared_distances(many, np.random.default_rng(0))
    assert len(sample) == MAX_PAIRS
    assert sample.min() == 1.0
    # Mean over all pairs of 0 … n − 1 is n (n + 1) / 6.
    assert sample.mean() == pytest.approx(1000 * 1001 / 6, rel=0.02)
