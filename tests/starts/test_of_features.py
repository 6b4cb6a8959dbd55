"""Clusters of features alone: what made data hold, and what the rule of the silhouette and the bound on K do."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from semicrowd.random import stream
from semicrowd.starts import of_features
from semicrowd.starts.of_features import clusters_of_features
from semicrowd.starts.preparing import preparations
from semicrowd.starts.unsupervised import clusters_of_preparations


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
