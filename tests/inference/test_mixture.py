"""The mixture of a partition: its evidence and that of unions, item by item by predictive densities."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.stats import multivariate_t

from semicrowd.expfam import gaussian, normal_inverse_wishart
from semicrowd.inference.mixture import evidence_of_clusters, mixture_prior, partition_posterior, union_gains

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


def test_a_union_loses_the_evidence_of_its_points() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(6, 2)), rng.normal(size=(9, 2)) + 1
    apart, united = evidence_of_clusters(statistics([a, b]), PRIOR).sum(), evidence_of_clusters(
        statistics([np.concatenate([a, b])]), PRIOR
    ).sum()  # fmt: skip
    shares = 6 * np.log(6 / 15) + 9 * np.log(9 / 15)  # ln p(z) at the most likely π; 0 when united
    expected = log_evidence(a) + log_evidence(b) + shares - log_evidence(np.concatenate([a, b]))
    assert_allclose((apart - united).item(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "concentration"), [("corrected", 1 + 0.05 / 3), ("released", 1.05), ("paper", 0.05 / 3)]
)
def test_the_evidence_of_a_partition_is_that_of_its_items_one_after_the_other(kind: str, concentration: float) -> None:
    """ln p(x, z): of z by Pólya's urn, of each cluster's x by Student's t; two restarts, the third cluster is empty."""
    rng, prior = np.random.default_rng(0), mixture_prior(kind, 3, 2)
    x, clusters = rng.normal(size=(2, 15, 2)) + 1, rng.integers(2, size=(2, 15))
    zero = torch.zeros(2, 15, 2, 2, dtype=torch.float64)
    t_x, z = gaussian.statistics(torch.from_numpy(x), zero), torch.from_numpy(clusters)
    none, all_ = (partition_posterior(prior, t_x[:, :n], z[:, :n]).log_partition() for n in (0, 15))
    for r in range(2):
        urn = sum(
            np.log(((clusters[r, :n] == clusters[r, n]).sum() + concentration) / (n + 3 * concentration))
            for n in range(15)
        )
        points = sum(log_evidence(x[r, clusters[r] == k]) for k in range(2))
        # Densities of x are those of base measure 1.
        assert (all_ - none)[r].item() == pytest.approx(urn + points + 15 * np.log(2 * np.pi))


def test_a_union_gains_the_evidence_of_all_points_less_that_of_each_cluster() -> None:
    """Three clusters of different sizes and places, each with each."""
    rng = np.random.default_rng(0)
    points = [rng.normal(size=(n, 2)) + shift for n, shift in ((6, 0), (9, 1), (3, 4))]
    gains = union_gains(PRIOR + statistics(points), PRIOR)
    for a in range(3):
        for b in range(a):
            expected = log_evidence(np.concatenate([points[a], points[b]])) - log_evidence(points[a])
            assert gains[a, b].item() == pytest.approx(expected - log_evidence(points[b]))
            assert gains[b, a].item() == pytest.approx(gains[a, b].item())
