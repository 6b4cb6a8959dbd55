"""The pinwheel against its recipe, undone by hand."""

from pathlib import Path

import numpy as np
import pytest

from semicrowd.data import load_dataset

ROOT = Path("unused")


def test_arms_are_gaussian_after_unbending() -> None:
    data = load_dataset("pinwheel", ROOT, points_per_class=4000)
    assert data.labels is not None
    x, y = data.features.T / 10
    # The distance from 0 is nearly the radius (the deviation across is small), which gives the arm's angle.
    distance = np.hypot(x, y)
    angle = 2 * np.pi * data.labels / 5 + 0.25 * np.exp(distance)
    along, across = x * np.cos(angle) - y * np.sin(angle), y * np.cos(angle) + x * np.sin(angle)
    # Radii below 0 turn by the wrong angle here: there are next to none.
    plain = distance > 0.3
    assert along[plain].mean() == pytest.approx(1.0, abs=0.02)
    assert along[plain].std() == pytest.approx(0.3, abs=0.02)
    assert across[plain].std() == pytest.approx(0.05, abs=0.005)


def test_points_depend_on_the_seed_of_the_data_alone() -> None:
    first, second = (load_dataset("pinwheel", ROOT) for _ in range(2))
    assert np.array_equal(first.features, second.features)
    assert first.hashes == second.hashes
    other = load_dataset("pinwheel", ROOT, data_seed=1)
    assert not np.array_equal(first.features, other.features)
    assert first.hashes != other.hashes
