"""Clusters of features alone, on data made to hold, and the posterior over their number against its formula."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from semicrowd.inference import features_alone
from semicrowd.inference.features_alone import FACTOR, MISSED, clusters_of_features, posterior_of
from semicrowd.random import stream


def test_votes_are_spread_by_a_kernel_whose_weights_are_normalised() -> None:
    """By loops over the votes and over the numbers."""
    counts, most = np.array([2, 3, 3, 3, 5, 9]), 6  # nine communities are a vote for six
    expected = dict.fromkeys(range(2, most + 1), 0.0)
    for vote in np.minimum(counts, most).tolist():
        weights = {K: (min(K, vote) / max(K, vote)) ** (1 / FACTOR) for K in expected}
        for K, weight in weights.items():
            share = (1 - MISSED) * (vote == K) + MISSED * weight / sum(weights.values())
            expected[K] += share / len(counts)
    assert posterior_of(counts, most) == pytest.approx(expected)
    assert sum(expected.values()) == pytest.approx(1)


@pytest.mark.parametrize("items", [3000, 150], ids=["all", "a sample"])
def test_round_clusters_are_found_with_their_number(items: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features_alone, "ITEMS", items)
    features, labels = make_blobs([120, 80, 60, 40], 2, centers=[(0, 0), (8, 0), (0, 8), (8, 8)], random_state=0)
    found, posterior = clusters_of_features(PCA().fit_transform(features), 15, stream(0, "test"))
    assert adjusted_rand_score(labels, found) == 1.0
    assert np.bincount(found).tolist() == [120, 80, 60, 40]
    assert list(posterior) == list(range(2, 16))
    assert max(posterior, key=lambda K: posterior[K]) == 4
    assert sum(posterior.values()) == pytest.approx(1)


def test_communities_keep_what_hangs_together() -> None:
    features, labels = load_digits(return_X_y=True)
    x = PCA(30).fit_transform(StandardScaler().fit_transform(features[:800]))
    found, _ = clusters_of_features(x, 20, stream(0, "test"))
    pieces = KMeans(int(found.max()) + 1, n_init=3, random_state=0).fit_predict(x)
    agreement = (normalized_mutual_info_score(labels[:800], one) for one in (found, pieces))
    assert next(agreement) > next(agreement) + 0.05


def test_one_stream_finds_the_same_clusters() -> None:
    features, _ = make_moons(200, noise=0.1, random_state=1)
    x = PCA().fit_transform(features)
    (first, one), (again, two) = (clusters_of_features(x, 15, stream(3, "test")) for _ in range(2))
    assert np.array_equal(first, again)
    assert one == two


@pytest.mark.parametrize("features", [np.zeros((9, 2)), np.arange(4.0)[:, None], np.array([[0.0], [1.0]])])
def test_a_few_items_or_none_that_differ_are_no_error(features: np.ndarray) -> None:
    found, posterior = clusters_of_features(features, 3, stream(0, "test"))
    assert len(found) == len(features)
    assert sum(posterior.values()) == pytest.approx(1)
