"""The natural-gradient step against the exact conjugate posterior and against the Fisher matrix."""

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_t

from semicrowd.expfam import dirichlet, gaussian, normal_inverse_wishart
from semicrowd.inference.mixture import mixture_prior, partition_posterior
from semicrowd.inference.natural_gradient import NaturalGradient
from semicrowd.inference.statistics import natural_kl, natural_statistics


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def niw_prior(K: int, d: int) -> torch.Tensor:
    one = torch.ones(1, K, dtype=torch.float64)
    scale = (d + 0.5) * torch.eye(d, dtype=torch.float64).expand(1, K, d, d)
    location = torch.zeros(1, K, d, dtype=torch.float64)
    return normal_inverse_wishart.to_natural(location, 0.5 * one, scale, (d + 0.5) * one)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_one_full_batch_step_is_the_exact_coordinate_update_of_a_conjugate_mixture(d: int) -> None:
    """With fixed responsibilities, ρ = 1 must give the textbook posterior (Bishop 2006, eqs. 10.58–10.63)."""
    N, K = 60, 3
    x = normal(N, d)
    responsibility = normal(N, K, seed=1).softmax(-1)
    prior_pi, prior_niw = torch.full((1, K), 0.2, dtype=torch.float64), niw_prior(K, d)
    start = normal_inverse_wishart.to_natural(
        normal(1, K, d, seed=2),
        torch.full((1, K), 3.0, dtype=torch.float64),
        2 * torch.eye(d, dtype=torch.float64).expand(1, K, d, d),
        torch.full((1, K), d + 4.0, dtype=torch.float64),
    )
    eta_pi = torch.nn.Parameter(torch.full((1, K), 1.5, dtype=torch.float64))
    eta_niw = torch.nn.Parameter(start)
    optimizer = NaturalGradient(
        [{"params": [eta_pi], "family": dirichlet}, {"params": [eta_niw], "family": normal_inverse_wishart}],
        step_size=1.0,
        scale=float(N),
    )
    t_pi, t_niw = natural_statistics(dirichlet, eta_pi), natural_statistics(normal_inverse_wishart, eta_niw)
    t_x = torch.cat([gaussian.statistics(x, torch.zeros(N, d, d, dtype=torch.float64)), torch.ones(N, 2).double()], -1)
    bound = (responsibility * (t_pi[0] + t_x @ t_niw[0].T)).sum()
    bound = bound - natural_kl(dirichlet, eta_pi, prior_pi, t_pi).sum()
    bound = bound - natural_kl(normal_inverse_wishart, eta_niw, prior_niw, t_niw).sum()
    (-bound / N).backward()
    optimizer.step()

    count = responsibility.sum(0)
    mean = responsibility.T @ x / count[:, None]
    centred = x[None] - mean[:, None]
    scatter = torch.einsum("nk,kni,knj->kij", responsibility, centred, centred)
    posterior = normal_inverse_wishart.to_standard(eta_niw.detach())
    kappa = 0.5 + count
    shrink = (0.5 * count / kappa)[:, None, None] * mean[:, :, None] * mean[:, None]
    expected_scale = (d + 0.5) * torch.eye(d, dtype=torch.float64) + scatter + shrink
    torch.testing.assert_close(dirichlet.to_standard(eta_pi.detach())[0], 1.2 + count, atol=1e-10, rtol=0)
    torch.testing.assert_close(posterior.kappa[0], kappa, atol=1e-10, rtol=0)
    torch.testing.assert_close(posterior.degrees_of_freedom[0], d + 0.5 + count, atol=1e-10, rtol=0)
    torch.testing.assert_close(posterior.location[0], count[:, None] * mean / kappa[:, None], atol=1e-10, rtol=0)
    torch.testing.assert_close(posterior.scale[0], expected_scale, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("step_size", [0.01, 0.3, 1.0])
def test_a_step_follows_the_natural_gradient_of_both_terms_of_equation_17(step_size: float) -> None:
    """J depends on η through E t twice: as the bound does, and through what local inference makes of it. The step is ρ
    times the inverse Fisher matrix times the gradient of all of J by autograd; where twice the step would lead out of
    the domain (some α ≤ 0), the largest of ρ, ρ/2, ρ/4, … with which it does not. The loss is −J/N."""
    N, first = 7.0, normal(5, 4).abs()
    eta = torch.nn.Parameter(first.clone())

    def outer(statistics: torch.Tensor) -> torch.Tensor:
        return -0.3 * statistics.square().sum()

    def through_local_inference(statistics: torch.Tensor) -> torch.Tensor:
        return 4 * (torch.arange(1, 5) * statistics).sin().sum()

    leaf = dirichlet.expected_statistics(first).requires_grad_()
    loss = -(outer(natural_statistics(dirichlet, eta)) + through_local_inference(leaf)) / N
    loss.backward()
    NaturalGradient([{"params": [eta], "family": dirichlet}], step_size, scale=N).step(corrections={eta: leaf.grad})

    halved = 0
    for before, after in zip(first, eta.detach(), strict=True):
        at = before.clone().requires_grad_()
        statistics = dirichlet.expected_statistics(at)
        (ordinary,) = torch.autograd.grad(outer(statistics) + through_local_inference(statistics), at)
        fisher = torch.autograd.functional.hessian(lambda e: dirichlet.log_partition(e), before)
        natural, rho = torch.linalg.solve(fisher, ordinary), step_size
        while (before + 1 + 2 * rho * natural).min() <= 0:  # α = η + 1
            rho, halved = rho / 2, halved + 1
        torch.testing.assert_close(after, before + rho * natural)
    assert (halved > 0) == (step_size > 0.1), "both are tried"


def test_a_hopeless_correction_falls_back_to_the_step_without_it() -> None:
    eta = torch.nn.Parameter(torch.ones(1, 2, dtype=torch.float64))
    optimizer = NaturalGradient([{"params": [eta], "family": dirichlet}], step_size=0.5)
    eta.grad = torch.full_like(eta, -2.0)
    optimizer.step(corrections={eta: torch.full_like(eta, 1e9)})
    torch.testing.assert_close(eta.detach(), torch.full((1, 2), 2.0, dtype=torch.float64))


@pytest.mark.parametrize("N", [200, 2000])
def test_steps_of_100_by_N_are_the_released_ones_of_10_by_N_with_momentum(N: int) -> None:
    """By the optimizer of torch that the authors' code has by hand."""
    ours, theirs = (torch.nn.Parameter(5 + normal(3, 4).abs()) for _ in range(2))
    natural = NaturalGradient([{"params": [ours], "family": dirichlet}], step_size=100 / N, scale=7.0, momentum=0.9)
    plain = torch.optim.SGD([theirs], lr=10 / N, momentum=0.9)
    for step in range(8):
        theirs.grad, ours.grad = (normal(3, 4, seed=step) / scale for scale in (1.0, 7.0))
        natural.step()
        plain.step()
    torch.testing.assert_close(ours, theirs)


def test_momentum_does_not_leave_the_domain() -> None:
    """A target near the boundary, α = .01, beyond which steps with momentum swing."""
    ours, theirs = (torch.nn.Parameter(torch.ones(1, 2, dtype=torch.float64)) for _ in range(2))
    natural = NaturalGradient([{"params": [ours], "family": dirichlet}], step_size=1.0, momentum=0.9)
    plain = torch.optim.SGD([theirs], lr=0.1, momentum=0.9)
    lowest = {ours: 1.0, theirs: 1.0}
    for eta, optimizer in [(ours, natural), (theirs, plain)] * 60:
        eta.grad = eta.detach() + 0.99  # η = α − 1
        optimizer.step()
        lowest[eta] = min(lowest[eta], eta.min().item())
    assert lowest[theirs] < -1 < lowest[ours]
    torch.testing.assert_close(ours.detach(), torch.full((1, 2), -0.99).double(), atol=0.05, rtol=0)


def test_step_sizes_outside_zero_to_one_are_refused() -> None:
    eta = torch.nn.Parameter(torch.ones(1, 2))
    with pytest.raises(ValueError, match="step_size"):
        NaturalGradient([{"params": [eta], "family": dirichlet}], step_size=1.5)


def log_evidence(x: np.ndarray) -> float:
    """ln p(x) of one cluster's points one after the other: Student's t (Murphy 2007, eq. 258)."""
    total = 0.0
    for n in range(len(x)):
        mean = x[:n].mean(0) if n else np.zeros(2)
        kappa, degrees = 0.5 + n, 2.5 + n - 1
        scale = 2.5 * np.eye(2) + (x[:n] - mean).T @ (x[:n] - mean) + 0.5 * n / kappa * np.outer(mean, mean)
        total += multivariate_t(n * mean / kappa, scale * (kappa + 1) / (kappa * degrees), df=degrees).logpdf(x[n])
    return total


@pytest.mark.parametrize(
    ("kind", "concentration"), [("corrected", 1 + 0.05 / 3), ("released", 1.05), ("paper", 0.05 / 3)]
)
def test_the_evidence_of_a_partition_is_that_of_its_items_one_after_the_other(kind: str, concentration: float) -> None:
    """ln p(x, z): of z by Pólya's urn, of each cluster's x by Student's t; two restarts, the third cluster is empty."""
    rng, prior = np.random.default_rng(0), mixture_prior(kind, 3, 2)
    x, clusters = rng.normal(size=(2, 15, 2)) + 1, rng.integers(2, size=(2, 15))
    zero = torch.zeros(2, 15, 2, 2, dtype=torch.float64)
    t_x, z = gaussian.statistics(torch.from_numpy(x), zero), torch.from_numpy(clusters)
    none, all_ = (
        dirichlet.log_partition(eta.pi) + normal_inverse_wishart.log_partition(eta.components).sum(-1)
        for eta in (partition_posterior(prior, t_x[:, :n], z[:, :n]) for n in (0, 15))
    )
    for r in range(2):
        urn = sum(
            np.log(((clusters[r, :n] == clusters[r, n]).sum() + concentration) / (n + 3 * concentration))
            for n in range(15)
        )
        points = sum(log_evidence(x[r, clusters[r] == k]) for k in range(2))
        # Densities of x are those of base measure 1.
        assert (all_ - none)[r].item() == pytest.approx(urn + points + 15 * np.log(2 * np.pi))
