"""Clusters beside something else that shows: the mixture in two ways, against densities written out and simulations."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import multivariate_normal
from sklearn.linear_model import LogisticRegression

from semicrowd.starts import two_way
from semicrowd.starts.gaussians import Gaussians
from semicrowd.starts.item_classifiers import GaussianClassifier, LabelPropagation
from semicrowd.starts.neighbours import neighbour_graph
from semicrowd.starts.two_way import TwoWayClassifier, TwoWays

#: Pseudo-items of the priors.
CLUSTER, OTHER, CELL = 0.01, 0.1, 10.0


def _two_ways(number: int, dims: int = 6, levels: int = 8, far: float = 5.0) -> tuple[np.ndarray, ...]:
    """Items of three clusters, a few standard deviations apart, each also of one of the other kinds, far apart."""
    rng = np.random.default_rng(1)
    z, w = rng.integers(3, size=number), rng.integers(levels, size=number)
    a, b = 1.8 * rng.normal(size=(3, dims)), far * rng.normal(size=(levels, dims))
    return a[z] + b[w] + rng.normal(size=(number, dims)), z, w


def _classifier(x: np.ndarray, dims: int = 50) -> TwoWayClassifier:
    return TwoWayClassifier(x, GaussianClassifier(x, LabelPropagation(x), dims, shared=True))


def test_means_and_their_doubt_are_those_of_a_regression_on_all_factors() -> None:
    """All of a, b and c in one design matrix: interactions are not integrated out by hand."""
    rng = np.random.default_rng(0)
    x, both = rng.normal(size=(12, 2)), rng.dirichlet(np.ones(6), size=12).reshape(12, 2, 3)
    mode = TwoWays(x, np.ones(2)).mode(both)
    design = np.array([[*np.eye(2)[k], *np.eye(3)[o], *np.eye(6)[3 * k + o]] for k, o in product(range(2), range(3))])
    prior = np.diag([CLUSTER] * 2 + [OTHER] * 3 + [CELL] * 6)
    weight = both.reshape(12, 6)
    precision = prior + design.T @ np.diag(weight.sum(0)) @ design
    effects = np.linalg.solve(precision, design.T @ weight.T @ x)
    mean, doubt = design @ effects, np.diag(design @ np.linalg.inv(precision) @ design.T)
    residual = x[:, None] - mean
    scatter = np.einsum("nc,ncd,nce->de", weight, residual, residual) + effects.T @ prior @ effects + np.eye(2) / 2
    covariance = scatter / (12 + 2 * 2 + 4)
    shares = [np.log((one + 1) / (12 + len(one))) for one in (both.sum((0, 2)), both.sum((0, 1)))]
    expected = np.stack([multivariate_normal(one, covariance).logpdf(x) for one in mean], 1) - doubt
    expected = expected.reshape(12, 2, 3) + shares[0][:, None] + shares[1]
    difference = mode.log_density(x) - expected
    np.testing.assert_allclose(difference, np.broadcast_to(difference[:, :1, :1], difference.shape), atol=1e-9)


def test_the_bound_of_certain_items_is_their_density_with_all_means_integrated_out() -> None:
    """One column: items are jointly Gaussian given Σ; compared with another L, as constants are left out."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(8, 1)), np.arange(8) % 2
    known = np.log(np.eye(2)[z] * (1 - 2e-12) + 1e-12)

    def found(w: np.ndarray, number: int) -> float:
        both = np.eye(2)[z][:, :, None] * np.eye(number)[w][:, None]
        return float(TwoWays(x, np.ones(1)).mode(both, known).bound)

    def expected(w: np.ndarray, number: int) -> float:
        alike = (z[:, None] == z) / CLUSTER + (w[:, None] == w) / OTHER
        alike = alike + ((z[:, None] == z) & (w[:, None] == w)) / CELL + np.eye(8)
        scale = (x.T @ np.linalg.solve(alike, x) + 2.0**-2).item() / (8 + 2 + 4)
        log_p = -0.5 * np.linalg.slogdet(alike)[1] - 0.5 * (8 + 2 + 4) * np.log(scale)
        size = np.bincount(w, minlength=number)
        shares = np.log((size + 1) / (8 + number))
        return float(log_p + (size + 1) @ shares + gammaln(2 * number) + gammaln(number + 1))

    one, many = (np.zeros(8, int), 1), (np.array([0, 0, 1, 1, 2, 2, 0, 1]), 3)
    assert found(*many) - found(*one) == pytest.approx(expected(*many) - expected(*one), abs=1e-6)


def test_no_step_lowers_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    x, z, _ = _two_ways(120, far=2.0)
    known = np.eye(3)[z[:20]] * 0.97 + 0.01
    monkeypatch.setattr(two_way, "_TOLERANCE", 0.0)
    bounds = []
    for steps in range(1, 25):
        monkeypatch.setattr(two_way, "_ITERATIONS", steps)
        bounds.append(TwoWays(x, x.var(0)).fit(np.arange(20), known, np.full((120, 3), 1 / 3), 5).bound)
    assert (np.diff(bounds) > -1e-6).all()
    assert bounds[-1] > bounds[0] + 1


def test_what_else_shows_is_told_from_the_clusters_where_others_do_not() -> None:
    """Few items are known: by logistic regression, neighbours and Gaussians most of what shows is the other kind."""
    x, z, w = _two_ways(500)
    items = np.arange(40)
    known, classifier = np.eye(3)[z[:40]], _classifier(x)
    right = (classifier(items, known).argmax(1) == z)[40:].mean()
    logistic = LogisticRegression(max_iter=500).fit(x[:40], z[:40]).score(x[40:], z[40:])
    one_level = (classifier.one_level(items, known).argmax(1) == z)[40:].mean()
    nearest = (neighbour_graph(x, 7) @ np.eye(8)[w]).argmax(1)
    assert (nearest == w).mean() > 0.95, "else there would be nothing in the way"
    assert right > 0.9
    assert right > max(logistic, one_level) + 0.1
    assert classifier.levels[3] > 1


def test_where_nothing_else_shows_it_is_the_plain_mixture() -> None:
    x, z, _ = _two_ways(400, far=0.0)
    items, known, classifier = np.arange(0, 400, 5), np.eye(3)[z[::5]], _classifier(x)
    fold = np.random.default_rng(0).permutation(80) % 5
    np.testing.assert_array_equal(classifier(items, known), classifier.one_level(items, known))
    assert classifier.levels == {3: 1}
    found = classifier.out_of_sample(items, known, fold)
    np.testing.assert_array_equal(found, classifier.one_level.out_of_sample(items, known, fold))


def test_with_one_other_kind_the_mixture_is_that_of_gaussians() -> None:
    """All items known: then EM has nothing to find, and only the priors of the means are not the same."""
    x, z, _ = _two_ways(900, far=0.0)
    both = np.eye(3)[z]
    expected = Gaussians(x, x.var(0), shared=True).mode(both).log_density(x)
    found = TwoWays(x, x.var(0)).mode(both[:, :, None]).log_density(x)[:, :, 0]
    np.testing.assert_allclose(found - found[:, :1], expected - expected[:, :1], atol=0.1)


def test_out_of_sample_an_item_is_not_seen_with_its_cluster() -> None:
    x, z, _ = _two_ways(300)
    items, known, fold = np.arange(60), np.eye(3)[z[:60]], np.arange(60) % 5
    classifier = _classifier(x)
    found = classifier.out_of_sample(items, known, fold)
    for one in range(5):
        rest = fold != one
        np.testing.assert_allclose(found[~rest], classifier(items[rest], known[rest])[items[~rest]], atol=1e-9)
    assert (found.argmax(1) == z[:60]).mean() > 0.8


def test_some_items_are_enough_and_clusters_that_nobody_has_get_next_to_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("_MAX_UNANNOTATED", "_MAX_KNOWN"):
        monkeypatch.setattr(two_way, name, 250)
    x, z, _ = _two_ways(3000)
    found = _classifier(x)(np.arange(400), np.eye(5)[z[:400]])
    assert (found.argmax(1) == z).mean() > 0.9
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-6)
    assert found[:, 3:].max() < 1e-6
