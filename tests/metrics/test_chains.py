"""R-hat and effective sample size of chains whose answers are known."""

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

from semicrowd.metrics.chains import effective_size, mixing, r_hat

NOISE = np.random.default_rng(0).normal(size=(8, 4000))


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_effective_size_of_autoregressions(rho: float) -> None:
    draws = lfilter([1], [1, -rho], NOISE)[:, 100:]
    assert effective_size(draws) == pytest.approx(draws.size * (1 - rho) / (1 + rho), rel=0.15)
    assert r_hat(draws) == pytest.approx(1, abs=0.02)


def test_chains_apart_and_chains_that_drift_disagree() -> None:
    apart = NOISE + 2 * (np.arange(8) % 2)[:, None]  # variance 1 within, 1 between
    assert r_hat(apart) == pytest.approx(np.sqrt(2), rel=0.05)
    assert r_hat(np.exp(3 * apart)) == pytest.approx(r_hat(apart), rel=0.02)
    assert effective_size(apart) < 20
    assert r_hat(NOISE + np.linspace(0, 4, 4000)) > 1.2


def test_what_says_nothing() -> None:
    assert (r_hat(np.ones((3, 10))), effective_size(np.ones((3, 10)))) == (1, 30)
    assert r_hat(np.arange(3.0)[:, None].repeat(10, 1)) == np.inf
    assert r_hat(np.array([14.0, 16, 16, 17, 18, 15, 16, 14, 16, 16])[:, None].repeat(30, 1)) == np.inf
    assert np.isnan(r_hat(np.ones((3, 2))))
    assert np.isnan(effective_size(np.ones((3, 2))))


def table(draws: np.ndarray) -> pd.DataFrame:
    chains, sweeps = draws.shape
    columns = {"chain": np.repeat(np.arange(chains), sweeps), "sweep": np.tile(np.arange(sweeps), chains)}
    return pd.DataFrame(columns | {"clusters": draws.ravel(), "log_likelihood": draws.ravel()})


def test_chains_are_flagged_by_their_second_half() -> None:
    draws = NOISE[:, :400].copy()
    assert mixing(table(draws))["mixed"] == 1
    draws[:, :200] += 100 * np.arange(8)[:, None]
    assert mixing(table(draws)) == pytest.approx(mixing(table(NOISE[:, :400])))
    draws[3, 200:] += 3
    assert mixing(table(draws))["mixed"] == 0
