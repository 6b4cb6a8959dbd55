"""Auxiliary variables and hyperplanes against the densities that they stand for."""

import numpy as np
import pytest
from scipy import stats

from semicrowd.inference.gibbs import hyperplanes
from semicrowd.inference.gibbs.hyperplanes import Hyperplanes, augmented, log_ratio, rotated

from .small import likelihood

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("loss", ["svm", "logistic"])
def test_the_ratio_is_that_of_equation_2(loss: str) -> None:
    f = np.linspace(-3, 3, 25)
    assert log_ratio(f, loss) == pytest.approx(np.log(likelihood(loss, f) / likelihood(loss, -f)), abs=1e-12)


@pytest.mark.parametrize("distance", [0.0, 1e-9, 0.3, 1.0, 40.0])
def test_inverse_gaussian_draws(distance: float) -> None:
    y, f = np.ones((20_000, 1)), np.full((20_000, 1), 1 - distance)
    weight, linear = augmented(y, f, "svm", np.random.default_rng(1))
    assert linear == pytest.approx(1 + weight)
    distance = float(abs(1 - f[0, 0]))
    law = stats.levy() if distance < 1e-6 else stats.invgauss(1 / distance)  # mean 1 / distance, shape 1
    assert stats.kstest(weight[:, 0], law.cdf).pvalue > 1e-4


def test_polya_gamma_draws_have_their_mean() -> None:
    f = np.array([[0.0, -2.0, 5.0]]).repeat(40_000, 0)
    weight, linear = augmented(np.ones_like(f), f, "logistic", np.random.default_rng(1))
    expected = [0.25, np.tanh(1) / 4, np.tanh(2.5) / 10]
    assert weight.mean(0) == pytest.approx(expected, rel=0.02)
    assert np.unique(linear).tolist() == [0.5]


@pytest.mark.parametrize("loss", ["svm", "logistic"])
def test_a_chain_of_hyperplanes_has_the_moments_of_equation_4(loss: str) -> None:
    """One column: the posterior is a function of one number."""
    x, w = np.array([[1.5], [-0.4], [0.9], [-2.0], [0.3]]), 3.0
    y = np.array([[1.0], [-1.0], [1.0], [1.0], [-1.0]])
    grid = np.linspace(-12, 12, 20_001)
    weight = stats.norm(0, np.sqrt(w)).pdf(grid) * likelihood(loss, y * x * grid).prod(0)
    mean = (weight * grid).sum() / weight.sum()
    sd = np.sqrt((weight * (grid - mean) ** 2).sum() / weight.sum())
    planes, rng = Hyperplanes(x, loss, w), np.random.default_rng(2)
    eta, draws = np.zeros((200, 1)), []
    for _ in range(150):
        eta = planes.redraw(eta, y.repeat(200, 1), rng)
        draws.append(eta[:, 0])
    found = np.array(draws[50:])
    assert found.mean() == pytest.approx(mean, abs=0.06 * sd)
    assert found.std() == pytest.approx(sd, rel=0.05)


@pytest.mark.parametrize("most_columns", [0, 100])
@pytest.mark.parametrize("loss", ["svm", "logistic"])
def test_draws_solve_the_normal_equations(loss: str, most_columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By either preconditioner; the right-hand side is put together from the same draws."""
    items, _ = rotated(RNG.normal(size=(60, 30)) * np.geomspace(0.01, 3, 30))
    assert items.T @ items == pytest.approx(np.diag(np.square(items).sum(0)), abs=1e-9)
    monkeypatch.setattr(hyperplanes, "MOST_COLUMNS", most_columns)
    planes = Hyperplanes(items, loss, 0.7)
    eta, y = RNG.normal(size=(6, 30)), np.sign(RNG.normal(size=(60, 6)))
    rng = np.random.default_rng(3)
    weight, linear = augmented(y, items @ eta.T, loss, rng)
    right = items.T @ (linear + np.sqrt(weight) * rng.standard_normal(weight.shape))
    right += rng.standard_normal(right.shape) / np.sqrt(0.7)
    solved = [
        np.linalg.solve(items.T @ np.diag(one) @ items + np.eye(30) / 0.7, side)
        for one, side in zip(weight.T, right.T, strict=True)
    ]
    found = planes.redraw(eta, y, np.random.default_rng(3))
    assert np.abs(found - solved).max() < 1e-3 * np.std(solved)
    monkeypatch.setattr(hyperplanes, "TOLERANCE", 1e-10)
    assert planes.redraw(eta, y, np.random.default_rng(3)) == pytest.approx(np.array(solved), rel=1e-6, abs=1e-7)


def test_weights_too_far_apart_for_single_precision_are_solved_for_all_the_same() -> None:
    items, _ = rotated(RNG.normal(size=(40, 12)))
    weight = np.geomspace(1e-12, 1e12, 40)[RNG.permutation(40)][:, None]
    planes, linear = Hyperplanes(items, "svm", 1e9), RNG.normal(size=(40, 1))
    found = planes.drawn(weight, linear, np.zeros((1, 12)), np.random.default_rng(4))
    rng = np.random.default_rng(4)
    right = items.T @ (linear + np.sqrt(weight) * rng.standard_normal(weight.shape))
    right += rng.standard_normal(right.shape) / np.sqrt(1e9)
    residual = items.T @ (weight * (items @ found.T)) + found.T / 1e9 - right
    assert np.linalg.norm(residual) < 1e-5 * np.linalg.norm(right)


def test_the_basis_has_as_many_columns_as_the_items_need() -> None:
    table = RNG.normal(size=(20, 3)) @ RNG.normal(size=(3, 8))
    items, basis = rotated(table)
    assert items.shape == (20, 3)
    assert items @ basis.T == pytest.approx(table)
    assert rotated(np.zeros((4, 2)))[0].shape == (4, 0)
