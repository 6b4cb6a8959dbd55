"""Constrained k-means against k-means; its assignment step against enumeration."""

from itertools import product

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from tests.made import random_links

from semicrowd.crowd.links import Links
from semicrowd.crowd.simulate import quota
from semicrowd.estimators.base import InductiveClusterer
from semicrowd.methods import constrained_kmeans
from semicrowd.methods.constrained_kmeans import ConstrainedKMeans, Costs, LinkGraph, initial_centers
from semicrowd.methods.itml import ITML
from semicrowd.methods.matrix_completion import MatrixCompletion
from semicrowd.methods.mpckmeans import MPCKMeans


def _blobs(rng: np.random.Generator, size: int = 40, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Four classes in a square of side 4, told apart by the first two features; a third, wide one says nothing."""
    labels = np.repeat(np.arange(4), size)
    corner = 4.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[labels]
    features = np.column_stack([corner + noise * rng.normal(size=corner.shape), 6 * rng.normal(size=len(labels))])
    return features, labels


def test_initial_centers_follow_weighted_farthest_first_traversal() -> None:
    points = np.array([0.0, 0, 0, 0, 1, 1, 10, 10, 4, 20])[:, None]
    groups = [np.array([0, 1, 2, 3]), np.array([4, 5]), np.array([6, 7])]
    # The largest group, then 2 × 10 rather than 2 × 1.
    centers, labels = initial_centers(points, groups, 2, np.random.default_rng(0))
    assert centers.ravel().tolist() == [0.0, 10.0]
    assert labels.tolist() == [0, 0, 0, 0, -1, -1, 1, 1, -1, -1]
    # Too few groups: then items, never one that is a centre already.
    centers, _ = initial_centers(points, groups, 5, np.random.default_rng(0))
    assert centers[:3].ravel().tolist() == [0.0, 10.0, 1.0]
    assert set(centers[3:].ravel().tolist()) == {4.0, 20.0}


def test_without_links_that_matter_it_is_k_means(monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels = _blobs(np.random.default_rng(2))
    answers = quota(labels, np.random.default_rng(3), pairs_per_annotator=20)
    monkeypatch.setattr(constrained_kmeans, "PENALTY", 0.0)
    found = ConstrainedKMeans(4).fit(features, answers)
    expected = KMeans(4, n_init=20, random_state=0).fit(features)
    assert found.objective_ == pytest.approx(expected.inertia_, rel=1e-3)


def test_noisy_answers_improve_on_k_means_and_the_objective_never_rises() -> None:
    features, labels = _blobs(np.random.default_rng(6))
    answers = quota(labels, np.random.default_rng(7), pairs_per_annotator=400)
    # About 15 % of the answers are wrong.
    plain = KMeans(4, n_init=20, random_state=0).fit(features)
    found = ConstrainedKMeans(4).fit(features, answers)
    assert adjusted_rand_score(labels, plain.labels_) < 0.5
    assert adjusted_rand_score(labels, found.labels_) > 0.95
    assert np.all(np.diff([row["objective"] for row in found.history_]) <= 1e-9)
    assert found.history_[-1] == {"epoch": found.n_iter_, "objective": found.objective_}
    # New items have no answers: their nearest centre.
    nearest = ((features[:, None] - found.cluster_centers_) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(found.predict(features), nearest)


def _naive_objective(links: Links, costs: Costs, labels: tuple[int, ...]) -> float:
    """Docstring of Costs, one link at a time."""
    total = sum(costs.item[n, k] for n, k in enumerate(labels))
    for c in range(len(links.i)):
        k, other = labels[links.i[c]], labels[links.j[c]]
        if links.must[c] and k != other:
            total += (costs.link[c, k] + costs.link[c, other]) / 2
        if not links.must[c] and k == other:
            total += costs.link[c, k]
    return float(total)


@pytest.mark.parametrize("seed", range(10))
def test_assignment_reaches_the_optimum_found_by_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    num_items, k = 7, 3
    links = random_links(rng, num_items, 9)
    costs = Costs(rng.gamma(1.0, size=(num_items, k)), rng.gamma(1.0, size=(9, k)))
    everything = {z: _naive_objective(links, costs, z) for z in product(range(k), repeat=num_items)}
    lowest = min(everything.values())
    reached = []
    for start in range(30):
        graph = LinkGraph(links, num_items, np.random.default_rng(start))
        labels = graph.assign(costs, rng.integers(k, size=num_items))
        objective = graph.objective(costs, labels)
        assert objective == pytest.approx(everything[tuple(labels.tolist())])
        # No item alone can do better.
        for n, other in product(range(num_items), range(k)):
            moved = labels.copy()
            moved[n] = other
            assert everything[tuple(moved.tolist())] >= objective - 1e-9
        reached.append(objective)
    assert min(reached) == pytest.approx(lowest)


@pytest.mark.parametrize(("kind", "pairs"), [(ITML, 100), (MPCKMeans, 100), (MatrixCompletion, 500)])
def test_a_metric_finds_the_classes_where_k_means_cannot(kind: type[InductiveClusterer], pairs: int) -> None:
    """Three classes in a triangle of the first two features; the others are wide and say nothing."""

    def drawn(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        labels = np.repeat(np.arange(3), 60)
        corner = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.7]])[labels]
        return np.column_stack([corner, np.zeros((180, 3))]) + rng.normal(size=(180, 5)) * [0.25, 0.25, 4, 4, 4], labels

    features, labels = drawn(np.random.default_rng(3))
    answers = quota(labels, np.random.default_rng(4), pairs_per_annotator=pairs)
    assert adjusted_rand_score(labels, KMeans(3, n_init=10, random_state=0).fit(features).labels_) < 0.1
    found = kind(3).fit(features, answers)
    assert adjusted_rand_score(labels, found.labels_) > 0.85
    new, classes = drawn(np.random.default_rng(5))
    assert adjusted_rand_score(classes, found.predict(new)) > 0.85
    one, other = (kind(3).fit(scale * features, answers).labels_ for scale in (1.0, 1000.0))
    assert adjusted_rand_score(one, other) == 1.0
    if kind is not MatrixCompletion:  # the nearest centre under the metric, written out
        difference = new[:, None] - found.cluster_centers_
        squared = np.einsum("nkd,de,nke->nk", difference, found.metric_, difference)
        assert adjusted_rand_score(squared.argmin(axis=1), found.predict(new)) == 1.0
