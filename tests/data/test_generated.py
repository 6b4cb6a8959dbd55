"""Generated data against their recipes, undone by hand."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from semicrowd.data import Dataset
from semicrowd.data.benchmark import load_benchmark
from semicrowd.data.generated import draw_walk, load_pinwheel, load_shapes
from semicrowd.data.sequences import load_sequence, read_home


def test_arms_of_the_pinwheel_are_gaussian_after_unbending() -> None:
    data = load_pinwheel(points_per_class=4000)
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


def test_moons_are_two_half_circles_with_noise() -> None:
    data = load_shapes(which="moons", points_per_class=2000)
    assert np.bincount(data.labels).tolist() == [2000, 2000]
    for moon in (data.features[data.labels == 0], np.array([1, 0.5]) - data.features[data.labels == 1]):
        radius = np.hypot(*moon.T)
        assert radius.mean() == pytest.approx(1, abs=0.01)
        assert radius.std() == pytest.approx(0.07, abs=0.005)
        assert (moon[:, 1] > -0.35).all()


def test_gaussians_are_long_in_directions_of_their_own() -> None:
    data = load_shapes(which="gaussians", points_per_class=2000)
    assert data.num_classes == 3
    angles = []
    for kind in range(3):
        variance, axes = np.linalg.eigh(np.cov(data.features[data.labels == kind].T))
        assert 3 < np.sqrt(variance[1] / variance[0]) < 5
        angles.append(np.arctan2(axes[1, 1], axes[0, 1]) % np.pi)
    assert angles == pytest.approx([0.3, 2.2, 1.2], abs=0.05)


def test_chains_are_two_rows_of_gaussians() -> None:
    data = load_benchmark(which="chains")
    assert np.array_equal(data.features[:, 1] > 0, data.labels == 1)
    for chain in range(2):
        links = data.features[data.labels == chain].reshape(5, 30, 2)
        assert np.diff(links.mean(1)[:, 0]) == pytest.approx(np.full(4, 2), abs=0.4)
        assert links.std(1) == pytest.approx(np.full((5, 2), 0.5), abs=0.2)


def test_the_walk_follows_its_law() -> None:
    stays, counts, of_rooms = [], [], []
    for seed in range(20):
        features, labels, walks = draw_walk(np.random.default_rng(seed))
        assert features.shape == (600, 40)
        assert np.bincount(walks).tolist() == [200] * 3
        inside = np.diff(walks) == 0
        stays.append(np.mean(np.diff(labels)[inside] == 0))
        counts.append(features.sum(1))
        # Scans of a room have its shares: two halves of them agree, those of two rooms do not.
        halves = [[features[labels == room][half::2].sum(0) for half in (0, 1)] for room in np.unique(labels)]
        share = np.array([[half / max(half.sum(), 1) for half in both] for both in halves])
        distance = np.abs(share[:, None, 0] - share[None, :, 1]).sum(2)
        of_rooms.append(np.mean(distance.argmin(1) == np.arange(len(share))))
    assert np.mean(stays) == pytest.approx(0.95, abs=0.01)
    total = np.concatenate(counts)
    assert total.min() >= 1
    assert (total.mean(), total.var()) == (pytest.approx(12, abs=0.2), pytest.approx(11, abs=0.5))
    assert np.mean(of_rooms) > 0.9


@pytest.mark.parametrize("load", [load_pinwheel, load_shapes, load_sequence])
def test_the_seed_of_the_data_decides(load: Callable[..., Dataset]) -> None:
    one, same, other = (load(data_seed=seed) for seed in (0, 0, 1))
    assert np.array_equal(one.features, same.features)
    assert one.hashes == same.hashes
    assert not np.array_equal(one.features, other.features)
    assert one.hashes != other.hashes


SENSORS = """Start time          \tEnd time            \tLocation\tType\tPlace
--------------------\t--------------------\t--------\t--------\t-----
2011-11-28 10:02:00\t2011-11-28 10:02:05\t\tDoor\t\tPIR\t\tLiving
2011-11-28 10:03:59 \t2011-11-28 10:11:10\tBed\t\tPressure\tBedroom\t
2011-11-28 10:04:00\t2011-11-28 10:03:00\tBed\t\tPressure\tBedroom
2011-11-28 10:04:30\t2011-11-28 10:04:31\tDoor\t\tPIR\t\t\tLiving
2011-11-28 10:22:00\t2011-11-28 10:22:00\tSeat\t\tPressure\tLiving
"""
ACTIVITIES = """Start time          \tEnd time            \tActivity
2011-11-28 09:55:00\t2011-11-28 10:01:59\tSpare_Time/TV
2011-11-28 10:02:00\t2011-11-28 10:11:10\tSleeping\t
2011-11-28 10:23:00\t2011-11-28 10:30:00\tSnack
"""


def test_a_home_by_five_minutes(tmp_path: Path) -> None:
    (tmp_path / "on.txt").write_text(SENSORS)
    (tmp_path / "doing.txt").write_text(ACTIVITIES)
    counts, names = read_home(tmp_path / "on.txt", tmp_path / "doing.txt")
    # From 10:00 by five minutes, columns bed, door of the living room, seat.
    assert counts.tolist() == [[2, 2, 0], [5, 0, 0], [2, 0, 0], [0, 0, 0], [0, 0, 1]]
    # Two of the first five minutes are television, three are sleep; of 10:10 to 10:15 two are sleep, three nothing;
    # of the last five minutes two are a snack.
    assert names.tolist() == ["Sleeping", "Sleeping", "none", "none", "none"]


@pytest.mark.needs_data
@pytest.mark.parametrize(
    ("which", "shape", "classes", "changes"),
    [("wifi_1", (2737, 141), 4, 5), ("wifi_14", (1596, 184), 4, 3), ("home_a", (4092, 12), 10, 201),
     ("home_b", (6095, 12), 11, 502)],
)  # fmt: skip
def test_real_sequences(
    public_data: Callable[[str], Path], which: str, shape: tuple[int, int], classes: int, changes: int
) -> None:
    data = load_sequence(which=which, root=public_data("wifi" if which.startswith("wifi") else "homes"))
    assert (data.features.shape, data.num_classes) == (shape, classes)
    assert np.count_nonzero(np.diff(data.labels)) == changes
    assert set(np.unique(data.features)) == set(range(2 if which.startswith("wifi") else 6))
    assert not data.sequence.any()
    assert len(data.hashes) == (1 if which.startswith("wifi") else 2)
