"""Isotropic clusters: eq. 19 by Monte Carlo, eq. 17 by its moments, and the printed eq. 19, which is no density."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from semicrowd.inference.gibbs.isotropic import Isotropic, isotropic
from semicrowd.inference.gibbs.sweep import draw_all, predictive, seat

RNG = np.random.default_rng(0)


def seated(x: np.ndarray, labels: list[int], eq19: str = "corrected") -> Isotropic:
    family: Isotropic = isotropic(x, np.full(x.shape[1], 0.3), 0.05, 3.0, 2.0, eq19)(3)
    seat(family, np.array(labels, int), np.zeros(3, np.int64))
    return family


def by_monte_carlo(x: np.ndarray, kappa: float, shape: float, rate: float, draws: int = 200_000) -> float:
    """ln of the mean of N(x | μ, I/λ) over the base around 0, importance-sampled: μ, λ near where the product is."""
    dim, rng = len(x), np.random.default_rng(1)
    near = stats.gamma(shape + dim / 2, scale=1 / (rate + kappa / (kappa + 1) * x @ x / 2))
    precision = near.rvs(draws, random_state=rng)
    centre, spread = x / (1 + kappa), (1 + kappa) * precision / 1.1
    noise = rng.standard_normal((draws // 2, dim))
    mean = centre + np.concatenate([noise, -noise]) / np.sqrt(spread)[:, None]

    def log_normal(square: np.ndarray, of: np.ndarray) -> np.ndarray:
        return dim / 2 * np.log(of / (2 * np.pi)) - of / 2 * square

    joint = stats.gamma(shape, scale=1 / rate).logpdf(precision)
    joint += log_normal(np.square(mean).sum(1), kappa * precision)
    joint += log_normal(np.square(mean - x).sum(1), precision)
    proposed = near.logpdf(precision) + log_normal(np.square(mean - centre).sum(1), spread)
    return float(logsumexp(joint - proposed) - np.log(draws))


@pytest.mark.parametrize("dim", [2, 10])
@pytest.mark.parametrize(("kappa", "shape", "rate"), [(0.005, 2000.0, 1000.0), (0.5, 3.0, 2.0)])
def test_the_density_of_a_new_cluster_is_that_of_monte_carlo(dim: int, kappa: float, shape: float, rate: float) -> None:
    x = RNG.normal(size=(1, dim))
    family = isotropic(x, np.zeros(dim), kappa, shape, rate)(1)
    expected = by_monte_carlo(x[0], kappa, shape, rate)
    assert predictive(family, 1, 1)[0, 0] == pytest.approx(expected, abs=1e-3)
    printed = isotropic(x, np.zeros(dim), kappa, shape, rate, "printed")(1)
    too_much = (dim - 1) / 2 * np.log((kappa + 1) / kappa)  # e^23.9 at κ₀ = .005 and D = 10
    assert predictive(printed, 1, 1)[0, 0] == pytest.approx(expected + too_much, abs=1e-3)


def test_means_and_precisions_are_drawn_as_eq_17_says() -> None:
    x = RNG.normal(size=(7, 3))
    family = seated(x, [0, 2, 2, 2, 0, 2, -1])
    rng, drawn = np.random.default_rng(2), []
    for _ in range(10_000):
        draw_all(family, family.number.astype(np.int64), rng)
        drawn.append(np.append(family.mean[2] + 0.3, family.precision[2]))
    own = x[[1, 2, 3, 5]]
    kappa, shape = 4.05, 3 + 6.0
    centre = (0.05 * 0.3 + 4 * own.mean(0)) / kappa
    rate = 2 + np.square(own - own.mean(0)).sum() / 2 + 0.05 * 4 / kappa * np.square(own.mean(0) - 0.3).sum() / 2
    *mean, precision = np.mean(drawn, 0)
    assert precision == pytest.approx(shape / rate, rel=0.02)
    assert np.array(drawn)[:, 3].var() == pytest.approx(shape / rate**2, rel=0.05)
    assert mean == pytest.approx(centre, abs=0.02)
    assert np.array(drawn)[:, 0].var() == pytest.approx(rate / (kappa * (shape - 1)), rel=0.06)  # a Student's
    expected = family.expected()
    assert expected.precision[2] == pytest.approx(shape / rate)
    assert expected.mean[2] + 0.3 == pytest.approx(centre)


def test_an_item_is_as_likely_in_a_cluster_as_its_gaussian_says() -> None:
    x = RNG.normal(size=(5, 2))
    family = seated(x, [0, 0, 1, 1, -1])
    draw_all(family, family.number.astype(np.int64), np.random.default_rng(3))
    for cluster in (0, 1):
        gaussian = stats.multivariate_normal(family.mean[cluster] + 0.3, np.eye(2) / family.precision[cluster])
        assert predictive(family, 5, 3)[:, cluster] == pytest.approx(gaussian.logpdf(x))
    new = RNG.normal(size=(3, 2))
    other = family.of(new)
    assert predictive(other, 3, 3)[:, 1] == pytest.approx(gaussian.logpdf(new))
    assert predictive(other, 3, 3)[:, 2] == pytest.approx(seated(new, []).log_new)
