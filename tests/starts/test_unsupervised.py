"""Clusters of the features alone, as probabilities, in the preparation that comes first."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from semicrowd.random import stream
from semicrowd.starts.of_features import clusters_of_features
from semicrowd.starts.preparing import preparations
from semicrowd.starts.unsupervised import clusters_of_preparations


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


def test_there_are_never_more_clusters_than_asked_for() -> None:
    features, _ = make_blobs(200, 2, centers=12, cluster_std=0.1, random_state=1)
    found = clusters_of_preparations(features, stream(0, "test"), lambda _: None, 5)
    assert found.memberships.shape[1] <= 5


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
