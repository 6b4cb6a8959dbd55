"""The compiled sums of SLPD's E-step against Q as a whole."""

import numpy as np
import pytest
import torch

from semicrowd.inference import slpd_sums
from semicrowd.inference.slpd import Clusters, densities, samples_of, sweep


def test_exponentials_are_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    x = -np.concatenate([rng.random(3000), 700 * rng.random(3000), [0.0, 708.0]])
    found = x.copy()
    slpd_sums.exponentials(found, np.empty(len(x), np.int64))
    np.testing.assert_allclose(found, np.exp(x), rtol=4e-16)
    far = np.array([-1e4, -np.inf])
    slpd_sums.exponentials(far, np.empty(2, np.int64))
    assert (far < 1e-300).all()


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(("samples", "features"), [(700, 4), (3, 900)])
def test_sums_are_those_of_q(samples: int, features: int, missing: float) -> None:
    """Of samples that are many pieces, or one each; some values are far from all clusters."""
    rng, fits, clusters, blocks = np.random.default_rng(0), 2, 3, 3
    values = torch.from_numpy(8 * rng.normal(size=(fits, samples, features)))
    there = torch.from_numpy(rng.random(values.shape) >= missing)
    block = torch.from_numpy(np.concatenate([np.arange(blocks), rng.integers(blocks, size=samples - blocks)]))
    given = samples_of(values, block.expand(fits, -1), there if missing else None)
    mean = torch.from_numpy(rng.normal(size=(fits, clusters, features)))
    theta = Clusters(mean, torch.full_like(mean, 0.05), torch.ones(fits, clusters, dtype=torch.float64))
    gamma = torch.from_numpy(1 + rng.random((fits, blocks, clusters)))
    found = sweep(given, theta, gamma)
    quadratic, linear, constant = (part[:, None] for part in densities(theta))
    x = given.values[:, :, None]
    of_block = torch.digamma(gamma) - torch.digamma(gamma.sum(-1, keepdim=True))
    logits = quadratic * x**2 + linear * x + constant + of_block[:, block][..., None]  # [F, D, K, G]
    q = logits.softmax(2) * there[:, :, None]
    for sums, expected in zip(found[1:4], (q, q * x, q * x**2), strict=True):
        torch.testing.assert_close(sums, expected.sum(1), rtol=1e-12, atol=1e-10)
    total = torch.zeros_like(gamma).index_add(1, block, q.sum(-1))
    torch.testing.assert_close(found.block, total, rtol=1e-12, atol=1e-10)
    normaliser = (logits.logsumexp(2) * there).sum((1, 2))
    torch.testing.assert_close(found.log_normaliser, normaliser, rtol=1e-12, atol=1e-10)
