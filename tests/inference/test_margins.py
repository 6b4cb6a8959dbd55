"""Margins of the max-margin mixture: the weights by loops, the step of the vectors by quadrature."""

import numpy as np
import pytest

from semicrowd.inference.gibbs.margins import Margins, best_rival, log_margins
from semicrowd.random import stream


def test_an_item_weighs_what_its_margin_to_the_best_other_rival_says() -> None:
    score = stream(0, "test").normal(size=(30, 6)) * 2
    rivals, cost, margin = np.array([4, 1, 2]), 0.7, 1.5
    found = log_margins(score, rivals, cost, margin)
    for item in range(30):
        for plane in range(6):
            best = max(score[item, other] for other in rivals if other != plane)
            expected = -2 * cost * max(0, margin - score[item, plane] + best)
            assert found[item, plane] == pytest.approx(expected)
    assert not log_margins(score, np.array([3]), cost, margin)[:, 3].any()  # alone: no rival
    assert not log_margins(score, np.array([], int), cost, margin).any()
    rival, of_rival = best_rival(score, np.arange(30) % 6)
    assert all(rival[i] != i % 6 and of_rival[i] == np.delete(score[i], i % 6).max() for i in range(30))


@pytest.mark.slow
def test_two_clusters_vectors_follow_their_posterior() -> None:
    # Of two clusters each is the other's best rival: nothing is held that could move. Density on a grid.
    rng = stream(1, "test")
    items = np.array([[1.0], [-0.5], [2.0], [0.3], [-1.5]])
    z = np.array([0, 1, 0, 0, 1])
    y = np.where(z[:, None] == np.arange(2), 1.0, -1.0)
    planes = Margins(items, "margin", variance=0.8, cost=0.6, margin=1.2)
    grid = np.linspace(-5, 5, 401)
    first, second = np.meshgrid(grid, grid, indexing="ij")
    log_density = -(first**2 + second**2) / (2 * 0.8)
    for x, cluster in zip(items[:, 0], z, strict=True):
        own, other = (first, second) if cluster == 0 else (second, first)
        log_density -= 2 * 0.6 * np.maximum(0, 1.2 - (own - other) * x)
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    eta, draws = np.zeros((2, 1)), []
    for step in range(8_200):
        eta = planes.redraw(eta, y, rng)
        if step >= 200:
            draws.append(eta[:, 0])
    found = np.array(draws)
    for power, power_of_other in ((1, 0), (0, 1), (2, 0), (1, 1), (0, 2)):
        exact = (first**power * second**power_of_other * density).sum()
        assert (found[:, 0] ** power * found[:, 1] ** power_of_other).mean() == pytest.approx(exact, abs=0.06)


def test_one_cluster_has_a_vector_of_the_prior() -> None:
    rng = stream(2, "test")
    planes = Margins(np.ones((4, 1)), "margin", variance=2.0)
    drawn = np.array([planes.redraw(np.zeros((1, 1)), np.ones((4, 1)), rng)[0, 0] for _ in range(4000)])
    assert (drawn.mean(), drawn.var()) == (pytest.approx(0, abs=0.1), pytest.approx(2, abs=0.2))
