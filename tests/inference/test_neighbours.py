"""The graph of neighbours against loops over all pairs; communities on data made to hold."""

import networkx
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from semicrowd.inference import neighbours
from semicrowd.inference.neighbours import NUM_NEIGHBOURS, Nearest, communities, neighbour_graph
from semicrowd.random import stream


@pytest.mark.parametrize("with_views", [False, True])
def test_the_graph_counts_who_is_near_whom(with_views: bool) -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 3))
    views = features + rng.normal(size=(30, 3)) if with_views else None
    expected = np.zeros((30, 30))
    apart = cdist(features, features)
    np.fill_diagonal(apart, np.inf)
    for i in range(30):
        expected[i, np.argsort(apart[i])[:4]] += 1
        if views is not None:
            expected[i, np.argsort(cdist(views, features)[i])[:4]] += 1
    np.fill_diagonal(expected, 0)  # an item's view may be nearest to the item
    assert_array_equal(neighbour_graph(features, 4, views).toarray(), expected + expected.T)


def test_communities_have_the_modularity_that_networkx_finds_too() -> None:
    features, _ = make_blobs(300, 4, centers=6, cluster_std=2.5, random_state=1)
    graph = networkx.from_scipy_sparse_array(neighbour_graph(features, NUM_NEIGHBOURS))
    found = communities(features, 50, stream(0, "test"))
    ours = networkx.community.modularity(graph, [set(np.flatnonzero(found == k)) for k in np.unique(found)])
    theirs = max(
        networkx.community.modularity(graph, networkx.community.louvain_communities(graph, seed=seed))
        for seed in range(5)
    )
    assert ours > theirs - 0.005


def test_there_are_never_more_than_asked_for_even_where_the_graph_has_more_pieces() -> None:
    centers = [(30.0 * k, 0.0) for k in range(8)]
    features, labels = make_blobs([40, 40, 40, 40, 40, 20, 20, 20], 2, centers=centers, random_state=0)
    found = communities(features, 5, stream(0, "test"))
    assert sorted(np.unique(found)) == list(range(5))
    large = labels < 5
    assert adjusted_rand_score(labels[large], found[large]) == 1.0
    # The others join the nearest, which is the last of the large ones.
    assert set(found[labels > 4]) == {found[labels == 4][0]}


FEATURES, _ = make_blobs(1500, 6, centers=5, cluster_std=3.0, random_state=0)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured for tens of thousands of items, for hundreds."""
    monkeypatch.setattr(neighbours, "MAX_COMPARED", 600)
    monkeypatch.setattr(neighbours, "_ITEMS_PER_CELL", 15)


def _recall(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, wanted, strict=True)]))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("items", "least"), [(601, 0.99), (1500, 0.97)])
def test_of_more_items_most_neighbours_are_found_and_nearly_all_of_a_few_more(items: int, least: float) -> None:
    some = FEATURES[:items]
    found = Nearest(some).others(7)
    apart = cdist(some, some)
    np.fill_diagonal(apart, np.inf)
    assert _recall(found, np.argsort(apart, 1)[:, :7]) > least
    assert (found != np.arange(items)[:, None]).all()
    assert all(len(set(row)) == 7 for row in found)
    assert_array_equal(found, Nearest(some).others(7))


@pytest.mark.usefixtures("few")
def test_of_points_that_are_no_items() -> None:
    points = FEATURES[::3] + 0.5
    wanted = np.argsort(cdist(points, FEATURES), 1)[:, :7]
    assert _recall(Nearest(FEATURES).of(points, 7), wanted) > 0.97


@pytest.mark.usefixtures("few")
def test_items_that_are_all_alike_have_neighbours_other_than_themselves() -> None:
    features = np.concatenate([np.zeros((1000, 2)), np.ones((3, 2))])
    found = Nearest(features).others(2)
    assert (found != np.arange(1003)[:, None]).all()
    assert (found[:1000] < 1000).all()
    assert (found[1000:] >= 1000).all()
