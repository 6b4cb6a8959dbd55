"""Classifiers of all items from some, against scikit-learn, closed forms and a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import multivariate_normal
from sklearn.datasets import make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

from semicrowd.starts.spreading import (
    GaussianSpread,
    LogisticSpread,
    NeighbourSpread,
    NetworkSpread,
    Spread,
    StackedSpread,
    raised,
)

FEATURES, LABELS = make_blobs(240, 3, centers=4, cluster_std=1.6, random_state=3)
ITEMS = np.arange(0, 240, 4)
KNOWN = np.eye(4)[LABELS[ITEMS]]
NEIGHBOURS = NeighbourSpread(FEATURES)
SPREADS = {
    "logistic": LogisticSpread(FEATURES),
    "neighbours": NEIGHBOURS,
    "full": GaussianSpread(FEATURES, NEIGHBOURS, 3, shared=False),
    "shared": GaussianSpread(FEATURES, NEIGHBOURS, 3, shared=True),
    "networks": NetworkSpread(FEATURES.astype(np.float32), (8,), 2, 0),
    "stacked": StackedSpread([LogisticSpread(FEATURES), NEIGHBOURS]),
}


@pytest.mark.parametrize("spread", SPREADS.values(), ids=SPREADS)
def test_all_items_get_probabilities_and_most_of_them_the_right_cluster(spread: Spread) -> None:
    found = spread(ITEMS, KNOWN)
    assert found.shape == (240, 4)
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)
    assert (found.argmax(1) == LABELS).mean() > 0.8


class Spy(Spread):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[np.ndarray] = []

    def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:
        self.told.append(items)
        return np.full((240, known.shape[1]), float(len(self.told)))


def test_out_of_sample_an_item_is_classified_by_those_of_other_folds() -> None:
    spy, fold = Spy(), np.arange(len(ITEMS)) % 5
    found = spy.out_of_sample(ITEMS, KNOWN, fold)
    for one, told in enumerate(spy.told):
        assert not set(told) & set(ITEMS[fold == one])
        assert (found[fold == one] == one + 1).all()


def test_networks_of_all_folds_at_once_have_not_seen_the_item() -> None:
    fold = np.arange(len(ITEMS)) % 3
    other = KNOWN.copy()
    other[fold == 1] = np.roll(KNOWN, 1, axis=1)[fold == 1]
    one, two = (SPREADS["networks"].out_of_sample(ITEMS, known, fold) for known in (KNOWN, other))
    np.testing.assert_allclose(one[fold == 1], two[fold == 1], rtol=1e-5)
    assert np.abs(one[fold != 1] - two[fold != 1]).max() > 0.1


def test_one_cluster_alone_and_clusters_that_nobody_has_are_no_error() -> None:
    alone = np.eye(3)[np.zeros(len(ITEMS), int)]
    for name in ("logistic", "neighbours", "full", "shared"):
        found = SPREADS[name](ITEMS, alone)
        assert np.isfinite(found).all(), name
        assert (found.argmax(1) == 0).all(), name


def test_logistic_is_that_of_scikit_learn() -> None:
    expected = LogisticRegression(max_iter=200).fit(FEATURES[ITEMS], LABELS[ITEMS]).predict_proba(FEATURES)
    np.testing.assert_allclose(SPREADS["logistic"](ITEMS, KNOWN), expected, atol=1e-6)


def test_neighbours_are_the_fixed_point_in_closed_form() -> None:
    said = np.zeros((240, 4))
    said[ITEMS] = KNOWN
    expected = np.linalg.solve(np.eye(240) - 0.8 * NEIGHBOURS.graph.toarray(), 0.2 * said) + 1e-6 * KNOWN.mean(0)
    np.testing.assert_allclose(NEIGHBOURS(ITEMS, KNOWN), expected / expected.sum(1, keepdims=True), atol=2e-3)


@pytest.mark.parametrize(
    ("shared", "oracle"), [(True, LinearDiscriminantAnalysis()), (False, QuadraticDiscriminantAnalysis())]
)
def test_gaussians_of_known_items_alone_are_discriminant_analysis(shared: bool, oracle: object) -> None:
    features, labels = make_blobs(2000, 3, centers=3, cluster_std=3.0, random_state=1)
    spread = GaussianSpread(features, NeighbourSpread(features), 3, shared=shared)
    found = spread(np.arange(2000), np.eye(3)[labels])
    expected = oracle.fit(features, labels).predict_proba(features)  # type: ignore[attr-defined]
    np.testing.assert_allclose(found, expected, atol=0.02)  # the prior of 2 d + 4 pseudo-items is the rest


def test_density_of_a_gaussian_with_its_own_covariance() -> None:
    spread = SPREADS["full"]
    assert isinstance(spread, GaussianSpread)
    z = softmax(np.random.default_rng(0).normal(size=(240, 2)), axis=1)
    size = z.sum(0)
    expected = []
    for k in range(2):
        mean = (z[:, k] @ FEATURES) / (size[k] + 0.01)
        centred = FEATURES - mean
        scatter = (z[:, k, None] * centred).T @ centred + 0.01 * np.outer(mean, mean)
        scatter += np.diag(FEATURES.var(0)) * 2 ** (-2 / 3)
        density = multivariate_normal(mean, scatter / (size[k] + 10)).logpdf(FEATURES)
        expected.append(density + np.log((size[k] + 1) / 242))
    found, wanted = spread._log_density(z), np.stack(expected, 1)
    np.testing.assert_allclose(found[:, 1] - found[:, 0], wanted[:, 1] - wanted[:, 0], rtol=1e-8)


def test_shares_are_the_most_probable() -> None:
    stack = StackedSpread([SPREADS["logistic"], NEIGHBOURS, SPREADS["shared"]])
    fold = np.arange(len(ITEMS)) % 5
    stack.out_of_sample(ITEMS, KNOWN, fold)
    parts = [
        raised(one.out_of_sample(ITEMS, KNOWN, fold), power)
        for one, power in zip(stack.spreads, stack.powers, strict=True)
    ]

    def loss(logits: np.ndarray) -> float:
        shares = softmax(logits)
        prior = 5 * np.log(shares).sum()
        return -float((KNOWN * np.log(np.tensordot(shares, parts, 1))).sum() + prior)

    best = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"maxiter": 4000})
    assert loss(np.log(stack.shares + 1e-12)) <= best.fun + 0.02


def test_powers_are_those_that_the_known_items_like_best() -> None:
    class Unsure(Spread):
        def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:  # noqa: ARG002
            return softmax(np.eye(4)[LABELS], axis=1)

    stack = StackedSpread([Unsure()])
    stack.out_of_sample(ITEMS, KNOWN, np.arange(len(ITEMS)) % 5)
    assert stack.powers == [4.0]
