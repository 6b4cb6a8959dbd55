"""DP-means against its definition: λ, the objective, and one cluster for each item or for all."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from semicrowd.methods.dp_means import DPMeans, farthest_first
from semicrowd.random import stream


def blobs() -> tuple[np.ndarray, np.ndarray]:
    """Four distant groups of 15 items in the plane, in random order."""
    rng = stream(0, "test")
    labels = rng.permutation(np.repeat(np.arange(4), 15))
    return np.array([[0, 0], [0, 20], [20, 0], [30, 30]])[labels] + rng.normal(size=(60, 2)), labels


def test_farthest_first_on_a_line() -> None:
    # Mean 4; furthest from it is 12 (64), then 0 (16); then 1, 2 and 5 are 1, 2 and 1 away from what has been taken.
    line = np.array([[0.0], [1.0], [2.0], [5.0], [12.0]])
    assert [farthest_first(line, number) for number in (1, 2, 3, 4)] == [64, 16, 4, 1]


def test_distant_groups_are_found_and_lambda_follows_from_their_number() -> None:
    features, labels = blobs()
    model = DPMeans(4).fit(features)
    assert adjusted_rand_score(labels, model.labels_) == 1
    assert model.n_clusters_ == len(model.cluster_centers_) == 4
    for cluster in range(4):
        assert model.cluster_centers_[cluster] == pytest.approx(features[model.labels_ == cluster].mean(0))


@pytest.mark.parametrize("penalty", [0.5, 3.0, 10.0, 200.0])
def test_the_objective_falls_to_a_fixed_point(penalty: float) -> None:
    features = stream(1, "test").normal(size=(200, 3)) * [1, 2, 4]
    model = DPMeans(penalty=penalty).fit(features)
    history = np.array(model.objective_history_)
    assert (np.diff(history) <= 1e-9 * history[0]).all()
    distance = ((features[:, None] - model.cluster_centers_) ** 2).sum(2)
    assert np.array_equal(distance.argmin(1), model.labels_)
    assert distance.min(1).max() <= penalty
    assert history[-1] == pytest.approx(distance.min(1).sum() + penalty * len(model.cluster_centers_))


def test_a_cluster_that_costs_nothing_and_one_that_costs_all() -> None:
    features, _ = blobs()
    assert DPMeans(penalty=1e-9).fit(features).n_clusters_ == 60
    one = DPMeans(penalty=1e6).fit(features)
    assert one.n_clusters_ == 1
    # Between them a price at which it is k-means with the best K of that price.
    costs = [KMeans(k, n_init=5, random_state=0).fit(features).inertia_ + 300 * k for k in range(1, 9)]
    assert DPMeans(penalty=300).fit(features).n_clusters_ == 1 + int(np.argmin(costs))
