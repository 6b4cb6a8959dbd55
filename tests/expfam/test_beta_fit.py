import numpy as np
import pytest
from scipy import optimize, stats

from semicrowd.expfam.beta_fit import HYPERPRIOR_SD, common_beta

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
        likelihood = stats.betabinom(answers, *np.exp(x)).logpmf(right).sum()
        return -float(likelihood + stats.norm(np.log(usual), HYPERPRIOR_SD).logpdf(x).sum())

    within = [(np.log(1e-3), np.log(1e3))] * 2
    starts = [np.log(usual), np.log([8.0, 2.0]), np.log([0.3, 0.3]), np.log([100.0, 100.0])]
    best = min(optimize.minimize(loss, start, bounds=within, method="Nelder-Mead").fun for start in starts)
    assert loss(np.log(common_beta(counts, usual))) == pytest.approx(best, abs=1e-5)


def test_bounds_hold_and_the_other_shape_is_the_best_beside_them() -> None:
    counts = np.array([[3.0, 2.0], [9.0, 8.0], [1.0, 6.0], [4.0, 0.0]])
    a, b = common_beta(counts, (1.0, 1.0), least=(0.0, 4.0))
    assert b == pytest.approx(4)

    def loss(log_a: float) -> float:
        likelihood = stats.betabinom(counts.sum(1), np.exp(log_a), 4).logpmf(counts[:, 0]).sum()
        return -float(likelihood + stats.norm(0, HYPERPRIOR_SD).logpdf(log_a))

    assert np.log(a) == pytest.approx(optimize.minimize_scalar(loss, bounds=(-5, 5)).x, abs=1e-3)


def test_without_answers_the_prior_is_the_usual_one() -> None:
    assert common_beta(np.zeros((3, 2)), (1.0, 19.0)) == pytest.approx([1, 19])
