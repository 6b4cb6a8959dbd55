"""Data in the order of time: a home on a file written by hand, the walk's own law, the facts of the real files."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from semicrowd.data import load_dataset
from semicrowd.data.generated import draw_walk
from semicrowd.data.sequences import read_home

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


def test_the_walk_by_its_name() -> None:
    data = load_dataset("sequence", Path("unused"), which="walk")
    assert data.sequence is not None
    assert data.labels is not None
    assert np.flatnonzero(np.diff(data.sequence)).tolist() == [199, 399]
    assert (data.num_items, data.num_features, data.num_classes) == (600, 40, 6)
    other = load_dataset("sequence", Path("unused"), which="walk", data_seed=1)
    assert not np.array_equal(other.features, data.features)


def test_chains_are_two_rows_of_gaussians() -> None:
    data = load_dataset("benchmark", Path("unused"), which="chains")
    assert data.labels is not None
    assert (data.num_items, data.num_classes) == (300, 2)
    assert np.array_equal(data.features[:, 1] > 0, data.labels == 1)
    for chain in range(2):
        links = data.features[data.labels == chain].reshape(5, 30, 2)
        assert np.diff(links.mean(1)[:, 0]) == pytest.approx(np.full(4, 2), abs=0.4)
        assert links.std(1) == pytest.approx(np.full((5, 2), 0.5), abs=0.2)


@pytest.mark.needs_data
@pytest.mark.parametrize(
    ("which", "shape", "classes", "changes"),
    [("wifi_1", (2737, 141), 4, 5), ("wifi_14", (1596, 184), 4, 3), ("home_a", (4092, 12), 10, 201),
     ("home_b", (6095, 12), 11, 502)],
)  # fmt: skip
def test_real_sequences(
    public_data: Callable[[str], Path], which: str, shape: tuple[int, int], classes: int, changes: int
) -> None:
    data = load_dataset("sequence", public_data("wifi" if which.startswith("wifi") else "homes"), which=which)
    assert data.labels is not None
    assert (data.features.shape, data.num_classes) == (shape, classes)
    assert np.count_nonzero(np.diff(data.labels)) == changes
    assert np.array_equal(data.features, np.round(data.features))
    assert set(np.unique(data.features)) == set(range(2 if which.startswith("wifi") else 6))
    assert data.sequence is not None
    assert not data.sequence.any()
    assert len(data.hashes) == (1 if which.startswith("wifi") else 2)
