"""The graph of neighbours against loops over all pairs; communities on data made to hold."""

import networkx
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from semicrowd.random import stream
from semicrowd.starts import neighbours, of_features
from semicrowd.starts.neighbours import NUM_NEIGHBOURS, Nearest, communities, neighbour_graph
from semicrowd.starts.of_features import clusters_of_features
from semicrowd.starts.preparing import preparations
from semicrowd.starts.unsupervised import clusters_of_preparations


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


def test_views_hold_together_what_the_features_have_torn() -> None:
    """Two pieces of a kind, far apart in the features; every item's view lies in the other piece."""
    rng = np.random.default_rng(2)
    pieces = np.repeat(np.arange(3), 60)
    centers = np.array([[0.0, 0], [40, 0], [0, 40]])
    features = centers[pieces] + rng.normal(size=(180, 2))
    other = np.array([1, 0, 2])[pieces]
    views = centers[other] + rng.normal(size=(180, 2))
    assert len(np.unique(communities(features, 15, stream(0, "test")))) >= 3
    found = communities(features, 15, stream(0, "test"), views)
    assert set(found[pieces == 0]) == set(found[pieces == 1])
    assert set(found[pieces == 2]).isdisjoint(found[pieces == 0])


def test_a_community_is_of_one_moon() -> None:
    features, labels = make_moons(600, noise=0.05, random_state=0)
    found = communities(features, 15, stream(0, "test"))
    assert min(np.bincount(labels[found == k]).max() / (found == k).sum() for k in range(found.max() + 1)) > 0.99


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


def _true(features: np.ndarray, number: int) -> np.ndarray:
    apart = cdist(features, features)
    np.fill_diagonal(apart, np.inf)
    return np.argsort(apart, 1)[:, :number]


def _recall(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, wanted, strict=True)]))


def test_few_items_are_compared_with_all_others() -> None:
    assert_array_equal(Nearest(FEATURES).others(7), _true(FEATURES, 7))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("items", "least"), [(601, 0.99), (1500, 0.97)])
def test_of_more_items_most_neighbours_are_found_and_nearly_all_of_a_few_more(items: int, least: float) -> None:
    some = FEATURES[:items]
    found = Nearest(some).others(7)
    assert _recall(found, _true(some, 7)) > least
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


def test_round_clusters_are_found_with_their_number() -> None:
    features, labels = make_blobs(300, 2, centers=[(0, 0), (8, 0), (0, 8), (8, 8)], random_state=0)
    found, said = clusters_of_features(features, 15, stream(0, "test"))
    assert adjusted_rand_score(labels, found) == 1.0
    assert "its 4 clusters" in said


def test_a_sample_finds_round_clusters_of_all_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_features, "_KMEANS_ITEMS", 80)
    test_round_clusters_are_found_with_their_number()


def test_without_round_clusters_communities_keep_what_hangs_together() -> None:
    features, labels = load_digits(return_X_y=True)
    found, said = clusters_of_features(StandardScaler().fit_transform(features), 15, stream(0, "test"))
    assert "communities" in said
    pieces = KMeans(int(found.max()) + 1, n_init=3, random_state=0).fit_predict(features)
    assert normalized_mutual_info_score(labels, found) > normalized_mutual_info_score(labels, pieces) + 0.05


def test_one_stream_finds_the_same_clusters_and_another_order_of_columns_too() -> None:
    features, _ = make_moons(200, noise=0.1, random_state=1)
    first, again, turned = (
        clusters_of_features(given, 15, stream(3, "test"))[0] for given in (features, features, features[:, ::-1])
    )
    assert np.array_equal(first, again)
    assert adjusted_rand_score(first, turned) > 0.99


def test_round_clusters_in_any_units() -> None:
    features, labels = make_blobs(200, 3, centers=4, cluster_std=0.6, random_state=1)
    found = clusters_of_preparations(features * [1e-3, 1, 1e5], stream(0, "test"), lambda _: None)
    assert adjusted_rand_score(labels, found.memberships.argmax(1)) == 1.0
    assert found.memberships.shape == (200, 4)
    assert "its 4 clusters of standardised features" in found.description
    assert list(found.preparations) == ["standardised"]


def test_clusters_are_those_of_the_features_and_an_item_is_less_sure_where_its_neighbours_are_others() -> None:
    features, _ = make_moons(300, noise=0.12, random_state=0)
    found = clusters_of_preparations(features, stream(0, "test"), lambda _: None)
    x = dict(preparations(features))["standardised"].items
    expected, _ = clusters_of_features(x, 26, stream(0, "test"))
    clusters = found.memberships.argmax(1)
    assert adjusted_rand_score(expected, clusters) == 1.0
    np.testing.assert_allclose(found.memberships.sum(1), 1)
    assert (found.memberships.max(1) >= 0.5).all()
    near = NearestNeighbors(n_neighbors=8).fit(x).kneighbors(x, return_distance=False)[:, 1:]
    agree = (clusters[near] == clusters[:, None]).mean(1)
    inside, border = found.memberships.max(1)[agree == 1], found.memberships.max(1)[agree < 0.75]
    assert len(border) > 5
    assert inside.mean() > border.mean() + 0.1


@pytest.mark.parametrize(("shape", "number"), [((1, 3), 1), ((8, 2), 1)])
def test_features_that_do_not_vary_are_one_cluster(shape: tuple[int, int], number: int) -> None:
    found = clusters_of_preparations(np.full(shape, 3.0), stream(0, "test"), lambda _: None)
    np.testing.assert_array_equal(found.memberships, np.ones((shape[0], number)))
    assert found.preparations == {}


@pytest.mark.parametrize("number", [2, 3, 5])
def test_a_few_items_are_no_error(number: int) -> None:
    features = np.random.default_rng(0).normal(size=(number, 2))
    found = clusters_of_preparations(features, stream(0, "test"), lambda _: None)
    assert len(found.memberships) == number
    np.testing.assert_allclose(found.memberships.sum(1), 1)
