"""Data in the order of time: a home on a file written by hand, and the facts of the real files."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from semicrowd.data.sequences import load_sequence, read_home

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
    assert data.labels is not None
    assert (data.features.shape, data.num_classes) == (shape, classes)
    assert np.count_nonzero(np.diff(data.labels)) == changes
    assert set(np.unique(data.features)) == set(range(2 if which.startswith("wifi") else 6))
    assert data.sequence is not None
    assert not data.sequence.any()
    assert len(data.hashes) == (1 if which.startswith("wifi") else 2)
