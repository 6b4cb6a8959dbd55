"""Clusters joined by links: counts by loops, evidence by predictive densities, order by hand."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_t

from semicrowd.expfam import gaussian, normal_inverse_wishart
from semicrowd.inference.mixture import count_links, evidence_of_clusters, join_by_links

PRIOR = normal_inverse_wishart.to_natural(
    torch.zeros(2, dtype=torch.float64), torch.tensor(0.5, dtype=torch.float64),
    2.5 * torch.eye(2, dtype=torch.float64), torch.tensor(2.5, dtype=torch.float64),
)  # fmt: skip


def statistics(points: list[np.ndarray]) -> torch.Tensor:
    """Σ (t(x), 1, 1) of each cluster's points."""
    rows = []
    for x in points:
        t = gaussian.statistics(torch.from_numpy(x), torch.zeros(len(x), 2, 2, dtype=torch.float64))
        rows.append(torch.cat([t.sum(0), torch.full((2,), float(len(x)), dtype=torch.float64)]))
    return torch.stack(rows)


def log_evidence(x: np.ndarray) -> float:
    """ln p(x) of one cluster's points one after the other: Student's t (Murphy 2007, eq. 258)."""
    total = 0.0
    for n in range(len(x)):
        mean = x[:n].mean(0) if n else np.zeros(2)
        kappa, degrees = 0.5 + n, 2.5 + n - 1
        scale = 2.5 * np.eye(2) + (x[:n] - mean).T @ (x[:n] - mean) + 0.5 * n / kappa * np.outer(mean, mean)
        total += multivariate_t(n * mean / kappa, scale * (kappa + 1) / (kappa * degrees), df=degrees).logpdf(x[n])
    return total


def test_links_are_counted_in_either_order() -> None:
    clusters, of_views = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 0, 2, 1])
    assert_array_equal(count_links(clusters, of_views, 3), [[2, 2, 0], [2, 0, 1], [0, 1, 2]])


def test_a_union_loses_the_evidence_of_its_points() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(6, 2)), rng.normal(size=(9, 2)) + 1
    apart, united = evidence_of_clusters(statistics([a, b]), PRIOR).sum(), evidence_of_clusters(
        statistics([np.concatenate([a, b])]), PRIOR
    ).sum()  # fmt: skip
    shares = 6 * np.log(6 / 15) + 9 * np.log(9 / 15)  # ln p(z) at the most likely π; 0 when united
    expected = log_evidence(a) + log_evidence(b) + shares - log_evidence(np.concatenate([a, b]))
    assert_allclose((apart - united).item(), expected, rtol=1e-6)


@pytest.mark.parametrize("weight", [0.0, 0.5, 2.0, 1e9])
def test_clusters_are_joined_while_a_link_costs_less_than_its_weight(weight: float) -> None:
    """Four clusters, three of them in a row with many links: a plain search over all partitions of the row."""
    rng = np.random.default_rng(1)
    points = [rng.normal((x, 0), size=(40, 2)) for x in (0.0, 1.5, 3.0, 30.0)]
    links = np.diag([60.0, 50, 60, 80])
    links[0, 1] = links[1, 0] = 20
    links[1, 2] = links[2, 1] = 15
    s = statistics(points)
    name, evidence = join_by_links(s, PRIOR, links, weight)
    groups = [np.flatnonzero(name == k) for k in np.unique(name)]
    cost = {}
    for a in range(4):
        for b in range(a):
            union = evidence_of_clusters(s[a] + s[b], PRIOR) - evidence_of_clusters(s[[a, b]], PRIOR).sum()
            cost[a, b] = -union.item() / links[a, b] if links[a, b] else np.inf
    first = min(cost, key=lambda pair: cost[pair])
    assert (name[first[0]] == name[first[1]]) == (cost[first] < weight)
    if weight == 1e9:
        assert len(groups) == 2
    assert all(name[3] != name[k] for k in range(3))  # far away and without a link
    inside = sum(links[np.ix_(g, g)].sum() for g in groups) / 2
    total = sum(log_evidence(np.concatenate([points[k] for k in g])) for g in groups)
    sizes = np.array([40.0 * len(g) for g in groups])
    # evidence_of_clusters leaves out the points' (2π)^(−d/2).
    expected = total + 160 * np.log(2 * np.pi) + (sizes * np.log(sizes)).sum() + weight * inside
    assert_allclose(evidence, expected, rtol=1e-6)


def test_clusters_without_links_stay_apart_at_any_price_but_their_gain() -> None:
    rng = np.random.default_rng(2)
    s = statistics([np.zeros((5, 2)), np.zeros((4, 2)), rng.normal((4.0, 0), 0.3, size=(9, 2))])
    union = evidence_of_clusters(s.sum(0), PRIOR) - evidence_of_clusters(torch.stack([s[0] + s[1], s[2]]), PRIOR).sum()
    assert -50 < union < 0
    name, _ = join_by_links(s, PRIOR, np.zeros((3, 3)), 100.0)
    assert_array_equal(name == name[0], [True, True, False])  # two of one place gain by their union


def test_answers_join_and_part_clusters() -> None:
    rng = np.random.default_rng(3)
    s = statistics([rng.normal((x, 0), size=(30, 2)) for x in (0.0, 2.0, 4.0)])
    links = np.full((3, 3), 10.0)
    cost = -(evidence_of_clusters(s[0] + s[1], PRIOR) - evidence_of_clusters(s[:2], PRIOR).sum()).item()
    odds = np.zeros((3, 3))
    odds[0, 2] = odds[2, 0] = -1e4
    odds[1, 2] = odds[2, 1] = -1e4
    for extra, joined in ((cost - 10 * 0.5 + 1, True), (cost - 10 * 0.5 - 1, False)):
        odds[0, 1] = odds[1, 0] = extra  # loss − odds against ten links of half a nat
        name, evidence = join_by_links(s, PRIOR, links, 0.5, odds)
        assert (name[0] == name[1]) == joined
        assert name[2] == 2
        apart = evidence_of_clusters(s, PRIOR).sum().item() + 0.5 * 15
        assert (evidence > apart) == joined
