"""Clusters of features alone: what made data hold, and what the rule of the silhouette and the bound on K do."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from semicrowd.random import stream
from semicrowd.starts import of_features
from semicrowd.starts.of_features import clusters_of_features


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
