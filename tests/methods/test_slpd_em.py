"""SLPD's variational EM against its definition, enumeration and quadrature."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy import integrate, stats
from torch import Tensor
from torch.distributions import Dirichlet, Normal

from semicrowd.methods.slpd import em
from semicrowd.methods.slpd.em import (
    Clusters,
    Decomposition,
    Samples,
    best_of,
    bound,
    densities,
    first_gamma,
    log_likelihood,
    posterior,
    samples_of,
    sweep,
    update,
)


def toy(missing: bool = False) -> Samples:
    """Two samples to a block, two features; perhaps one value is not there."""
    values = np.random.default_rng(0).normal(size=(4, 2))
    values[1, 1] = np.nan if missing else values[1, 1]
    return samples_of(values, np.arange(4) // 2)


def clusters_of(mean: list[list[float]], concentration: tuple[float, ...] = (0.8, 1.7)) -> Clusters:
    """Two clusters of variance .7."""
    means = torch.tensor([mean], dtype=torch.float64)
    return Clusters(means, torch.full_like(means, 0.7), torch.tensor([concentration], dtype=torch.float64))


NEAR = clusters_of([[0.5, -0.2], [-0.6, 0.9]])


def evidence(samples: Samples, clusters: Clusters) -> float:
    """ln p(E) of two clusters: the integral over θ_1 of every block (eq. 5), by quadrature."""
    mean, variance, (a, b) = (part[0].numpy() for part in clusters)
    there = np.ones(samples.values.shape) if samples.observed is None else samples.observed.numpy()
    density = stats.norm.pdf(samples.values.numpy()[:, None], mean, np.sqrt(variance))  # [D, K, G]
    total = 0.0
    for block in samples.block.unique():
        rows = (samples.block == block).numpy()

        def of(theta: float, rows: np.ndarray = rows) -> float:
            mixed = theta * density[rows, 0] + (1 - theta) * density[rows, 1]
            return float(np.prod(mixed ** there[rows]))

        total += math.log(integrate.quad(lambda t: of(t) * stats.beta.pdf(t, a, b), 0, 1, epsabs=1e-13, limit=200)[0])
    return total


def by_definition(samples: Samples, clusters: Clusters, gamma: Tensor, q: Tensor) -> Tensor:
    """E_q ln p(E, θ, Z) − E_q ln q(θ, Z), term by term; q is [D, G, K]."""
    mean, variance, alpha = (part[0] for part in clusters)
    there = torch.ones_like(samples.values) if samples.observed is None else samples.observed
    log_theta = torch.digamma(gamma[0]) - torch.digamma(gamma[0].sum(-1, keepdim=True))
    value = torch.zeros((), dtype=torch.float64)
    for c, logs in enumerate(log_theta):
        value = value + torch.lgamma(alpha.sum()) - torch.lgamma(alpha).sum() + ((alpha - 1) * logs).sum()
        value = value + Dirichlet(gamma[0, c]).entropy()
    for d, g in itertools.product(range(q.shape[0]), range(q.shape[1])):
        density = Normal(mean[:, g], variance[:, g].sqrt()).log_prob(samples.values[d, g])
        log_p = log_theta[samples.block[d]] + density
        value = value + there[d, g] * (q[d, g] * (log_p - q[d, g].log())).sum()
    return value


def responsibilities(samples: Samples, clusters: Clusters, gamma: Tensor) -> Tensor:
    """The optimal Q, [D, G, K]."""
    log_theta = torch.digamma(gamma[0]) - torch.digamma(gamma[0].sum(-1, keepdim=True))
    mean, variance, _ = (part[0] for part in clusters)
    logits = log_theta[samples.block][:, None] + Normal(mean.T, variance.T.sqrt()).log_prob(samples.values[..., None])
    return logits.softmax(-1)


@pytest.mark.parametrize("missing", [False, True])
def test_the_bound_is_its_definition_and_below_the_evidence(missing: bool) -> None:
    samples = toy(missing=missing)
    for gamma in (first_gamma(samples, NEAR), posterior(samples, NEAR)):
        value = bound(samples, NEAR, gamma, sweep(samples, NEAR, gamma))
        expected = by_definition(samples, NEAR, gamma, responsibilities(samples, NEAR, gamma))
        assert value[0].item() == pytest.approx(expected.item(), abs=1e-12)
    best = value[0].item()
    assert evidence(samples, NEAR) - 1 < best < evidence(samples, NEAR) - 1e-4


def test_it_is_the_evidence_where_the_posterior_factorises() -> None:
    samples = toy()
    # Clusters so far apart that there is no doubt about Z: q(θ) is the exact Dirichlet posterior.
    apart = clusters_of([[0.0, 0.0], [60.0, 60.0]])
    gamma = posterior(samples, apart)
    value = bound(samples, apart, gamma, sweep(samples, apart, gamma))
    assert value[0].item() == pytest.approx(evidence(samples, apart), abs=1e-9)
    assert gamma[0].tolist() == [[4.8, 1.7], [4.8, 1.7]]
    # Proportions that are known: q(Z) is the exact posterior of a mixture.
    known = clusters_of([[0.5, -0.2], [-0.6, 0.9]], concentration=(3e7, 7e7))
    gamma = posterior(samples, known)
    sums = sweep(samples, known, gamma)
    density = stats.norm.pdf(samples.values.numpy()[:, None], known.mean[0].numpy(), math.sqrt(0.7))
    exact = density * np.array([0.3, 0.7])[:, None]
    value = bound(samples, known, gamma, sums)
    assert value[0].item() == pytest.approx(np.log(exact.sum(1)).sum(), abs=1e-5)
    np.testing.assert_allclose(sums.weight[0], (exact / exact.sum(1, keepdims=True)).sum(0), atol=1e-6)


def random_problem(restarts: int = 3, apart: float = 2) -> tuple[Samples, Tensor]:
    """Thirty samples of four features in blocks of unequal size, some values missing; centres of three clusters."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(30, 4)) + apart * rng.integers(3, size=(30, 1))
    values[rng.random((30, 4)) <= 0.1] = np.nan
    samples = samples_of(values, np.array([0] * 6 + [1] * 4 + list(range(2, 22))))
    return samples, torch.from_numpy(rng.normal(size=(restarts, 3, 4)))


def test_a_block_that_has_converged_is_not_swept_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sweep of all blocks, where those that have converged keep their γ, gives the same; a block by itself gives
    the same bytes."""
    samples = random_problem(1, apart=1)[0]
    rng = np.random.default_rng(2)
    mean = torch.from_numpy(np.stack([rng.normal(size=(3, 4)), 3 * rng.normal(size=(3, 4))]))
    clusters = Clusters(mean, torch.ones_like(mean), torch.full((2, 3), 0.2, dtype=torch.float64))
    swept: list[int] = []

    def counted(some: Samples, *rest: Any) -> Any:
        swept.append(len(some.values))
        return block_sums(some, *rest)

    block_sums = em._block_sums
    monkeypatch.setattr(em, "_block_sums", counted)
    found = posterior(samples, clusters)
    expected, fixed = first_gamma(samples, clusters), torch.zeros(2, len(samples.present), dtype=torch.bool)
    values = (expected - clusters.concentration[:, None]).sum(-1).clamp(min=1)
    for _ in range(100):
        new = clusters.concentration[:, None] + sweep(samples, clusters, expected).block
        fixed |= (new - expected).abs().amax(-1) <= 1e-4 * values
        expected[~fixed] = new[~fixed]
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    assert swept == sorted(swept, reverse=True)
    assert sum(swept) < len(swept) * len(samples.values) / 2
    for block in range(len(samples.present)):
        alone = samples.some(torch.arange(len(samples.present)) == block)
        torch.testing.assert_close(found[:, block], posterior(alone, clusters)[:, 0], rtol=0, atol=0)


def test_a_value_that_is_far_from_all_likely_clusters_still_counts() -> None:
    """Its cluster has so small a share θ that products of shares and densities are 0 in floats, logarithms are not."""
    mean = torch.tensor([[[0.0, 0.0], [100.0, 100.0]]], dtype=torch.float64)
    clusters = Clusters(mean, torch.ones_like(mean), torch.tensor([[1.0, 1e-3]], dtype=torch.float64))
    samples = samples_of(np.array([[0.0, 70.0], [0.0, 0.0]]))
    gamma = first_gamma(samples, clusters)
    gamma[0, 0] = clusters.concentration[0] + torch.tensor([2.0, 0.0])
    density = em._scaled_densities(samples.values, clusters)
    assert density[0, 0, 0, 1] == 0 == (gamma[0, 0, 1].digamma() - gamma[0, 0, 0].digamma()).exp()
    found = em._block_sums(samples, density, clusters, gamma)
    torch.testing.assert_close(found, sweep(samples, clusters, gamma).block, rtol=1e-12, atol=1e-12)
    assert found.isfinite().all()


FLOOR = 1e-3


def gains(samples: Samples, mean: Tensor, iterations: int) -> Tensor:
    """What every iteration adds to the bound, [iterations − 1, R]."""
    clusters = Clusters(mean, torch.ones_like(mean), torch.ones_like(mean[..., 0]))
    gamma, history = first_gamma(samples, clusters), []
    for _ in range(iterations):
        found = em.sweep(samples, clusters, gamma)
        history.append(bound(samples, clusters, gamma, found))
        clusters, gamma = em.update(samples, clusters, found, FLOOR)
    return torch.stack(history).diff(dim=0)


def test_the_bound_never_falls() -> None:
    gain = gains(*random_problem(), 300)
    assert gain.min() > -1e-9
    assert gain.sum(0).min() > 5


def test_gradients_are_zero_at_the_solution() -> None:
    samples, mean = random_problem(1, apart=4)
    clusters = Clusters(mean, torch.ones_like(mean), torch.ones_like(mean[..., 0]))
    gamma = first_gamma(samples, clusters)
    for _ in range(300):
        clusters, gamma = update(samples, clusters, sweep(samples, clusters, gamma), FLOOR)
    assert clusters.variance.min() > FLOOR  # else a gradient that points outwards is right
    free = [part.clone().requires_grad_() for part in (*clusters, gamma)]
    logits = responsibilities(samples, clusters, gamma).log().requires_grad_()
    value = by_definition(samples, Clusters(*free[:3]), free[3], logits.softmax(-1))
    for gradient in torch.autograd.grad(value, [*free, logits]):
        assert gradient.abs().max() < 1e-3
    found = bound(samples, clusters, gamma, sweep(samples, clusters, gamma))
    assert found[0].item() == pytest.approx(value.item(), abs=1e-9)


def test_a_sample_begins_in_its_cluster() -> None:
    """Or in all of them evenly; what is missing counts for nothing."""
    samples = toy(missing=True)
    fits = Decomposition(samples, NEAR.mean, torch.tensor([[0, 1, 1, 1]]), FLOOR)
    assert (fits.clusters.concentration[0].tolist(), fits.gamma[0].tolist()) == ([0.5] * 2, [[2.5, 1.5], [0.5, 4.5]])
    even = first_gamma(samples, NEAR)
    torch.testing.assert_close(even[0] - NEAR.concentration, torch.tensor([[1.5, 1.5], [2, 2]], dtype=torch.float64))


def test_a_start_whose_items_are_all_alike_counts_last() -> None:
    alpha = torch.tensor([[1.0, 0.5], [5000.0, 4000.0], [0.7, 0.9]], dtype=torch.float64)
    clusters = Clusters(torch.zeros(3, 2, 4), torch.ones(3, 2, 4), alpha)
    assert best_of(torch.tensor([-30.0, -10.0, -20.0]), clusters) == 2
    assert best_of(torch.tensor([-30.0, -10.0]), Clusters(*(part[[1, 1]] for part in clusters))) == 1


@pytest.mark.parametrize("missing", [False, True])
def test_held_out_likelihood_within_its_error(missing: bool) -> None:
    samples = toy(missing=missing)
    value, error = log_likelihood(samples, NEAR, 200_000, torch.Generator().manual_seed(0))
    found, wrong = value.sum().item(), error.square().sum().sqrt().item()
    assert abs(found - evidence(samples, NEAR)) < 4 * wrong < 0.02
    many = [log_likelihood(samples, NEAR, 100, torch.Generator().manual_seed(s))[0][0] for s in range(300)]
    stated = log_likelihood(samples, NEAR, 100, torch.Generator().manual_seed(0))[1][0]
    assert torch.stack(many).std().item() == pytest.approx(stated.item(), rel=0.4)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(("samples", "features"), [(700, 4), (3, 900)])
def test_sums_are_those_of_q(samples: int, features: int, missing: float) -> None:
    """Of samples that are many pieces, or one each; some values are far from all clusters."""
    rng, restarts, clusters, blocks = np.random.default_rng(0), 2, 3, 3
    values = 8 * rng.normal(size=(samples, features))
    there = rng.random(values.shape) >= missing
    block = np.concatenate([np.arange(blocks), rng.integers(blocks, size=samples - blocks)])
    given, present = samples_of(np.where(there, values, np.nan), block), torch.from_numpy(there)
    mean = torch.from_numpy(rng.normal(size=(restarts, clusters, features)))
    theta = Clusters(mean, torch.full_like(mean, 0.05), torch.ones(restarts, clusters, dtype=torch.float64))
    gamma = torch.from_numpy(1 + rng.random((restarts, blocks, clusters)))
    found = sweep(given, theta, gamma)
    quadratic, linear, constant = (part[:, None] for part in densities(theta))
    x = given.values[:, None]
    of_block = torch.digamma(gamma) - torch.digamma(gamma.sum(-1, keepdim=True))
    logits = quadratic * x**2 + linear * x + constant + of_block[:, given.block][..., None]  # [R, D, K, G]
    q = logits.softmax(2) * present[:, None]
    for total, expected in zip(found[1:4], (q, q * x, q * x**2), strict=True):
        torch.testing.assert_close(total, expected.sum(1), rtol=1e-12, atol=1e-10)
    of_blocks = torch.zeros_like(gamma).index_add(1, given.block, q.sum(-1))
    torch.testing.assert_close(found.block, of_blocks, rtol=1e-12, atol=1e-10)
    normaliser = (logits.logsumexp(2) * present).sum((1, 2))
    torch.testing.assert_close(found.log_normaliser, normaliser, rtol=1e-12, atol=1e-10)
