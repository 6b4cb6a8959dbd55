"""The mixture of a partition: its evidence, item by item by predictive densities."""

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_t

from semicrowd.expfam import gaussian
from semicrowd.inference.mixture import mixture_prior, partition_posterior


def log_evidence(x: np.ndarray) -> float:
    """ln p(x) of one cluster's points one after the other: Student's t (Murphy 2007, eq. 258)."""
    total = 0.0
    for n in range(len(x)):
        mean = x[:n].mean(0) if n else np.zeros(2)
        kappa, degrees = 0.5 + n, 2.5 + n - 1
        scale = 2.5 * np.eye(2) + (x[:n] - mean).T @ (x[:n] - mean) + 0.5 * n / kappa * np.outer(mean, mean)
        total += multivariate_t(n * mean / kappa, scale * (kappa + 1) / (kappa * degrees), df=degrees).logpdf(x[n])
    return total


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
