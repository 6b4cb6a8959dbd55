"""MPCK-means against its objective written out, enumeration and, its metric, active-semi-supervised-clustering."""

from itertools import product
from types import ModuleType

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from semicrowd.crowd.links import Links, majority_vote
from semicrowd.crowd.simulate import quota
from semicrowd.methods import mpckmeans
from semicrowd.methods.constrained_kmeans import LinkGraph
from semicrowd.methods.mpckmeans import Metric, MPCKMeans, _metric, farthest_pair


def _stretched(rng: np.random.Generator, size: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Three classes along the first feature; the second is wide and says nothing."""
    labels = np.repeat(np.arange(3), size)
    features = np.column_stack([2.0 * labels + 0.25 * rng.normal(size=3 * size), 4 * rng.normal(size=3 * size)])
    return features, labels


def _random_links(rng: np.random.Generator, num_items: int, count: int) -> Links:
    first, second = np.triu_indices(num_items, k=1)
    chosen = rng.choice(len(first), count, replace=False)
    return Links(first[chosen], second[chosen], rng.random(count) < 0.5, rng.uniform(0.5, 2.0, count))


def _random_metric(rng: np.random.Generator, d: int) -> np.ndarray:
    root = rng.normal(size=(d, d))
    return root @ root.T + 0.3 * np.eye(d)


def _naive_objective(
    features: np.ndarray, links: Links, labels: np.ndarray, centers: np.ndarray, matrix: np.ndarray
) -> float:
    """Eq. 5 of the paper with unit constraint costs, one term at a time."""

    def squared(x: np.ndarray, y: np.ndarray) -> float:
        return float((x - y) @ matrix @ (x - y))

    total = 0.0
    widest = max(squared(x, y) for x in features for y in features)
    for x, k in zip(features, labels, strict=True):
        total += squared(x, centers[k]) - np.log(np.linalg.det(matrix))
    for i, j, must, weight in zip(links.i, links.j, links.must, links.weight, strict=True):
        k, other = labels[i], labels[j]
        if must and k != other:
            total += weight * squared(features[i], features[j])
        if not must and k == other:
            total += weight * (widest - squared(features[i], features[j]))
    return total


def _model() -> MPCKMeans:
    """With the internal scales that fit sets: w = 1, no floor on the variances."""
    model = MPCKMeans(3)
    model._unit, model._smallest = 1.0, 1e-12
    return model


@pytest.mark.parametrize("seed", range(3))
def test_objective_and_assignment_against_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, links = rng.normal(size=(6, 2)), _random_links(rng, 6, 7)
    centers, matrix = rng.normal(size=(3, 2)), _random_metric(rng, 2)
    costs = _model()._costs(features, links, centers, _metric(features, matrix))
    graph = LinkGraph(links, 6, rng)
    everything = []
    for labels in map(np.array, product(range(3), repeat=6)):
        expected = _naive_objective(features, links, labels, centers, matrix)
        assert graph.objective(costs, labels) == pytest.approx(expected)
        everything.append(expected)
    reached = [graph.objective(costs, graph.assign(costs, rng.integers(3, size=6))) for _ in range(30)]
    assert min(reached) == pytest.approx(min(everything))


def test_metric_step_is_the_minimum_for_fixed_widest_items() -> None:
    rng = np.random.default_rng(0)
    features, links = rng.normal(size=(40, 3)) * [1, 2, 3], _random_links(rng, 40, 60)
    labels = rng.integers(3, size=40)
    centers = np.array([features[labels == k].mean(axis=0) for k in range(3)])
    old = _metric(features, np.eye(3))
    model = _model()
    best = np.linalg.inv(model._inverse_metric(features, links, labels, centers, old))
    graph = LinkGraph(links, 40, rng)

    def objective(matrix: np.ndarray) -> float:
        widest, size = float(old.apart @ matrix @ old.apart), float(np.log(np.linalg.det(matrix)))
        fixed = Metric(np.linalg.cholesky(matrix).T, size, widest, old.apart)
        return graph.objective(model._costs(features, links, centers, fixed), labels)

    lowest = objective(best)
    for _ in range(50):
        change = rng.normal(size=(3, 3))
        # Scaled to the metric, so that small entries are tried as hard as large ones.
        root = np.sqrt(np.abs(best.diagonal()))
        assert objective(best + 0.02 * (change + change.T) * root[:, None] * root) > lowest


def test_metric_step_equals_that_of_the_published_implementation(published: ModuleType) -> None:
    rng = np.random.default_rng(1)
    features, links = rng.normal(size=(30, 1)), _random_links(rng, 30, 40)
    links = Links(links.i, links.j, links.must, np.ones(40))
    labels = rng.integers(3, size=30)
    centers = np.array([features[labels == k].mean(axis=0) for k in range(3)])
    start = _metric(features, np.ones((1, 1)))
    linked: dict[bool, dict[int, set[int]]] = {kind: {n: set() for n in range(30)} for kind in (True, False)}
    for i, j, must in zip(links.i.tolist(), links.j.tolist(), links.must.tolist(), strict=True):
        linked[must][i].add(j)
        linked[must][j].add(i)
    package = published.MPCKMeans(n_clusters=3)
    farthest = package._find_farthest_pairs_of_points(features, np.eye(1))
    nothing: dict[int, set[int]] = {n: set() for n in range(30)}
    # The package counts every cannot-link twice: half the weight.
    theirs = {
        True: package._update_metrics(features, labels, centers, farthest, linked[True], nothing, 1.0),
        False: package._update_metrics(features, labels, centers, farthest, nothing, linked[False], 0.5),
    }
    for must, matrix in theirs.items():
        kept = links.must == must
        part = Links(links.i[kept], links.j[kept], links.must[kept], links.weight[kept])
        inverse = _model()._inverse_metric(features, part, labels, centers, start)
        assert inverse[0, 0] == pytest.approx(1 / matrix[0, 0])


def test_the_objective_never_rises() -> None:
    features, labels = _stretched(np.random.default_rng(4), size=15)
    answers = quota(labels, np.random.default_rng(5), pairs_per_annotator=50)
    found = MPCKMeans(3).fit(features, answers)
    course = [row["objective"] for row in found.history_]
    assert len(course) > 1
    assert np.all(np.diff(course) <= 1e-9)
    links = majority_vote(answers)
    links = Links(links.i, links.j, links.must, found._unit * links.weight)
    expected = _naive_objective(features, links, found.labels_, found.cluster_centers_, found.metric_)
    assert found.objective_ == pytest.approx(expected)


@pytest.mark.parametrize(("few", "share"), [(None, 1 - 1e-9), (50, 0.95)])
def test_the_farthest_pair_is_the_one_found_by_comparing_all_or_nearly_so(
    few: int | None, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = np.random.default_rng(0).normal(size=(2000, 40))
    most = pdist(points).max()
    monkeypatch.setattr(mpckmeans, "_MOST_FAR_OUT", few or mpckmeans._MOST_FAR_OUT)
    first, second = farthest_pair(points)
    assert share * most < np.linalg.norm(points[first] - points[second]) <= most * (1 + 1e-9)
