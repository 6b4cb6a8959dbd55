"""The generated points of the plane against their recipe."""

from pathlib import Path

import numpy as np
import pytest

from semicrowd.data import load_dataset

ROOT = Path("unused")


def test_moons_are_two_half_circles_with_noise() -> None:
    data = load_dataset("shapes", ROOT, which="moons", points_per_class=2000)
    assert data.labels is not None
    assert data.num_classes == 2
    assert np.bincount(data.labels).tolist() == [2000, 2000]
    upper = data.features[data.labels == 0]
    lower = np.array([1, 0.5]) - data.features[data.labels == 1]
    for moon in (upper, lower):
        radius = np.hypot(*moon.T)
        assert radius.mean() == pytest.approx(1, abs=0.01)
        assert radius.std() == pytest.approx(0.07, abs=0.005)
        assert (moon[:, 1] > -0.35).all()


def test_gaussians_are_long_in_directions_of_their_own() -> None:
    data = load_dataset("shapes", ROOT, which="gaussians", points_per_class=2000)
    assert data.labels is not None
    assert data.num_classes == 3
    angles = []
    for kind in range(3):
        variance, axes = np.linalg.eigh(np.cov(data.features[data.labels == kind].T))
        assert 3 < np.sqrt(variance[1] / variance[0]) < 5
        angles.append(np.arctan2(axes[1, 1], axes[0, 1]) % np.pi)
    assert angles == pytest.approx([0.3, 2.2, 1.2], abs=0.05)


def test_points_depend_on_their_seed() -> None:
    one, same, other = (load_dataset("shapes", ROOT, data_seed=own) for own in (0, 0, 1))
    assert np.array_equal(one.features, same.features)
    assert not np.array_equal(one.features, other.features)
