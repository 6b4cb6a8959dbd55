
import numpy as np
import pytest
import torch
from scipy import optimize, special, stats

from semicrowd.expfam.dirichlet import newton, objective
from semicrowd.expfam.shared_prior import HYPERPRIOR_SD, common_beta

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
