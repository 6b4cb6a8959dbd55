"""Cuts of a cluster: where they go, and what they gain, against evidence by hand."""

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_t

from semicrowd.inference.mixture import cut_by_answers, cut_by_means, cut_gain, mixture_prior


def together(half: np.ndarray, groups: np.ndarray) -> bool:
    """Whether the halves are the two groups."""
    return bool((half == groups).all() or (half != groups).all())


def test_whitened_means_are_cut_where_there_are_two_heaps_not_where_they_are_widest() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat([False, True], 100)
    means = np.stack([20 * rng.normal(size=200), 4.0 * groups + 0.4 * rng.normal(size=200)], 1).astype(np.float32)
    assert together(cut_by_means(means, whitened=True), groups)
    assert not together(cut_by_means(means, whitened=False), groups)


def test_answers_cut_and_the_others_follow_the_nearer_half() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat([False, True], 30)
    means = np.stack([np.where(groups, 1.0, -1.0), rng.normal(size=60)], 1).astype(np.float32)
    known = rng.permutation(60)[:24]
    i, j = rng.choice(known, (2, 400))
    weight = np.where(groups[i] == groups[j], 2.0, -2.0)
    half = cut_by_answers(means, i[i != j], j[i != j], weight[i != j])
    assert half is not None
    assert together(half[known], groups[known])
    assert (half == groups).mean() > 0.8 or (half != groups).mean() > 0.8
    assert cut_by_answers(means, i, j, np.abs(weight)) is None, "nobody sees a second kind"
    assert cut_by_answers(means, i[:0], j[:0], weight[:0]) is None


def log_evidence(points: np.ndarray) -> float:
    """ln p of points under the prior of a cluster, one after the other by Student's t (κ = ν₀ − d = .5, S = ν₀ I)."""
    d = points.shape[1]
    location, kappa, scale, nu, total = np.zeros(d), 0.5, (d + 0.5) * np.eye(d), d + 0.5, 0.0
    for point in points:
        free = nu - d + 1
        total += multivariate_t(location, scale * (kappa + 1) / (kappa * free), free).logpdf(point)
        offset = point - location
        scale = scale + kappa / (kappa + 1) * np.outer(offset, offset)
        location, kappa, nu = location + offset / (kappa + 1), kappa + 1, nu + 1
    return float(total)


def test_the_gain_is_of_the_evidence_of_exact_points_less_the_odds_across() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20, 2))
    points[:12] += 3
    half = np.arange(20) >= 12
    prior = mixture_prior("paper", 5, 2).components[0, 0]
    outer = points[:, :, None] * points[:, None]
    statistics = torch.from_numpy(np.concatenate([points, outer.reshape(20, 4), np.ones((20, 2))], 1))
    ends = (np.array([0, 1, 13]), np.array([13, 2, 14]))
    weight = np.array([-2.5, 1.0, 4.0])
    shares = 12 * np.log(12 / 20) + 8 * np.log(8 / 20)
    expected = log_evidence(points[:12]) + log_evidence(points[12:]) - log_evidence(points) + shares + 2.5
    assert cut_gain(statistics, half, prior, ends, weight) == pytest.approx(expected)
