"""Counts in the order of time: WiFi scans of a person, sensors of a home, a generated walk."""

import hashlib
from pathlib import Path

import numpy as np

from semicrowd.data.dataset import Dataset
from semicrowd.data.fetch import fetch
from semicrowd.data.formats import SILENCE, read_wifi
from semicrowd.data.homes import read_home
from semicrowd.data.public import PUBLIC
from semicrowd.random import stream
from semicrowd.settings.data import SequenceSettings

#: Rooms of the generated walks.
_ROOMS = 6
#: Access points.
_POINTS = 40
#: Walks.
_WALKS = 3
#: Scans of a walk.
_SCANS = 200
#: Probability of staying in the room until the next scan.
_STAY = 0.95
#: Mean number of signals in a scan.
_SIGNALS = 12


def load_sequence(root: Path, settings: SequenceSettings) -> Dataset:
    """Load one of :data:`semicrowd.settings.data.SEQUENCES`; what is not below ``root`` is fetched.

    Of a WiFi scan it counts which access points were heard (0 or 1), not how strongly. A person's scans, and the
    slices of a home's days, are one sequence.

    Raises
    ------
    UserError
        If the files cannot be had.
    """
    name, _, part = settings.which.partition("_")
    if name == "walk":
        counts, labels, sequence = draw_walk(stream(settings.data_seed, "data"))
        digest = hashlib.sha256(counts.tobytes() + labels.tobytes()).hexdigest()
        return _dataset(settings, counts, labels, {"walk (generated)": digest}, sequence)
    paths = fetch({"wifi": "wifi", "home": "homes"}[name], root)
    if name == "wifi":
        signals, names = read_wifi(next(iter(paths.values())), int(part))
        counts = (signals > SILENCE).astype(np.float64)
        used = PUBLIC["wifi"].files
    else:
        used = tuple(file for file in PUBLIC["homes"].files if file.name.startswith(f"Ordonez{part.upper()}_"))
        sensors, activities = (paths[file.name] for file in used)
        counts, names = read_home(sensors, activities)
    return _dataset(settings, counts, np.unique(names, return_inverse=True)[1], {f.name: f.sha256 for f in used})


def _dataset(
    settings: SequenceSettings, counts: np.ndarray, labels: np.ndarray, hashes: dict[str, str],
    sequence: np.ndarray | None = None,
) -> Dataset:  # fmt: skip
    if sequence is None:
        sequence = np.zeros(len(counts), np.int64)
    return Dataset(
        settings.which, counts.astype(np.float32), labels.astype(np.int64), hashes=hashes,
        num_classes=int(labels.max()) + 1, sequence=sequence,
    )  # fmt: skip


def draw_walk(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three walks of 200 scans through six rooms: counts [600, 40], rooms [600], walks [600].

    A walk begins in any room; the next scan is in the same room with probability .95, else in any of the others. A
    room's shares of the 40 access points are from a Dirichlet distribution of parameter .2, a scan is one signal and
    Poisson(11) others, each from an access point by the room's shares.
    """
    shares = rng.dirichlet(np.full(_POINTS, 0.2), _ROOMS)
    room = np.zeros((_WALKS, _SCANS), np.int64)
    room[:, 0] = rng.integers(_ROOMS, size=_WALKS)
    for scan in range(1, _SCANS):
        moves = rng.random(_WALKS) > _STAY
        room[:, scan] = (room[:, scan - 1] + moves * rng.integers(1, _ROOMS, size=_WALKS)) % _ROOMS
    labels = room.ravel()
    counts = rng.multinomial(1 + rng.poisson(_SIGNALS - 1, len(labels)), shares[labels])
    return counts.astype(np.float64), labels, np.repeat(np.arange(_WALKS), _SCANS)
