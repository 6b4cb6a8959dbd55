"""Weights of columns by the answers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.preparation import ColumnScaler, first_columns
from semicrowd.starts.prepared_features import WEIGHTED, PreparedFeatures
from semicrowd.starts.preparing import Prepared, prepared
from semicrowd.starts.weighting import column_weights


def _problem(seed: int, num_answers: int, weights: Any, num_items: int = 200) -> tuple[np.ndarray, PairAnnotations]:
    """Items of standard normal columns, and answers that depend on the weighted distance."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(num_items, len(weights)))
    i = rng.integers(num_items, size=num_answers)
    j = (i + rng.integers(1, num_items, size=num_answers)) % num_items
    same = rng.random(num_answers) < expit(2 - 0.5 * np.square(x[i] - x[j]) @ np.asarray(weights))
    answers = PairAnnotations.from_arrays(i, j, np.zeros_like(i), same.astype(int), num_items=num_items)
    return x[answers.annotated], answers


def _weighted(table: np.ndarray, answers: PairAnnotations) -> Prepared | None:
    return PreparedFeatures(table, np.arange(len(table)), answers, None).preparations.get(WEIGHTED)


def test_weights_are_the_most_probable_ones() -> None:
    """A brute-force search for a better value of each weight, given the others, finds none."""
    x, answers = _problem(0, 300, [1, 0.4, 0])
    found = column_weights(x, answers, np.arange(x.shape[1]))
    distance = 0.5 * np.square(x[answers.index.i] - x[answers.index.j])
    of_mean = LogisticRegression(C=np.inf, tol=1e-10).fit(distance.mean(1, keepdims=True), answers.label)
    scaled = -of_mean.coef_[0, 0] / 3 * distance

    def log_posterior(weights: np.ndarray) -> float:
        # The offset that is best for these weights.
        logits = -scaled @ weights + np.linspace(-2, 6, 4001)[:, None]
        prior = 300 / len(x) * 0.5 * np.square(weights - 1).sum()
        return (logits @ answers.label - np.logaddexp(0, logits).sum(1)).max() - prior

    best = log_posterior(found)
    for column in range(3):
        for step in (-0.1, -0.02, 0.02, 0.1):
            other = found.copy()
            other[column] = max(other[column] + step, 0)
            assert log_posterior(other) <= best + 1e-4
    assert found[0] > found[1] > found[2]


def test_columns_that_have_nothing_to_do_with_the_question_lose_their_weight() -> None:
    x, answers = _problem(1, 2000, [1.5, 1.5, *[0] * 10], num_items=2000)
    found = column_weights(x, answers, np.arange(x.shape[1]))
    assert found[:2].min() > 10 * found[2:].mean()


def test_a_person_who_compares_all_items_counts_as_often_as_there_are_items() -> None:
    """All pairs of 40 items are 780 answers, but no more than 40 independent ones."""
    i, j = np.triu_indices(40, 1)
    labels = np.random.default_rng(0).integers(4, size=40)
    everything = PairAnnotations.from_arrays(i, j, np.zeros_like(i), (labels[i] == labels[j]).astype(int), num_items=40)
    x = np.random.default_rng(1).normal(size=(40, 30)) + np.eye(4, 30)[labels]
    weights = column_weights(x, everything, np.arange(30))
    assert np.abs(weights - 1).mean() < 0.25


@pytest.mark.parametrize("num_answers", [1, 3])
def test_few_answers_change_weights_little(num_answers: int) -> None:
    x, answers = _problem(2, num_answers, [1, 0, 0, 0])
    np.testing.assert_allclose(column_weights(x, answers, np.arange(x.shape[1])), 1, atol=0.75)


def test_answers_that_do_not_depend_on_the_distance_leave_weights_equal() -> None:
    rng = np.random.default_rng(0)
    x, answers = _problem(3, 400, [0, 0])
    far = np.square(x[answers.index.i] - x[answers.index.j]).sum(1) > rng.exponential(4, size=400)
    opposite = PairAnnotations.from_arrays(answers.i, answers.j, answers.worker, far.astype(int), num_items=200)
    np.testing.assert_array_equal(column_weights(x, opposite, np.arange(2)), 1)


def test_a_preparation_has_the_weighted_distances() -> None:
    """Units, constant columns and rows without answers do not matter; new items are prepared in the same way."""
    x, answers = _problem(4, 800, [2, 2, 0, 0, 0])
    assert len(x) == 200
    table = np.c_[x * [1, 1e3, 1e-2, 5, 1] + 7, np.ones(200)]
    way = _weighted(table, answers)
    assert way is not None
    assert len(way.pipeline.steps) == 3
    standard = (x - x.mean(0)) / x.std(0)
    weights = column_weights(standard, answers, np.arange(5))
    expected = np.square((standard[:50, None] - standard[None, 50:100]) * np.sqrt(weights)).sum(-1)
    found = np.square(way.items[:50, None] - way.items[None, 50:100]).sum(-1)
    np.testing.assert_allclose(found / expected, found.mean() / expected.mean(), rtol=1e-5)
    np.testing.assert_allclose(prepared(way.pipeline, table[:3]), way.items[:3], atol=1e-9)


def test_weights_that_hardly_change_distances_are_no_further_preparation() -> None:
    _, answers = _problem(5, 3, [1, 1, 1])
    everything = np.random.default_rng(0).normal(size=(200, 3))
    assert _weighted(everything, answers) is None
    assert _weighted(np.ones((200, 3)), answers) is None
    assert _weighted(everything[:, :1], answers) is None
    two = PairAnnotations.from_arrays(np.array([0]), np.array([1]), np.array([0]), np.array([1]), num_items=2)
    assert _weighted(np.array([[0.0, 1.0], [2.0, 0.0]]), two) is None


def test_a_category_has_one_weight() -> None:
    x, answers = _problem(6, 1500, [2, 0], num_items=1500)
    town = np.random.default_rng(1).integers(9, size=len(x))
    table = np.c_[x[:, 0], np.eye(9)[town], x[:, 1]]
    np.testing.assert_array_equal(first_columns(table), [0, 1, 10])
    weights = column_weights(ColumnScaler().fit_transform(table), answers, first_columns(table))
    assert len(set(weights[1:10])) == 1
    assert weights[0] > 1 > 0.4 > weights[1:].max()
    places = np.searchsorted(answers.annotated, [answers.i, answers.j])
    way = _weighted(table, replace(answers, num_items=len(x), i=places[0], j=places[1]))
    assert way is not None
    np.testing.assert_allclose(way.pipeline[1].weights, weights)
