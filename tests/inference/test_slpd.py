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

from semicrowd.expfam.dirichlet import newton
from semicrowd.inference import slpd
from semicrowd.inference.slpd import (
    Clusters,
    Prior,
    Samples,
    bound,
    first_gamma,
    log_likelihood,
    posterior,
    samples_of,
    sweep,
    update,
)
from semicrowd.methods.slpd import Decomposition, best_of


def toy(num_samples: int = 4, missing: bool = False) -> Samples:
    """Two samples to a block, two features; perhaps one value is not there."""
    values = torch.from_numpy(np.random.default_rng(0).normal(size=(1, num_samples, 2)))
    observed = torch.ones_like(values, dtype=torch.bool)
    observed[0, 1, 1] = not missing
    return samples_of(values, torch.arange(num_samples)[None] // 2, observed if missing else None)


def clusters_of(mean: list[list[float]], concentration: tuple[float, ...] = (0.8, 1.7)) -> Clusters:
    """One fit of two clusters of variance .7."""
    means = torch.tensor([mean], dtype=torch.float64)
    return Clusters(means, torch.full_like(means, 0.7), torch.tensor([concentration], dtype=torch.float64))


NEAR = clusters_of([[0.5, -0.2], [-0.6, 0.9]])


def evidence(samples: Samples, clusters: Clusters) -> float:
    """ln p(E) of two clusters: the integral over θ_1 of every block (eq. 5), by quadrature."""
    mean, variance, (a, b) = (part[0].numpy() for part in clusters)
    there = np.ones(samples.values.shape[1:]) if samples.observed is None else samples.observed[0].numpy()
    density = stats.norm.pdf(samples.values[0].numpy()[:, None], mean, np.sqrt(variance))  # [D, K, G]
    total = 0.0
    for block in samples.block[0].unique():
        rows = (samples.block[0] == block).numpy()

        def of(theta: float, rows: np.ndarray = rows) -> float:
            mixed = theta * density[rows, 0] + (1 - theta) * density[rows, 1]
            return float(np.prod(mixed ** there[rows]))

        total += math.log(integrate.quad(lambda t: of(t) * stats.beta.pdf(t, a, b), 0, 1, epsabs=1e-13, limit=200)[0])
    return total


def by_definition(samples: Samples, clusters: Clusters, gamma: Tensor, q: Tensor) -> Tensor:
    """E_q ln p(E, θ, Z) − E_q ln q(θ, Z), term by term; q is [D, G, K]."""
    mean, variance, alpha = (part[0] for part in clusters)
    there = torch.ones_like(samples.values[0]) if samples.observed is None else samples.observed[0]
    log_theta = torch.digamma(gamma[0]) - torch.digamma(gamma[0].sum(-1, keepdim=True))
    value = torch.zeros((), dtype=torch.float64)
    for c, logs in enumerate(log_theta):
        value = value + torch.lgamma(alpha.sum()) - torch.lgamma(alpha).sum() + ((alpha - 1) * logs).sum()
        value = value + Dirichlet(gamma[0, c]).entropy()
    for d, g in itertools.product(range(q.shape[0]), range(q.shape[1])):
        density = Normal(mean[:, g], variance[:, g].sqrt()).log_prob(samples.values[0, d, g])
        log_p = log_theta[samples.block[0, d]] + density
        value = value + there[d, g] * (q[d, g] * (log_p - q[d, g].log())).sum()
    return value


def responsibilities(samples: Samples, clusters: Clusters, gamma: Tensor) -> Tensor:
    """The optimal Q, [D, G, K]."""
    log_theta = torch.digamma(gamma[0]) - torch.digamma(gamma[0].sum(-1, keepdim=True))
    mean, variance, _ = (part[0] for part in clusters)
    logits = log_theta[samples.block[0]][:, None] + Normal(mean.T, variance.T.sqrt()).log_prob(
        samples.values[0][..., None]
    )
    return logits.softmax(-1)


@pytest.mark.parametrize("missing", [False, True])
def test_the_bound_is_its_definition_and_below_the_evidence(missing: bool) -> None:
    samples = toy(missing=missing)
    for gamma in (first_gamma(samples, NEAR), posterior(samples, NEAR)):
        value = bound(samples, NEAR, gamma, sweep(samples, NEAR, gamma), Prior(1e-3))
        expected = by_definition(samples, NEAR, gamma, responsibilities(samples, NEAR, gamma))
        assert value[0].item() == pytest.approx(expected.item(), abs=1e-12)
    best = value[0].item()
    assert evidence(samples, NEAR) - 1 < best < evidence(samples, NEAR) - 1e-4


def test_it_is_the_evidence_where_the_posterior_factorises() -> None:
    samples = toy()
    # Clusters so far apart that there is no doubt about Z: q(θ) is the exact Dirichlet posterior.
    apart = clusters_of([[0.0, 0.0], [60.0, 60.0]])
    gamma = posterior(samples, apart)
    value = bound(samples, apart, gamma, sweep(samples, apart, gamma), Prior(1e-3))
    assert value[0].item() == pytest.approx(evidence(samples, apart), abs=1e-9)
    assert gamma[0].tolist() == [[4.8, 1.7], [4.8, 1.7]]
    # Proportions that are known: q(Z) is the exact posterior of a mixture.
    known = clusters_of([[0.5, -0.2], [-0.6, 0.9]], concentration=(3e7, 7e7))
    gamma = posterior(samples, known)
    sums = sweep(samples, known, gamma)
    density = stats.norm.pdf(samples.values[0].numpy()[:, None], known.mean[0].numpy(), math.sqrt(0.7))
    exact = density * np.array([0.3, 0.7])[:, None]
    value = bound(samples, known, gamma, sums, Prior(1e-3))
    assert value[0].item() == pytest.approx(np.log(exact.sum(1)).sum(), abs=1e-5)
    np.testing.assert_allclose(sums.weight[0], (exact / exact.sum(1, keepdims=True)).sum(0), atol=1e-6)


def random_problem(fits: int = 3, apart: float = 2) -> tuple[Samples, Tensor]:
    """Thirty samples of four features in blocks of unequal size, some values missing; centres of three clusters."""
    rng = np.random.default_rng(1)
    values = torch.from_numpy(rng.normal(size=(1, 30, 4)) + apart * rng.integers(3, size=(1, 30, 1)))
    block = torch.tensor([0] * 6 + [1] * 4 + list(range(2, 22)))[None]
    samples = samples_of(values, block, torch.from_numpy(rng.random((1, 30, 4)) > 0.1))
    return samples, torch.from_numpy(rng.normal(size=(fits, 3, 4)))


def test_a_block_that_has_converged_is_not_swept_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sweep of all blocks, where those that have converged keep their γ, gives the same; a block by itself gives
    the same bytes."""
    samples = random_problem(1, apart=1)[0]
    both = samples.of(torch.zeros(2, dtype=torch.long))
    rng = np.random.default_rng(2)
    mean = torch.from_numpy(np.stack([rng.normal(size=(3, 4)), 3 * rng.normal(size=(3, 4))]))
    clusters = Clusters(mean, torch.ones_like(mean), torch.full((2, 3), 0.2, dtype=torch.float64))
    swept: list[int] = []

    def counted(some: Samples, *rest: Any) -> Any:
        swept.append(some.values.shape[1])
        return block_sums(some, *rest)

    block_sums = slpd._block_sums
    monkeypatch.setattr(slpd, "_block_sums", counted)
    found = posterior(both, clusters)
    expected, fixed = first_gamma(both, clusters), torch.zeros(both.present.shape, dtype=torch.bool)
    values = (expected - clusters.concentration[:, None]).sum(-1).clamp(min=1)
    for _ in range(100):
        new = clusters.concentration[:, None] + sweep(both, clusters, expected).block
        fixed |= (new - expected).abs().amax(-1) <= 1e-4 * values
        expected[~fixed] = new[~fixed]
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    assert swept == sorted(swept, reverse=True)
    assert sum(swept) < len(swept) * samples.values.shape[1] / 2
    for block in range(samples.present.shape[1]):
        (rows,) = (samples.block[0] == block).nonzero(as_tuple=True)
        assert samples.observed is not None
        alone = samples_of(samples.values[:, rows], torch.zeros_like(rows)[None], samples.observed[:, rows].bool())
        one = posterior(alone.of(torch.zeros(2, dtype=torch.long)), clusters)[:, 0]
        torch.testing.assert_close(found[:, block], one, rtol=0, atol=0)


def test_a_value_that_is_far_from_all_likely_clusters_still_counts() -> None:
    """Its cluster has so small a share θ that products of shares and densities are 0 in floats, logarithms are not."""
    mean = torch.tensor([[[0.0, 0.0], [100.0, 100.0]]], dtype=torch.float64)
    clusters = Clusters(mean, torch.ones_like(mean), torch.tensor([[1.0, 1e-3]], dtype=torch.float64))
    samples = samples_of(torch.tensor([[[0.0, 70.0], [0.0, 0.0]]], dtype=torch.float64), torch.tensor([[0, 1]]))
    gamma = first_gamma(samples, clusters)
    gamma[0, 0] = clusters.concentration[0] + torch.tensor([2.0, 0.0])
    density = slpd._scaled_densities(samples.values, clusters)
    assert density[0, 0, 0, 1] == 0 == (gamma[0, 0, 1].digamma() - gamma[0, 0, 0].digamma()).exp()
    found = slpd._block_sums(samples, density, clusters, gamma)
    torch.testing.assert_close(found, sweep(samples, clusters, gamma).block, rtol=1e-12, atol=1e-12)
    assert found.isfinite().all()


PRIORS = [Prior(1e-3), Prior(1e-3, mean_variance=9.0, scale=0.2)]


def gains(samples: Samples, mean: Tensor, prior: Prior, iterations: int) -> Tensor:
    """What every iteration adds to the bound, [iterations − 1, F]."""
    fits = samples.of(torch.zeros(len(mean), dtype=torch.long))
    clusters = Clusters(mean, torch.ones_like(mean), torch.ones_like(mean[..., 0]))
    gamma, history = first_gamma(fits, clusters), []
    for _ in range(iterations):
        sums = slpd.sweep(fits, clusters, gamma)
        history.append(bound(fits, clusters, gamma, sums, prior))
        clusters, gamma = slpd.update(fits, clusters, sums, prior)
    return torch.stack(history).diff(dim=0)


@pytest.mark.parametrize("prior", PRIORS)
def test_the_bound_never_falls(prior: Prior) -> None:
    gain = gains(*random_problem(), prior, 300)
    assert gain.min() > -1e-9
    assert gain.sum(0).min() > 5


def sweep_as_printed(samples: Samples, clusters: Clusters, gamma: Tensor) -> slpd.Sums:
    """Eq. 6 with its slip: −ψ(Σ γ_c) of all blocks below the line, which the line above has of a sample's own alone.

    Of blocks with as many values each, what is too much is one factor.
    """
    sums = sweep(samples, clusters, gamma)
    factor = torch.digamma(gamma.sum(-1))[0, 1:].sum().exp()
    return sums._replace(**{name: getattr(sums, name) * factor for name in ("block", "weight", "first", "second")})


def newton_downhill(old: Tensor, *rest: Any) -> Tensor:
    """Newton's step for α with the wrong sign."""
    return (2 * old - newton(old, *rest)).clamp(min=1e-3)


@pytest.mark.parametrize(("name", "mistake"), [("sweep", sweep_as_printed), ("newton", newton_downhill)])
def test_a_mistake_in_an_update_lowers_the_bound(name: str, mistake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    samples, mean = random_problem()
    if name == "sweep":  # two blocks with as many values each
        samples = samples_of(samples.values[:, :20], torch.arange(20)[None] // 10)
    assert gains(samples, mean, PRIORS[0], 20).min() > -1e-9
    monkeypatch.setattr(slpd, name, mistake)
    assert gains(samples, mean, PRIORS[0], 20).nan_to_num(-math.inf).min() < -0.01


@pytest.mark.parametrize("prior", PRIORS)
def test_gradients_are_zero_at_the_solution(prior: Prior) -> None:
    samples, mean = random_problem(1, apart=4)
    clusters = Clusters(mean, torch.ones_like(mean), torch.ones_like(mean[..., 0]))
    gamma = first_gamma(samples, clusters)
    for _ in range(300):
        clusters, gamma = update(samples, clusters, sweep(samples, clusters, gamma), prior)
    assert clusters.variance.min() > prior.floor  # else a gradient that points outwards is right
    free = [part.clone().requires_grad_() for part in (*clusters, gamma)]
    logits = responsibilities(samples, clusters, gamma).log().requires_grad_()
    value = by_definition(samples, Clusters(*free[:3]), free[3], logits.softmax(-1))
    if prior.scale:
        value = value + Normal(torch.zeros_like(mean), math.sqrt(prior.mean_variance)).log_prob(free[0]).sum()
        value = value - (prior.scale / free[1]).sum()
    for gradient in torch.autograd.grad(value, [*free, logits]):
        assert gradient.abs().max() < 1e-3
    sums = sweep(samples, clusters, gamma)
    assert bound(samples, clusters, gamma, sums, prior)[0].item() == pytest.approx(value.item(), abs=1e-9)


def test_tables_and_rows_that_pad_change_nothing() -> None:
    samples, mean = random_problem(2)
    assert samples.observed is not None
    shorter = samples_of(samples.values[:, :20], samples.block[:, :20], samples.observed[:, :20] > 0)
    observed = torch.cat([samples.observed, samples.observed]) > 0
    observed[1, 20:] = False
    both = samples_of(samples.values.expand(2, -1, -1), samples.block.expand(2, -1), observed)
    first = torch.arange(30).expand(2, -1) % 3
    together = Decomposition(both, torch.tensor([0, 1]), mean.clone(), first, Prior(1e-3))
    alone = [
        Decomposition(one, torch.tensor([0]), mean[i : i + 1].clone(), first[:1, : one.block.shape[1]], Prior(1e-3))
        for i, one in enumerate((samples, shorter))
    ]
    for _ in range(60):
        together.step()
    for one in alone:
        for _ in range(60):
            one.step()
    for i, one in enumerate(alone):
        assert one.bound[0].item() == pytest.approx(together.bound[i].item(), rel=1e-8)
        for mine, theirs in zip(one.clusters, together.clusters, strict=True):
            torch.testing.assert_close(mine[0], theirs[i], rtol=1e-4, atol=1e-5)


def test_a_sample_begins_in_its_cluster() -> None:
    """Or in all of them evenly; what is missing counts for nothing."""
    samples = toy(missing=True)
    found = first_gamma(samples, NEAR, torch.tensor([[0, 1, 1, -1]]))
    torch.testing.assert_close(found[0] - NEAR.concentration, torch.tensor([[2.0, 1], [1, 3]], dtype=torch.float64))
    fits = Decomposition(samples, torch.tensor([0]), NEAR.mean, torch.tensor([[0, 1, 1, 1]]), Prior(1e-3))
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
    many = [log_likelihood(samples, NEAR, 100, torch.Generator().manual_seed(s))[0][0, 0] for s in range(300)]
    stated = log_likelihood(samples, NEAR, 100, torch.Generator().manual_seed(0))[1][0, 0]
    assert torch.stack(many).std().item() == pytest.approx(stated.item(), rel=0.4)
