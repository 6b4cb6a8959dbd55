"""Constrained k-means against k-means and a published package; its assignment step against enumeration."""

from itertools import product
from types import ModuleType

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from tests.made import answers_of, random_links

from semicrowd.crowd.links import Links, majority_vote
from semicrowd.crowd.simulate import quota
from semicrowd.methods import constrained_kmeans
from semicrowd.methods.constrained_kmeans import ConstrainedKMeans, initial_centers, mean_item_cost
from semicrowd.methods.link_graph import Costs, LinkGraph


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


def test_objective_is_not_worse_than_that_of_the_published_implementation(
    published: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    features, labels = _blobs(np.random.default_rng(4), size=25, noise=1.5)
    items = np.random.default_rng(5).permutation(100).reshape(2, 50)
    # No item is in two links, so that the package adds none by closure; noise-free, as it demands.
    same = labels[items[0]] == labels[items[1]]
    rows = [(int(i), int(j), 0, int(s)) for i, j, s in zip(*items, same, strict=True)]
    answers = answers_of(rows, 100)
    links = majority_vote(answers)
    weight = 3.0
    # The package halves the squared distance.
    monkeypatch.setattr(constrained_kmeans, "PENALTY", 2 * weight / mean_item_cost(features, 4, 0))
    ours = ConstrainedKMeans(4).fit(features, answers)

    def objective(z: np.ndarray) -> float:
        spread = sum(((features[z == k] - features[z == k].mean(axis=0)) ** 2).sum() for k in np.unique(z))
        violated = (z[links.i] == z[links.j]) != links.must
        return float(spread + 2 * weight * violated.sum())

    assert ours.objective_ == pytest.approx(objective(ours.labels_))
    theirs = []
    for seed in range(5):
        np.random.seed(seed)  # noqa: NPY002 - the package draws from the global generator
        model = published.PCKMeans(n_clusters=4, max_iter=100, w=weight)
        model.fit(features, ml=list(zip(*items[:, same], strict=True)), cl=list(zip(*items[:, ~same], strict=True)))
        theirs.append(objective(model.labels_))
    assert ours.objective_ <= min(theirs) * 1.001


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


def test_blocks_have_no_links_inside_and_cover_all_items() -> None:
    rng = np.random.default_rng(1)
    links = random_links(rng, 30, 150)
    graph = LinkGraph(links, 30, rng)
    block_of = np.full(30, -1)
    for number, (block, *_) in enumerate(graph.blocks):
        assert (block_of[block] == -1).all()
        block_of[block] = number
    assert (block_of >= 0).all()
    assert (block_of[links.i] != block_of[links.j]).all()
