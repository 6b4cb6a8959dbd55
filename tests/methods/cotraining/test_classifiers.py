"""Classifiers of all items from some, against scikit-learn and closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from scipy.special import softmax
from scipy.stats import multivariate_normal
from sklearn.datasets import make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.svm import SVC

from semicrowd.methods.cotraining import classifiers
from semicrowd.methods.cotraining.classifiers import (
    GaussianClassifier,
    Gaussians,
    ItemClassifier,
    KernelClassifier,
    LabelPropagation,
)
from semicrowd.methods.cotraining.pool import Pool

FEATURES, LABELS = make_blobs(240, 3, centers=4, cluster_std=1.6, random_state=3)
FEATURES = FEATURES - FEATURES.mean(0)
ITEMS = np.arange(0, 240, 4)
KNOWN = np.eye(4)[LABELS[ITEMS]]
NEIGHBOURS = LabelPropagation(FEATURES)
CLASSIFIERS: dict[str, ItemClassifier | Pool] = {
    "kernel": KernelClassifier(FEATURES),
    "neighbours": NEIGHBOURS,
    "full": GaussianClassifier(FEATURES, NEIGHBOURS, 3, shared=False),
    "shared": GaussianClassifier(FEATURES, NEIGHBOURS, 3, shared=True),
    "pool": Pool([KernelClassifier(FEATURES), NEIGHBOURS]),
}


@pytest.mark.parametrize("classifier", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_all_items_get_probabilities_and_most_of_them_the_right_cluster(classifier: ItemClassifier | Pool) -> None:
    found = classifier(ITEMS, KNOWN)
    assert found.shape == (240, 4)
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)
    assert (found.argmax(1) == LABELS).mean() > 0.8


@pytest.mark.parametrize("name", ["kernel", "neighbours", "full", "shared"])
def test_out_of_sample_all_folds_at_once_are_as_each_on_its_own(name: str) -> None:
    fold = np.random.default_rng(0).permutation(len(ITEMS)) % 5
    found = CLASSIFIERS[name].out_of_sample(ITEMS, KNOWN, fold)
    for one in range(5):
        rest = fold != one
        expected = CLASSIFIERS[name](ITEMS[rest], KNOWN[rest])[ITEMS[~rest]]
        np.testing.assert_allclose(found[~rest], expected, atol=1e-5)


def test_a_sample_of_the_items_gives_what_all_of_them_give(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a million: Gaussians see half of the items, and all are asked in pieces."""
    features, labels = make_blobs(2000, 3, centers=4, cluster_std=1.6, random_state=3)
    items = np.arange(0, 2000, 4)
    known = np.eye(4)[labels[items]]

    def found() -> list[np.ndarray]:
        neighbours = LabelPropagation(features)
        gaussians = [GaussianClassifier(features, neighbours, 3, shared=shared) for shared in (False, True)]
        return [classifier(items, known) for classifier in (KernelClassifier(features), neighbours, *gaussians)]

    whole = found()
    for name, value in (("_MAX_UNANNOTATED", 700), ("_BATCH", 99), ("_COLUMNS_AT_ONCE", 3), ("_MAX_KERNEL", 400)):
        monkeypatch.setattr(classifiers, name, value)
    for one, two in zip(whole, found(), strict=True):
        assert np.abs(one - two).mean() < 0.01
        assert (one.argmax(1) == two.argmax(1)).mean() > 0.98


def test_one_cluster_alone_and_clusters_that_nobody_has_are_no_error() -> None:
    alone = np.eye(3)[np.zeros(len(ITEMS), int)]
    for name in ("kernel", "neighbours", "full", "shared"):
        found = CLASSIFIERS[name](ITEMS, alone)
        assert np.isfinite(found).all(), name
        assert (found.argmax(1) == 0).all(), name


def test_a_kernel_is_as_wide_as_items_are_apart() -> None:
    machine = SVC(C=10, gamma=1 / cdist(FEATURES[ITEMS], FEATURES[ITEMS], "sqeuclidean").mean())
    expected = machine.fit(FEATURES[ITEMS], LABELS[ITEMS]).predict(FEATURES)
    found = CLASSIFIERS["kernel"](ITEMS, KNOWN).argmax(1)
    assert (found == expected).mean() > 0.98  # of few items, the mean is not quite 0


def test_neighbours_are_the_fixed_point_in_closed_form() -> None:
    source = np.zeros((240, 4))
    source[ITEMS] = KNOWN
    expected = np.linalg.solve(np.eye(240) - 0.8 * NEIGHBOURS.graph.toarray(), 0.2 * source) + 1e-6 * KNOWN.mean(0)
    np.testing.assert_allclose(NEIGHBOURS(ITEMS, KNOWN), expected / expected.sum(1, keepdims=True), atol=1e-4)


@pytest.mark.parametrize(
    ("shared", "oracle"), [(True, LinearDiscriminantAnalysis()), (False, QuadraticDiscriminantAnalysis())]
)
def test_gaussians_of_known_items_alone_are_discriminant_analysis(shared: bool, oracle: object) -> None:
    features, labels = make_blobs(2000, 3, centers=3, cluster_std=3.0, random_state=1)
    classifier = GaussianClassifier(features, LabelPropagation(features), 3, shared=shared)
    found = classifier(np.arange(2000), np.eye(3)[labels])
    expected = oracle.fit(features, labels).predict_proba(features)  # type: ignore[attr-defined]
    np.testing.assert_allclose(found, expected, atol=0.02)  # the prior of 2 d + 4 pseudo-items is the rest


def test_density_of_a_gaussian_with_its_own_covariance() -> None:
    x, _ = make_blobs(240, 3, centers=4, cluster_std=1.6, random_state=3)
    z = softmax(np.random.default_rng(0).normal(size=(240, 2)), axis=1)
    size = z.sum(0)
    expected = []
    for k in range(2):
        mean = (z[:, k] @ x) / (size[k] + 0.01)
        centred = x - mean
        scatter = (z[:, k, None] * centred).T @ centred + 0.01 * np.outer(mean, mean)
        scatter += np.diag(x.var(0)) * 2 ** (-2 / 3)
        density = multivariate_normal(mean, scatter / (size[k] + 10)).logpdf(x)
        expected.append(density + np.log((size[k] + 1) / 242))
    found, wanted = Gaussians(x, x.var(0), shared=False).mode(z).log_density(x), np.stack(expected, 1)
    assert_allclose(found[:, 1] - found[:, 0], wanted[:, 1] - wanted[:, 0], rtol=1e-8)
