"""SemiCrowd's steps against counting and general optimisers."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.methods.matrix_completion import MatrixCompletion, complete, filtered_similarity, regress_metric


def _symmetric(rng: np.random.Generator, size: int, chance: float) -> np.ndarray:
    upper = np.triu(rng.random((size, size)) < chance, 1)
    return upper | upper.T


def test_filter_keeps_the_pairs_on_which_the_annotators_agree() -> None:
    rows = {(0, 3): [1, 1, 1], (3, 5): [1, 0], (0, 5): [0, 0, 1], (5, 7): [1], (7, 0): [0, 0, 0, 1, 1]}
    i, j, label = np.array([(i, j, y) for (i, j), answers in rows.items() for y in answers]).T
    answers = PairAnnotations.from_arrays(i, j, np.arange(len(i)), label, num_items=9)
    similarity, observed = filtered_similarity(answers)
    assert answers.annotated.tolist() == [0, 3, 5, 7]
    for (a, first), (b, second) in combinations(enumerate([0, 3, 5, 7]), 2):
        said = rows.get((first, second), rows.get((second, first), []))
        share = np.mean(said) if said else 0.5
        assert observed[a, b] == observed[b, a] == (share <= 1 / 3 or share >= 2 / 3)
        assert similarity[a, b] == similarity[b, a] == (share >= 2 / 3)
    assert observed.diagonal().all()
    assert similarity.diagonal().tolist() == [1.0] * 4


def test_completion_is_the_minimum_that_a_general_optimiser_finds() -> None:
    rng = np.random.default_rng(1)
    n, weight = 7, 0.6
    labels = np.array([0, 0, 0, 1, 1, 2, 2])
    matrix = np.where(_symmetric(rng, n, 0.2), 1.0, (labels[:, None] == labels).astype(float))
    observed = _symmetric(rng, n, 0.7) | np.eye(n, dtype=bool)
    rows, columns = np.triu_indices(n)

    def unpack(p: np.ndarray) -> np.ndarray:
        a = np.zeros((n, n))
        a[rows, columns] = p
        return a + np.triu(a, 1).T

    def objective(a: np.ndarray, smooth: float = 0.0) -> float:
        values = np.sqrt(np.linalg.eigvalsh(a) ** 2 + smooth)
        return float(values.sum() + weight * np.sqrt((a - matrix)[observed] ** 2 + smooth).sum())

    start = np.where(observed, matrix, 0.5)[rows, columns]
    for smooth in (1e-2, 1e-4, 1e-6, 1e-8):
        start = minimize(lambda p, s=smooth: objective(unpack(p), s), start, method="L-BFGS-B").x
    found = complete(matrix, observed, weight, tolerance=1e-7, max_iter=5000)
    assert objective(found) <= objective(unpack(start)) + 1e-3
    assert objective(found) == pytest.approx(objective(unpack(start)), rel=0.01)


def test_metric_is_the_least_squares_regression_of_the_similarity() -> None:
    rng = np.random.default_rng(2)
    features = rng.normal(size=(30, 4))
    similarity = rng.normal(size=(30, 30))
    similarity += similarity.T
    # All products x_i x_jᵀ as the columns of one regression.
    products = np.einsum("id,je->ijde", features, features).reshape(900, 16)
    expected = np.linalg.lstsq(products, similarity.ravel(), rcond=None)[0].reshape(4, 4)
    assert regress_metric(features, similarity, ridge=0.0) == pytest.approx(expected, abs=1e-10)
    # Features that depend on each other: still finite, and the fitted similarities are those of the first four.
    double = np.column_stack([features, features[:, 0]])
    fit = double @ regress_metric(double, similarity, ridge=0.0) @ double.T
    assert fit == pytest.approx(features @ expected @ features.T, abs=1e-8)
    assert np.abs(regress_metric(features, similarity, ridge=10.0)).max() < np.abs(expected).max() / 5


def test_answers_that_teach_nothing_still_give_clusters() -> None:
    features = np.random.default_rng(8).normal(size=(30, 5))
    answers = PairAnnotations.from_arrays([0, 10], [11, 21], [0, 0], [0, 0], num_items=30)
    assert len(MatrixCompletion(3).fit(features, answers).labels_) == 30
