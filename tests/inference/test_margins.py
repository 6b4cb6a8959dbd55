"""Margins of the max-margin mixture: the weights by loops, the step of the vectors by quadrature."""

import numpy as np
import pytest

from semicrowd.inference.gibbs.margins import Margins, log_margins
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


@pytest.mark.slow
@pytest.mark.parametrize("z", [(0, 1, 0, 0, 1), (0, 1, 2, 0, 1)])
def test_the_vectors_follow_their_posterior(z: tuple[int, ...]) -> None:
    """Of any number of clusters; density on a grid."""
    rng, clusters = stream(1, "test"), max(z) + 1
    items = np.array([1.0, -0.5, 2.0, 0.3, -1.5])
    y = np.where(np.array(z)[:, None] == np.arange(clusters), 1.0, -1.0)
    planes = Margins(items[:, None], "margin", variance=0.8, cost=0.6, margin=1.2)
    eta = np.stack(np.meshgrid(*[np.linspace(-5, 5, 81)] * clusters, indexing="ij"))
    log_density = -np.square(eta).sum(0) / (2 * 0.8)
    for x, own in zip(items, z, strict=True):
        rival = np.delete(eta * x, own, axis=0).max(0)
        log_density -= 2 * 0.6 * np.maximum(0, 1.2 - eta[own] * x + rival)
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    one, draws = np.zeros((clusters, 1)), []
    for step in range(12_200):
        one = planes.redraw(one, y, rng)
        if step >= 200:
            draws.append(one[:, 0])
    found = np.array(draws)
    for a in range(clusters):
        assert found[:, a].mean() == pytest.approx((eta[a] * density).sum(), abs=0.05)
        for b in range(a, clusters):
            exact = (eta[a] * eta[b] * density).sum()
            assert (found[:, a] * found[:, b]).mean() == pytest.approx(exact, abs=0.06)


def test_one_cluster_has_a_vector_of_the_prior() -> None:
    rng = stream(2, "test")
    planes = Margins(np.ones((4, 1)), "margin", variance=2.0)
    drawn = np.array([planes.redraw(np.zeros((1, 1)), np.ones((4, 1)), rng)[0, 0] for _ in range(4000)])
    assert (drawn.mean(), drawn.var()) == (pytest.approx(0, abs=0.1), pytest.approx(2, abs=0.2))
