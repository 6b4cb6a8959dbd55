"""Concentrations against their posterior by quadrature."""

import numpy as np
import pytest
from scipy import integrate
from scipy.special import gammaln

from semicrowd.inference.gibbs.franchise import escobar_west, neighbours, tables, transitions


def test_escobar_and_west_draw_from_the_posterior() -> None:
    clusters, items, (shape, rate) = 4, 30, (2.0, 0.7)

    def density(a: float) -> float:
        return float(np.exp((clusters + shape - 1) * np.log(a) + gammaln(a) - gammaln(a + items) - rate * a))

    total, first = (integrate.quad(lambda a: a**power * density(a), 0, 40)[0] for power in (0, 1))  # noqa: B023
    rng, alpha, draws = np.random.default_rng(0), 1.0, []
    for _ in range(20_000):
        alpha = escobar_west(alpha, clusters, items, (shape, rate), rng)
        draws.append(alpha)
    assert np.mean(draws) == pytest.approx(first / total, rel=0.03)


def test_tables_have_antoniaks_mean() -> None:
    moves, base = np.array([[5.0, 0.0], [1.0, 9.0]]), np.array([0.8, 2.5])
    found = np.mean([tables(moves, base, np.random.default_rng(seed)) for seed in range(4000)], 0)
    expected = [[(b / (b + np.arange(n))).sum() for n, b in zip(row, base, strict=True)] for row in moves]
    assert found == pytest.approx(np.array(expected), rel=0.03)


def test_transitions_are_those_within_sequences() -> None:
    before, after = neighbours(np.array([7, 7, 3, 7, 3]))
    assert before.tolist() == [-1, 0, -1, 1, 2]
    assert after.tolist() == [1, 3, 4, -1, -1]
    moves = transitions(np.array([0, 1, 1, 1, 0]), before, 2)
    assert moves.tolist() == [[1, 1], [0, 1], [1, 1]]  # two beginnings; 0 → 1; 1 → 1 and 1 → 0
