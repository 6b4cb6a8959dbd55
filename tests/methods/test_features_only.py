"""Baselines that use the features alone: what they find where it is known, and their steps by definition."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from semicrowd.data.generated import draw_walk
from semicrowd.errors import UserError
from semicrowd.methods import gmeans
from semicrowd.methods.affinity_propagation import AffinityPropagation
from semicrowd.methods.dp_means import DPMeans, dp_means, farthest_first
from semicrowd.methods.gmeans import GMeans, anderson_darling
from semicrowd.methods.hmm import HMM
from semicrowd.methods.unsupervised import KMeansOnly
from semicrowd.random import stream


def test_standardised_k_means_is_the_same_in_all_units() -> None:
    labels, rng = np.repeat([0, 1], 45), stream(3, "test")
    features = np.stack([6.0 * labels, np.zeros(90)], 1) + rng.standard_normal((90, 2))
    in_other_units = features * [1, 1000]
    scaled, raw = (KMeansOnly(2, standardize=one).fit(in_other_units) for one in (True, False))
    assert normalized_mutual_info_score(labels, scaled.labels_) > 0.9
    assert normalized_mutual_info_score(labels, raw.labels_) < 0.2
    assert scaled.predict(in_other_units).tolist() == scaled.labels_.tolist()
    # Columns of a data frame have different units, those of an array one.
    for X, same in ((pd.DataFrame(in_other_units, columns=["a", "b"]), scaled), (in_other_units, raw)):
        auto = KMeansOnly(2).fit(X)
        assert auto.params_.standardize == same.params_.standardize
        assert auto.labels_.tolist() == same.labels_.tolist()


# Affinity propagation


def groups(number: int, size: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """``number`` distant groups of ``size`` items."""
    rng = stream(0, "test")
    labels = np.repeat(np.arange(number), size)
    return 20 * np.eye(number)[labels] + rng.normal(size=(len(labels), number)), labels


@pytest.mark.parametrize("number", [2, 5])
def test_the_number_of_exemplars_is_sought(number: int) -> None:
    features, labels = groups(number)
    model = AffinityPropagation(number).fit(features)
    assert adjusted_rand_score(labels, model.labels_) == 1
    assert all(center in features.tolist() for center in model.cluster_centers_.tolist())


def test_the_first_number_that_has_settled_is_kept_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two that are sought, messages settle at four only."""
    found = iter([(np.arange(4), True), *[(np.arange(1), False)] * 100])
    monkeypatch.setattr(AffinityPropagation, "_exemplars", lambda *_: next(found))
    assert len(AffinityPropagation(2).fit(groups(4)[0]).cluster_centers_) == 4
    monkeypatch.setattr(AffinityPropagation, "_exemplars", lambda *_: (np.arange(1), False))
    with pytest.raises(UserError, match="n_clusters=2"):
        AffinityPropagation(2).fit(groups(4)[0])


# DP-means


def test_farthest_first_on_a_line() -> None:
    # Mean 4; furthest from it is 12 (64), then 0 (16); then 1, 2 and 5 are 1, 2 and 1 away from what has been taken.
    line = np.array([[0.0], [1.0], [2.0], [5.0], [12.0]])
    assert [farthest_first(line, number) for number in (1, 2, 3, 4)] == [64, 16, 4, 1]


def test_distant_groups_are_found_and_lambda_follows_from_their_number() -> None:
    features, labels = groups(4)
    model = DPMeans(4).fit(features)
    assert adjusted_rand_score(labels, model.labels_) == 1
    assert model.n_clusters_ == len(model.cluster_centers_) == 4
    for cluster in range(4):
        assert model.cluster_centers_[cluster] == pytest.approx(features[model.labels_ == cluster].mean(0))


@pytest.mark.parametrize("penalty", [0.5, 3.0, 10.0, 200.0])
def test_the_objective_falls_to_a_fixed_point(penalty: float) -> None:
    features = stream(1, "test").normal(size=(200, 3)) * [1, 2, 4]
    centers, objectives = dp_means(features, penalty)
    history = np.array(objectives)
    assert (np.diff(history) <= 1e-9 * history[0]).all()
    distance = ((features[:, None] - centers) ** 2).sum(2)
    nearest = distance.argmin(1)
    assert all(centers[k] == pytest.approx(features[nearest == k].mean(0)) for k in range(len(centers)))
    assert distance.min(1).max() <= penalty
    assert history[-1] == pytest.approx(distance.min(1).sum() + penalty * len(centers))


# G-means


@pytest.mark.parametrize("n", [10, 57, 1000])
def test_the_statistic_is_scipys_and_rejects_as_often_as_it_should(n: int) -> None:
    values = stream(n, "test").gamma(3, size=n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        expected = stats.anderson(values, "norm").statistic
    assert anderson_darling(values) == pytest.approx(expected * (1 + 4 / n - 25 / n**2), rel=1e-9)


def test_distant_gaussians_are_found_and_their_number() -> None:
    features, labels = groups(5, 120)
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


def test_bounds_on_the_number_of_clusters_and_items_that_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    features, _ = groups(5, 120)
    assert GMeans().fit(np.ones((20, 2))).n_clusters_ == 1
    monkeypatch.setattr(gmeans, "_MOST_CLUSTERS", 3)
    assert GMeans().fit(features).n_clusters_ <= 3
    monkeypatch.setattr(gmeans, "_CRITICAL", 1e6)
    assert GMeans().fit(features).n_clusters_ == 1


# Hidden Markov model


def test_rooms_of_a_walk_are_found_and_its_law() -> None:
    counts, rooms, walks = draw_walk(stream(0, "test"))
    model = HMM(6, family="multinomial").fit(counts, sequence=walks)
    assert normalized_mutual_info_score(rooms, model.labels_) > 0.95
    stays = np.diag(model.transitions_) @ np.bincount(model.labels_) / len(rooms)
    assert stays == pytest.approx(0.95, abs=0.03)
    # The likelihood by the forward recursion, of three walks apart.
    emission = counts @ np.log(np.maximum(model.emissions_, 1e-12)).T
    total = 0.0
    for walk in range(3):
        rows = emission[walks == walk]
        with np.errstate(divide="ignore"):
            forward, move = np.log(model.beginning_) + rows[0], np.log(model.transitions_)
        for row in rows[1:]:
            forward = logsumexp(forward[:, None] + move, axis=0) + row
        total += logsumexp(forward)
    assert model.log_likelihood_ == pytest.approx(total, abs=0.05)  # the parameters are one step further


def test_rows_of_sequences_may_be_mixed() -> None:
    counts, _, walks = draw_walk(stream(2, "test"))
    mixed = np.argsort(np.tile(np.arange(200), 3), kind="stable")
    apart, together = (HMM(6, family="multinomial") for _ in range(2))
    apart.fit(counts, sequence=walks)
    together.fit(counts[mixed], sequence=walks[mixed])
    assert np.array_equal(together.labels_, apart.labels_[mixed])


@pytest.mark.parametrize(
    ("rows", "sequence", "named"),
    [([[1, 2], [3, 0.5]], None, "X, row 1, column 1"), ([[1, 2], [3, 0]], [0], "sequence")],
)
def test_what_does_not_fit_is_named(rows: list[list[float]], sequence: list[float] | None, named: str) -> None:
    with pytest.raises(UserError, match=named):
        HMM(2, family="multinomial").fit(np.array(rows), sequence=sequence)
