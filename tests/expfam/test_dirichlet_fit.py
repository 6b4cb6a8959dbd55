"""Newton steps of a Dirichlet's concentration."""

import numpy as np
import pytest
import torch
from scipy import optimize, special

from semicrowd.expfam.dirichlet import newton, objective


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
