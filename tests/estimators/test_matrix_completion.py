"""SemiCrowd's steps against counting, general optimisers and matrices that are known to be recovered."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import quota
from semicrowd.methods.matrix_completion import MatrixCompletion, complete, filtered_similarity, regress_metric


def _symmetric(rng: np.random.Generator, size: int, chance: float) -> np.ndarray:
    upper = np.triu(rng.random((size, size)) < chance, 1)
    return upper | upper.T


def _stretched(rng: np.random.Generator, size: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Three classes in a triangle of the first two features; the others are wide and say nothing."""
    labels = np.repeat(np.arange(3), size)
    corner = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.7]])[labels]
    noise = rng.normal(size=(3 * size, 5)) * [0.25, 0.25, 4, 4, 4]
    return np.column_stack([corner, np.zeros((3 * size, 3))]) + noise, labels


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


def test_completion_recovers_a_block_matrix_from_few_entries_some_of_them_wrong() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 40)
    truth = (labels[:, None] == labels).astype(float)
    observed = _symmetric(rng, 120, 0.6) | np.eye(120, dtype=bool)
    wrong = _symmetric(rng, 120, 0.03) & observed
    seen = np.where(wrong, 1 - truth, truth)
    found = complete(seen, observed, 1 / np.sqrt(0.6 * 120), tolerance=1e-5, max_iter=500)
    assert wrong.sum() > 100
    assert np.abs(found - truth).max() < 0.01
    assert np.linalg.matrix_rank(found, tol=0.01) == 3


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


@pytest.mark.parametrize("num_annotated", [None, 60])
def test_it_finds_the_classes_where_k_means_cannot(num_annotated: int | None) -> None:
    features, labels = _stretched(np.random.default_rng(3))
    answers = quota(labels, np.random.default_rng(4), pairs_per_annotator=500, num_annotated=num_annotated)
    plain = KMeans(3, n_init=10, random_state=0).fit(features)
    found = MatrixCompletion(3).fit(features, answers)
    assert normalized_mutual_info_score(labels, plain.labels_) < 0.1
    assert normalized_mutual_info_score(labels, found.labels_) > 0.85
    assert np.linalg.eigvalsh(found._embed(features) @ found._embed(features).T).min() > -1e-8
    new, classes = _stretched(np.random.default_rng(5))
    assert normalized_mutual_info_score(classes, found.predict(new)) > 0.85


def test_answers_that_teach_nothing_still_give_clusters() -> None:
    features, labels = _stretched(np.random.default_rng(8), size=10)
    answers = PairAnnotations.from_arrays([0, 10], [11, 21], [0, 0], [0, 0], num_items=30)
    assert len(MatrixCompletion(3).fit(features, answers).labels_) == len(labels)
