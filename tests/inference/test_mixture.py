"""Clusters joined by links: counts by loops, evidence by predictive densities, order by hand."""

import numpy as np
import torch
from numpy.testing import assert_allclose
from scipy.stats import multivariate_t

from semicrowd.expfam import gaussian, normal_inverse_wishart
from semicrowd.inference.mixture import evidence_of_clusters

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
