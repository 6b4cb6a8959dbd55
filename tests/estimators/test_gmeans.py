"""G-means: its test against scipy, and the number of clusters where it is known."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from semicrowd.methods.gmeans import GMeans, anderson_darling
from semicrowd.random import stream


def blobs(spread: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = stream(0, "test")
    labels = rng.permutation(np.repeat(np.arange(5), 120))
    centers = np.array([[0, 0, 0], [0, 12, 0], [12, 0, 0], [0, 0, 12], [12, 12, 12]])
    return centers[labels] + spread * rng.normal(size=(600, 3)), labels


@pytest.mark.parametrize("n", [10, 57, 1000])
def test_the_statistic_is_scipys_and_rejects_as_often_as_it_should(n: int) -> None:
    values = stream(n, "test").gamma(3, size=n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        expected = stats.anderson(values, "norm").statistic
    assert anderson_darling(values) == pytest.approx(expected * (1 + 4 / n - 25 / n**2), rel=1e-9)


def test_one_in_a_hundred_gaussians_is_above_the_value_of_one_per_cent() -> None:
    # D'Agostino & Stephens 1986, table 4.7: 1.035 at 1 %.
    rng = stream(3, "test")
    above = np.mean([anderson_darling(rng.normal(size=60)) > 1.035 for _ in range(4000)])
    assert above == pytest.approx(0.01, abs=0.005)


def test_distant_gaussians_are_found_and_their_number() -> None:
    features, labels = blobs()
    model = GMeans().fit(features)
    assert model.n_clusters_ == 5
    assert adjusted_rand_score(labels, model.labels_) == 1
    assert np.array_equal(model.predict(features), model.labels_)


def test_one_gaussian_stays_whole_and_a_ring_does_not() -> None:
    rng = stream(1, "test")
    assert GMeans().fit(rng.normal(size=(500, 4)) * [1, 2, 3, 4]).n_clusters_ == 1
    angle = rng.uniform(0, 2 * np.pi, 500)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    assert GMeans().fit(ring).n_clusters_ > 2


def test_k_means_has_converged_at_the_end_though_not_in_every_round() -> None:
    features = stream(2, "test").uniform(size=(4000, 2))
    model = GMeans().fit(features)
    further = KMeans(model.n_clusters_, init=model.cluster_centers_, n_init=1).fit(features)
    assert model.n_clusters_ > 30
    distances = np.square(features - model.cluster_centers_[model.labels_]).sum()
    assert further.inertia_ == pytest.approx(distances, rel=1e-3)


def test_bounds_on_the_number_of_clusters_and_items_that_are_alike() -> None:
    features, _ = blobs()
    assert GMeans(most=3).fit(features).n_clusters_ <= 3
    assert GMeans(critical=1e6).fit(features).n_clusters_ == 1
    assert GMeans().fit(np.ones((20, 2))).n_clusters_ == 1
