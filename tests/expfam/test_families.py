"""Every family against autograd, scipy and Monte Carlo, in float64."""

import math
from types import ModuleType

import numpy as np
import pytest
import torch
from scipy import optimize, special, stats

from semicrowd.expfam import dirichlet, gaussian, in_domain, kl_divergence, normal_inverse_wishart
from semicrowd.expfam.dirichlet import newton, objective
from semicrowd.expfam.shared_prior import HYPERPRIOR_SD, common_beta

DIMENSIONS = [1, 2, 5]


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def positive(*shape: int, seed: int = 0) -> torch.Tensor:
    return 0.3 + 4 * torch.rand(shape, generator=generator(seed), dtype=torch.float64)


def covariance(*batch: int, d: int, seed: int = 0) -> torch.Tensor:
    root = torch.randn(*batch, d, d, generator=generator(seed), dtype=torch.float64)
    return root @ root.mT + 0.5 * torch.eye(d, dtype=torch.float64)


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=generator(seed + 99), dtype=torch.float64)


def niw(*batch: int, d: int, seed: int = 0) -> torch.Tensor:
    nu = d + 2 + positive(*batch, seed=seed + 1)  # low ν has no finite moments to compare
    return normal_inverse_wishart.to_natural(
        normal(*batch, d, seed=seed), positive(*batch, seed=seed + 2), covariance(*batch, d=d, seed=seed), nu
    )


def make(name: str, d: int, seed: int = 0) -> tuple[ModuleType, torch.Tensor]:
    """A family and natural parameters with batch shape (3, 2)."""
    if name == "dirichlet":
        return dirichlet, dirichlet.to_natural(positive(3, 2, d + 1, seed=seed))
    if name == "gaussian":
        return gaussian, gaussian.to_natural(normal(3, 2, d, seed=seed), covariance(3, 2, d=d, seed=seed))
    return normal_inverse_wishart, niw(3, 2, d=d, seed=seed)


FAMILIES = ["dirichlet", "gaussian", "normal_inverse_wishart"]
each_family = pytest.mark.parametrize("name", FAMILIES)
each_dimension = pytest.mark.parametrize("d", DIMENSIONS)


@each_family
@each_dimension
def test_expected_statistics_are_the_gradient_of_the_log_partition(name: str, d: int) -> None:
    family, eta = make(name, d)
    eta.requires_grad_()
    (gradient,) = torch.autograd.grad(family.log_partition(eta).sum(), eta)
    torch.testing.assert_close(family.expected_statistics(eta), gradient, atol=1e-8, rtol=1e-8)


@each_family
@each_dimension
def test_natural_and_standard_parameters_are_inverse(name: str, d: int) -> None:
    family, eta = make(name, d)
    standard = family.to_standard(eta)
    again = family.to_natural(*standard) if isinstance(standard, tuple) else family.to_natural(standard)
    torch.testing.assert_close(again, eta)


def draws_of_niw(eta: torch.Tensor, n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """n draws of μ [n, d] and Σ [n, d, d] at one natural parameter, by scipy and numpy."""
    location, kappa, scale, nu = (one.numpy() for one in normal_inverse_wishart.to_standard(eta))
    rng, d = np.random.default_rng(seed), len(location)
    sigma = np.reshape(stats.invwishart.rvs(float(nu), scale, n, rng), (n, d, d))
    noise = np.linalg.cholesky(sigma) @ rng.standard_normal((n, d, 1))
    return torch.from_numpy(location + noise[..., 0] / np.sqrt(kappa)), torch.from_numpy(sigma)


def statistics_of_draws(name: str, eta: torch.Tensor, n: int) -> torch.Tensor:
    """Statistics t [n, F] of n draws at one natural parameter."""
    repeated = eta.expand(n, *eta.shape).contiguous()
    if name == "dirichlet":
        return dirichlet.sample(repeated, generator(3)).log()
    if name == "gaussian":
        draws = gaussian.sample(repeated, generator(3))
        return torch.cat([draws, (draws[:, :, None] * draws[:, None]).flatten(1)], -1)
    mean, sigma = draws_of_niw(eta, n, 3)
    precision = sigma.inverse()
    linear = (precision @ mean[..., None])[..., 0]
    last = torch.stack([-0.5 * (mean * linear).sum(-1), -0.5 * torch.logdet(sigma)], -1)
    return torch.cat([linear, -0.5 * precision.flatten(1), last], -1)


@each_family
@each_dimension
def test_samples_have_the_expected_statistics(name: str, d: int) -> None:
    family, eta = make(name, d)
    eta = eta[1, 1]
    statistics = statistics_of_draws(name, eta, 40_000)
    error = statistics.std(0) / math.sqrt(len(statistics))
    difference = (statistics.mean(0) - family.expected_statistics(eta)).abs()
    assert (difference <= 5 * error + 1e-12).all(), (difference / error).tolist()


@each_family
@each_dimension
def test_kl_divergence_matches_monte_carlo(name: str, d: int) -> None:
    family, eta_q = make(name, d)
    _, eta_p = make(name, d, seed=7)
    eta_q, eta_p = eta_q[0, 0], eta_p[0, 0]
    t = statistics_of_draws(name, eta_q, 40_000)
    log_ratio = t @ (eta_q - eta_p) - family.log_partition(eta_q) + family.log_partition(eta_p)
    error = log_ratio.std() / math.sqrt(len(t))
    assert (kl_divergence(family, eta_q, eta_p) - log_ratio.mean()).abs() <= 5 * error
    assert kl_divergence(family, eta_q, eta_q).abs() < 1e-10


@pytest.mark.parametrize("size", [2, 4])
def test_dirichlet_and_beta_densities_against_scipy(size: int) -> None:
    concentration = positive(size)
    eta = dirichlet.to_natural(concentration)
    point = dirichlet.sample(eta, generator(1))
    ours = eta @ point.log() - dirichlet.log_partition(eta)
    theirs = stats.dirichlet.logpdf(point.numpy() / point.sum().item(), concentration.numpy())
    assert float(ours) == pytest.approx(theirs)


@each_dimension
def test_gaussian_density_against_scipy(d: int) -> None:
    mean, sigma, x = normal(d), covariance(d=d), normal(d, seed=5)
    eta = gaussian.to_natural(mean, sigma)
    statistics = torch.cat([x, (x[:, None] * x).flatten()])
    ours = eta @ statistics - gaussian.log_partition(eta)
    assert float(ours) == pytest.approx(stats.multivariate_normal.logpdf(x, mean, sigma))


@each_dimension
def test_normal_inverse_wishart_density_against_scipy(d: int) -> None:
    location, kappa, scale, nu = normal(d), 1.7, covariance(d=d), d + 1.5
    eta = normal_inverse_wishart.to_natural(location, torch.tensor(kappa).double(), scale, torch.tensor(nu).double())
    mean, sigma = normal(d, seed=5), covariance(d=d, seed=6)
    statistics = torch.cat([
        torch.linalg.solve(sigma, mean), -0.5 * sigma.inverse().flatten(),
        torch.stack([-0.5 * mean @ torch.linalg.solve(sigma, mean), -0.5 * torch.logdet(sigma)]),
    ])
    ours = eta @ statistics - normal_inverse_wishart.log_partition(eta)
    theirs = stats.invwishart.logpdf(sigma.numpy(), nu, scale.numpy())
    theirs += stats.multivariate_normal.logpdf(mean, location, sigma / kappa)
    assert float(ours) == pytest.approx(float(np.squeeze(theirs)))


@each_dimension
def test_location_and_root_against_finite_differences_and_autograd(d: int) -> None:
    linear, factor, weight = normal(3, d), normal(3, d, d, seed=1), normal(3, d, d, seed=2)

    def natural(linear: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
        precision = factor @ factor.mT + torch.eye(d, dtype=torch.float64)
        return torch.cat([linear, -0.5 * precision.flatten(-2)], -1)

    def moments(linear: torch.Tensor, factor: torch.Tensor) -> tuple[torch.Tensor, ...]:
        mean, root = gaussian.location_and_root(natural(linear, factor))
        return mean, (root * weight).sum(-1), root @ root.mT

    inputs = linear.requires_grad_(), factor.requires_grad_()
    assert torch.autograd.gradcheck(moments, inputs)
    precision = -2 * natural(*inputs)[:, d:].unflatten(-1, (d, d))
    mean, root = gaussian.location_and_root(natural(*inputs))
    torch.testing.assert_close(root, torch.linalg.cholesky(precision).mT.inverse())
    torch.testing.assert_close(mean, torch.linalg.solve(precision, linear))


def test_location_and_root_of_an_indefinite_precision_is_nan() -> None:
    eta = torch.cat([torch.ones(2, dtype=torch.float64), 0.5 * torch.eye(2, dtype=torch.float64).flatten()])
    assert all(tensor.isnan().any() for tensor in gaussian.location_and_root(eta))


def test_points_outside_the_domain_have_infinite_log_partition() -> None:
    assert in_domain(dirichlet, torch.tensor([0.5, -0.5]))
    assert not in_domain(dirichlet, torch.tensor([0.5, -1.5]))
    good = niw(d=2)
    assert in_domain(normal_inverse_wishart, good)
    for index, value in ((-2, -0.1), (-1, 4.5), (2, -9.0)):  # κ < 0, ν < d − 1, S not positive definite
        bad = good.clone()
        bad[index] = value
        assert not in_domain(normal_inverse_wishart, bad)
    indefinite = gaussian.to_natural(torch.zeros(2), torch.eye(2))
    indefinite[2] *= -1
    assert not in_domain(gaussian, indefinite)


CROWDS = {
    "few answers of many": (300, 8, (9, 2)),
    "many answers of few": (4, 5000, (30, 5)),
    "those who know and those who guess": (80, 30, (0.3, 0.2)),
    "all alike": (50, 40, (800, 200)),
    "nobody errs": (30, 20, (1e4, 1e-3)),
    "one annotator": (1, 12, (5, 1)),
}


@pytest.mark.parametrize("usual", [(1.0, 1.0), (1.0, 19.0)])
@pytest.mark.parametrize("crowd", CROWDS)
def test_the_shared_prior_is_the_mode_that_scipy_finds(crowd: str, usual: tuple[float, float]) -> None:
    annotators, answers, shape = CROWDS[crowd]
    rng = np.random.default_rng(0)
    right = rng.binomial(answers, np.clip(rng.beta(*shape, annotators), 0, 1))
    counts = np.stack([right, answers - right], 1).astype(float)

    def loss(x: np.ndarray) -> float:
        likelihood = stats.betabinom.logpmf(right, answers, *np.exp(x)).sum()
        return -float(likelihood + stats.norm.logpdf(x, np.log(usual), HYPERPRIOR_SD).sum())

    within = [(np.log(1e-3), np.log(1e3))] * 2
    starts = [np.log(usual), np.log([8.0, 2.0]), np.log([0.3, 0.3]), np.log([100.0, 100.0])]
    best = min(optimize.minimize(loss, start, bounds=within, method="Nelder-Mead").fun for start in starts)
    assert loss(np.log(common_beta(counts, usual))) == pytest.approx(best, abs=1e-5)


def test_without_answers_the_prior_is_the_usual_one() -> None:
    assert common_beta(np.zeros((3, 2)), (1.0, 19.0)) == pytest.approx([1, 19])


def drawn(concentration: list[float], count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Number of proportions and the sum of their logarithms."""
    theta = np.random.default_rng(0).dirichlet(concentration, count)
    return torch.tensor([float(count)], dtype=torch.float64), torch.from_numpy(np.log(theta).sum(0))[None]


@pytest.mark.parametrize("concentration", [[0.05, 0.3, 0.1], [2.0, 5.0, 1.0, 9.0]])
@pytest.mark.parametrize("start", [1e-3, 1.0, 300.0])
def test_it_ends_where_a_general_optimiser_does(concentration: list[float], start: float) -> None:
    count, total = drawn(concentration, 60)
    found = torch.full((1, len(concentration)), start, dtype=torch.float64)
    for _ in range(20):
        found = newton(found, count, total, 1e6)

    def negative(log_alpha: np.ndarray) -> float:
        alpha = np.exp(log_alpha)
        partition = special.gammaln(alpha).sum() - special.gammaln(alpha.sum())
        return float(60 * partition - ((alpha - 1) * total[0].numpy()).sum())

    best = optimize.minimize(negative, np.zeros(len(concentration)), tol=1e-12)
    np.testing.assert_allclose(found[0], np.exp(best.x), rtol=1e-4)
    assert objective(found, count, total)[0].item() == pytest.approx(-best.fun, abs=1e-8)


def test_it_never_falls_nor_leaves_the_domain() -> None:
    """From anywhere, also where the best concentration is infinite: proportions that are all alike."""
    rng = np.random.default_rng(1)
    count = torch.full((200,), 5.0, dtype=torch.float64)
    theta = torch.from_numpy(rng.dirichlet([1.0, 1.0, 1.0], 200))
    start = torch.from_numpy(np.exp(rng.normal(0, 4, (200, 3)))).clamp(max=1e3)
    found = newton(start, count, 5 * theta.log(), 1e3)
    assert ((found > 0) & (found <= 1e3)).all()
    gain = objective(found, count, 5 * theta.log()) - objective(start, count, 5 * theta.log())
    assert gain.min() >= 0
    assert gain.median() > 1
