"""SLPD, CKM and UKM as estimators."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import blocks_of
from semicrowd.errors import UserError
from semicrowd.methods.ckm import CKM, UKM
from semicrowd.methods.slpd.estimator import SLPD
from semicrowd.metrics import clustering_scores

Wine = tuple[np.ndarray, np.ndarray, PairAnnotations]


@pytest.fixture(scope="module")
def wine() -> Wine:
    """Features, growers, and chains of must-links among the first sixty of a shuffle."""
    features, labels = load_wine(return_X_y=True)
    shuffled = np.random.default_rng(0).permutation(len(labels))[:60]
    chains = [shuffled[labels[shuffled] == grower] for grower in range(3)]
    pairs = np.array([(a, b) for chain in chains for a, b in pairwise(chain)])
    answers = PairAnnotations.from_arrays(
        pairs[:, 0], pairs[:, 1], np.zeros(len(pairs), int), np.ones(len(pairs), int), num_items=len(labels)
    )
    return features, labels, answers


@pytest.fixture(scope="module")
def fitted(wine: Wine) -> SLPD:
    return SLPD(3, n_restarts=4).fit(wine[0], wine[2])


def test_linked_items_share_their_cluster_and_the_wines_are_found(wine: Wine, fitted: SLPD) -> None:
    features, labels, answers = wine
    blocks = blocks_of(answers)
    assert len(np.unique(blocks)) == len(labels) - answers.num_pairs
    for method in (fitted, CKM(3).fit(features, answers)):
        assert (method.labels_[answers.i] == method.labels_[answers.j]).all()
        assert clustering_scores(labels, method.labels_)["acc"] > 0.9
    assert fitted.bound_ == fitted.bounds_.max()
    np.testing.assert_allclose(fitted.predict_proba(features).sum(1), 1)


def test_values_that_are_missing_take_no_part(wine: Wine) -> None:
    features = wine[0].copy()
    features[np.random.default_rng(1).random(features.shape) < 0.1] = np.nan
    found = SLPD(3, n_restarts=4).fit(features)
    assert clustering_scores(wine[1], found.labels_)["acc"] > 0.85
    alone = np.full((1, 13), np.nan)
    np.testing.assert_allclose(found.predict_proba(alone)[0], found.concentration_ / found.concentration_.sum())
    assert found.score_samples(alone)[0] == pytest.approx(0, abs=1e-12)
    features[3, 2] = np.inf
    with pytest.raises(UserError, match="row 3, column 2"):
        SLPD(3).fit(features)
    features[:, 2] = np.nan
    with pytest.raises(UserError, match="X, column 2: no value; expected one at least"):
        SLPD(3).fit(features)


def test_the_likelihood_is_in_the_units_of_the_items() -> None:
    """With clusters that are all alike, that of independent Gaussians."""
    rng = np.random.default_rng(0)
    items = rng.normal(3, 5, (400, 2))
    model = SLPD(2, n_restarts=1).fit(items)
    model.means_, model.variances_ = np.zeros_like(model.means_), np.ones_like(model.variances_)
    expected = stats.norm.logpdf(items, items.mean(0), items.std(0)).sum(1)
    np.testing.assert_allclose(model.score_samples(items), expected)
    assert model.score(items) == pytest.approx(expected.mean())
    assert (model.log_likelihood(items)[1] < 1e-9).all()


def test_ckm_is_the_best_of_all_assignments_of_the_blocks() -> None:
    """Against enumeration: five blocks, two clusters."""
    rng = np.random.default_rng(2)
    items = rng.normal(size=(9, 2))
    answers = PairAnnotations.from_arrays([0, 1, 4, 6], [1, 2, 5, 7], [0] * 4, [1] * 4, num_items=9)
    model = CKM(2, n_init=50).fit(items, answers)
    scaled, blocks = model.scaler_.transform(items), blocks_of(answers)

    def cost(labels: np.ndarray) -> float:
        return sum(((scaled[labels == k] - scaled[labels == k].mean(0)) ** 2).sum() for k in (0, 1))

    splits = [np.array([(number >> block) & 1 for block in blocks]) for number in range(1, 2**4)]
    assert cost(model.labels_) == pytest.approx(min(cost(labels) for labels in splits))
    with pytest.raises(UserError, match="n_clusters=6: expected at most 5, the groups of linked items"):
        CKM(6).fit(items, answers)


def test_ukm_is_k_means(wine: Wine) -> None:
    features, _, answers = wine
    found = UKM(3).fit(features, answers)
    scaled = (features - features.mean(0)) / features.std(0)
    assert found.model_.inertia_ == pytest.approx(KMeans(3, n_init=10, random_state=0).fit(scaled).inertia_)
