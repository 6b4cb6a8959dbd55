"""Dirichlet process mixtures and infinite hidden Markov models as estimators."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.metrics import homogeneity_score, mutual_info_score, normalized_mutual_info_score

from semicrowd import DDPML, DIHS, DPM, IHMM
from semicrowd.errors import UserError
from semicrowd.methods import method
from semicrowd.methods.discriminative import sampling
from semicrowd.methods.discriminative.margins import Margins, log_margins
from semicrowd.random import stream

RNG = np.random.default_rng(0)
LABELS = np.repeat(np.arange(3), 15)
POINTS = 8 * np.eye(3)[LABELS] + RNG.normal(size=(45, 3))
COUNTS = RNG.poisson(1 + 9 * np.eye(3)[LABELS])
SHORT: dict[str, Any] = {"n_chains": 2, "n_sweeps": 14, "n_kept": 3}
NAMES = ("dpm", "ddpm_s", "ddpm_l", "ihmm", "dih_s", "dih_l")


@pytest.mark.parametrize("family", ["gaussian", "multinomial"])
@pytest.mark.parametrize("name", NAMES)
def test_clusters_far_apart_are_found_without_being_counted(
    name: str, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "DIRICHLET", 0.5)
    model = method(name)(**SHORT, family=family, scatter=0.1, keep_every=4)
    model.fit(POINTS if family == "gaussian" else COUNTS)
    # A sample of the posterior: a cluster may be in two pieces.
    assert homogeneity_score(LABELS, model.labels_) == pytest.approx(1)
    assert 3 <= model.n_clusters_ <= 5
    samples = model.result_.samples
    assert samples.partitions.shape == (10, 45)
    assert samples.sweep.tolist() == [4, 4, 8, 8, 12, 12, 13, 13, 14, 14]
    assert samples.kept.tolist() == [False] * 4 + [True] * 6
    assert len(samples.chains) == 28
    assert ("gamma" in samples.chains) == name.startswith(("i", "dih"))


def test_the_first_sweeps_are_those_of_a_mixture_without_hyperplanes() -> None:
    plain, warm = (one.fit(POINTS) for one in (DPM(**SHORT), DDPML(**SHORT, n_warm=11)))
    same = plain.chains_["alpha"] == warm.chains_["alpha"]
    assert same.tolist() == (plain.chains_["sweep"] <= 11).tolist()
    assert warm.hyperplanes_.shape == (warm.n_clusters_, 4)


def test_a_chain_does_not_depend_on_the_others() -> None:
    few, more = (DPM(n_chains=n, n_sweeps=6, random_state=3).fit(POINTS).chains_ for n in (1, 3))
    shared = few.columns.drop("seconds")
    assert few[shared].equals(more[more["chain"] == 0][shared].reset_index(drop=True))
    other = DPM(n_chains=1, n_sweeps=6, random_state=4).fit(POINTS).chains_
    assert not np.array_equal(few["alpha"], other["alpha"])


def test_new_items_take_the_cluster_that_explains_them() -> None:
    model = DDPML(**SHORT, scatter=0.1, n_warm=5).fit(POINTS)
    found = model.predict(8 * np.eye(3) + 0.5)
    assert found.tolist() == [model.labels_[k == LABELS][0] for k in range(3)]
    # Bayes' rule by hand for one of them: size, density, and the odds of its side of each hyperplane.
    alone = DPM(**SHORT, scatter=0.1).fit(POINTS)
    order = [int(alone.labels_[model.labels_ == k][0]) for k in range(3)]
    between = POINTS[:1] / 2
    seen = np.append((between - POINTS.mean(0)) / (np.sqrt(3) * POINTS.std(0)), 1.0)
    odds = alone.predict_proba(between)[0, order] * np.exp(model.hyperplanes_ @ seen)
    assert model.predict_proba(between)[0] == pytest.approx(odds / odds.sum(), rel=1e-6)


def test_sequences() -> None:
    one, two = (IHMM(**SHORT).fit(POINTS, sequence=ids) for ids in (None, np.repeat([4, 9], [20, 25])))
    assert not np.array_equal(one.chains_["alpha"], two.chains_["alpha"])
    same = IHMM(**SHORT).fit_predict(POINTS, sequence=np.zeros(45, int))
    assert np.array_equal(one.labels_, same)
    assert not hasattr(DIHS(), "predict")
    for wrong in (np.zeros(44, int), np.zeros(45), [["a"]] * 45):
        with pytest.raises(UserError, match=r"sequence: .*; expected 45 whole numbers, one a row"):
            IHMM(**SHORT).fit(POINTS, sequence=wrong)


def test_counts() -> None:
    with pytest.raises(UserError, match=r"X, row 0, column 1: -3; family=multinomial takes counts >= 0"):
        DPM(family="multinomial").fit(np.array([[1, -3], [2, 2]]))
    shares = COUNTS / 32
    plain = DPM(**SHORT, family="multinomial").fit(COUNTS)
    scaled = DPM(**SHORT, family="multinomial", count_scale=32.0).fit(shares)
    assert np.array_equal(plain.chains_["log_likelihood"], scaled.chains_["log_likelihood"])


def test_more_clusters_than_places_at_the_last_item() -> None:
    """Fifteen groups and an outlier in the last row: the sixteenth cluster begins there."""
    groups = np.repeat(np.arange(15), 4)
    points = np.append(200.0 * np.eye(16)[groups], [[0.0] * 15 + [200.0]], axis=0)
    points += 0.01 * np.random.default_rng(0).normal(size=points.shape)
    model = DPM(n_chains=4, n_sweeps=4, n_kept=1, scatter=0.001).fit(points)
    assert model.n_clusters_ == 16


def four_kinds() -> tuple[np.ndarray, np.ndarray]:
    """80 items of four kinds, 30 draws each from 50 columns of their kind."""
    rng, kinds = stream(0, "test"), np.repeat(np.arange(4), 20)
    return np.array([np.bincount(50 * k + rng.integers(50, size=30), minlength=200) for k in kinds]), kinds


@pytest.mark.parametrize("kind", [DPM, IHMM])
def test_chains_begin_with_partitions_of_their_own(kind: type[DPM] | type[IHMM]) -> None:
    features, kinds = four_kinds()
    options: dict[str, Any] = {"family": "multinomial", "n_chains": 2, "n_sweeps": 15}
    found = kind(n_start=30, **options).fit(features)
    assert normalized_mutual_info_score(kinds, found.labels_) == pytest.approx(1)
    noise = stream(2, "test").poisson(1.0, (60, 30))
    first = kind(n_start=30, **options).fit(noise).chains_.query("sweep == 1")["log_likelihood"]
    assert first.nunique() == 2
    assert not first.equals(kind(**options).fit(noise).chains_.query("sweep == 1")["log_likelihood"])


def test_the_partition_that_most_agree_on_has_the_least_loss() -> None:
    partitions = np.stack([np.unique(RNG.integers(k, size=40), return_inverse=True)[1] for k in (1, 2, 3, 3, 8)])

    def information(a: np.ndarray, b: np.ndarray) -> float:
        return float(entropy(np.bincount(a)) + entropy(np.bincount(b)) - 2 * mutual_info_score(a, b))

    expected = [np.mean([information(one, other) for other in partitions]) for one in partitions]
    assert sampling.expected_losses(partitions) == pytest.approx(np.array(expected), abs=1e-12)
    usual, near = np.repeat([0, 1], 20), np.repeat([0, 1], [19, 21])
    assert sampling.expected_losses(np.stack([np.arange(40), near, usual, usual, near[::-1].copy()])).argmin() == 2


def test_an_item_weighs_what_its_margin_to_the_best_other_rival_says() -> None:
    score = stream(0, "test").normal(size=(30, 6)) * 2
    rivals, cost, margin = np.array([4, 1, 2]), 0.7, 1.5
    found = log_margins(score, rivals, cost, margin)
    for item in range(30):
        for plane in range(6):
            best = max(score[item, other] for other in rivals if other != plane)
            expected = -2 * cost * max(0, margin - score[item, plane] + best)
            assert found[item, plane] == pytest.approx(expected)
    assert not log_margins(score, np.array([3]), cost, margin)[:, 3].any()  # alone: no rival
    assert not log_margins(score, np.array([], int), cost, margin).any()


@pytest.mark.slow
@pytest.mark.parametrize("z", [(0, 1, 0, 0, 1), (0, 1, 2, 0, 1)])
def test_the_vectors_follow_their_posterior(z: tuple[int, ...]) -> None:
    """Of any number of clusters; density on a grid."""
    rng, clusters = stream(1, "test"), max(z) + 1
    items = np.array([1.0, -0.5, 2.0, 0.3, -1.5])
    y = np.where(np.array(z)[:, None] == np.arange(clusters), 1.0, -1.0)
    planes = Margins(items[:, None], "margin", variance=0.8, cost=0.6, margin=1.2)
    eta = np.stack(np.meshgrid(*[np.linspace(-5, 5, 81)] * clusters, indexing="ij"))
    log_density = -np.square(eta).sum(0) / (2 * 0.8)
    for x, own in zip(items, z, strict=True):
        rival = np.delete(eta * x, own, axis=0).max(0)
        log_density -= 2 * 0.6 * np.maximum(0, 1.2 - eta[own] * x + rival)
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    one, draws = np.zeros((clusters, 1)), []
    for step in range(12_200):
        one = planes.redraw(one, y, rng)
        if step >= 200:
            draws.append(one[:, 0])
    found = np.array(draws)
    for a in range(clusters):
        assert found[:, a].mean() == pytest.approx((eta[a] * density).sum(), abs=0.05)
        for b in range(a, clusters):
            exact = (eta[a] * eta[b] * density).sum()
            assert (found[:, a] * found[:, b]).mean() == pytest.approx(exact, abs=0.06)


def test_one_cluster_has_a_vector_of_the_prior() -> None:
    rng = stream(2, "test")
    planes = Margins(np.ones((4, 1)), "margin", variance=2.0)
    drawn = np.array([planes.redraw(np.zeros((1, 1)), np.ones((4, 1)), rng)[0, 0] for _ in range(4000)])
    assert (drawn.mean(), drawn.var()) == (pytest.approx(0, abs=0.1), pytest.approx(2, abs=0.2))
