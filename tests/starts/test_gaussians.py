"""A mixture's density at the mode of its posterior, against SciPy's."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import softmax
from scipy.stats import multivariate_normal
from sklearn.datasets import make_blobs

from semicrowd.starts.gaussians import Gaussians


def test_density_of_a_gaussian_with_its_own_covariance() -> None:
    x, _ = make_blobs(240, 3, centers=4, cluster_std=1.6, random_state=3)
    z = softmax(np.random.default_rng(0).normal(size=(240, 2)), axis=1)
    size = z.sum(0)
    expected = []
    for k in range(2):
        mean = (z[:, k] @ x) / (size[k] + 0.01)
        centred = x - mean
        scatter = (z[:, k, None] * centred).T @ centred + 0.01 * np.outer(mean, mean)
        scatter += np.diag(x.var(0)) * 2 ** (-2 / 3)
        density = multivariate_normal(mean, scatter / (size[k] + 10)).logpdf(x)
        expected.append(density + np.log((size[k] + 1) / 242))
    found, wanted = Gaussians(x, x.var(0), shared=False).mode(z).log_density(x), np.stack(expected, 1)
    assert_allclose(found[:, 1] - found[:, 0], wanted[:, 1] - wanted[:, 0], rtol=1e-8)
