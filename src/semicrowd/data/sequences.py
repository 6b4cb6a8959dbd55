"""Sequences of counts: WiFi scans of a person, sensors of two homes, generated walks.

The homes: Ordóñez, de Toledo & Sanchis 2013, UCI 271.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import StrOptions, validate_params

from semicrowd.data.dataset import SEED, Dataset
from semicrowd.data.fetch import PUBLIC, data_root, fetch
from semicrowd.data.formats import SILENCE, read_wifi
from semicrowd.data.generated import draw_walk, hash_of
from semicrowd.random import stream

#: Name → description.
SEQUENCES = {
    "wifi_1": "2,737 scans of user 1 on 4 floors of buildings, 141 access points received or not (UCI 310)",
    "wifi_11": "4,516 scans of user 11 on 8 floors, 357 access points received or not (UCI 310)",
    "wifi_14": "1,596 scans of user 14 on 4 floors, 184 access points received or not (UCI 310)",
    "home_a": "home A in intervals of five minutes, 12 sensors, 9 activities and none (UCI 271)",
    "home_b": "home B in intervals of five minutes, 12 sensors, 10 activities and none (UCI 271)",
    "walk": "600 generated scans of 3 walks through 6 rooms, 40 access points",
}
#: Length of a slice of time, in minutes; activities last from minutes to hours.
MINUTES = 5
_NOTHING = "none"
#: Begin, end, and the rest of the line; any number of tabs and spaces between them.
_ROW = re.compile(r"\s*(\d{4}-\d\d-\d\d \d\d?:\d\d:\d\d)\s+(\d{4}-\d\d-\d\d \d\d?:\d\d:\d\d)\s+(\S.*\S)\s*")


def read_home(sensors: Path, activities: Path) -> tuple[np.ndarray, np.ndarray]:
    """A row for every five minutes: the number of minutes in which each sensor was on, and the activity.

    The rows are in the order of time, from the first event of a sensor to the last. The activity is the one with most
    of the five minutes, or ``none`` if most minutes have no activity. A sensor is identified by its location, type and
    place, and sensors are sorted by these words.

    Returns
    -------
    tuple
        Counts [N, sensors], 0 … 5, and names of activities [N].
    """
    on, doing = _events(sensors), _events(activities)
    first = on["begin"].min().floor(f"{MINUTES}min")
    slices = int((on["end"].max() - first) / pd.Timedelta(minutes=MINUTES)) + 1
    features = np.stack([_minutes(some, first, slices).sum(1) for _, some in on.groupby("what")], axis=1)
    # If two activities overlap, the one that began later counts.
    names, noted = np.unique(doing["what"], return_inverse=True)
    at = np.full(slices * MINUTES, len(names))
    for number, (begin, end) in zip(noted, _span(doing, first), strict=True):
        at[max(begin, 0) : max(end, 0)] = number
    minutes = np.stack([(at.reshape(slices, MINUTES) == n).sum(1) for n in range(len(names) + 1)], axis=1)
    return features.astype(np.float64), np.array([*names, _NOTHING])[minutes.argmax(1)]


def _events(path: Path) -> pd.DataFrame:
    """Columns begin, end and what, sorted by begin; events that end before they begin are left out."""
    rows = [match.groups() for line in path.read_text(encoding="utf-8").splitlines() if (match := _ROW.fullmatch(line))]
    frame = pd.DataFrame(rows, columns=["begin", "end", "what"])
    frame = frame.assign(
        begin=pd.to_datetime(frame["begin"]), end=pd.to_datetime(frame["end"]),
        what=frame["what"].str.split().str.join(" "),
    )  # fmt: skip
    return frame[frame["end"] >= frame["begin"]].sort_values("begin", kind="stable")


def _span(events: pd.DataFrame, first: pd.Timestamp) -> np.ndarray:
    """First minute of each event, and its last minute plus 1, [events, 2], counted from ``first``."""
    seconds = ((events[["begin", "end"]] - first) / pd.Timedelta(seconds=1)).to_numpy()
    return np.stack([seconds[:, 0] // 60, seconds[:, 1] // 60 + 1], axis=1).astype(np.int64)


def _minutes(events: pd.DataFrame, first: pd.Timestamp, slices: int) -> np.ndarray:
    """Whether one of the events is going on in each minute, [slices, 5]."""
    on = np.zeros(slices * MINUTES, bool)
    for begin, end in _span(events, first):
        on[begin:end] = True
    return on.reshape(slices, MINUTES)


@validate_params({"which": [StrOptions(set(SEQUENCES))], "data_seed": SEED}, prefer_skip_nested_validation=False)
def load_sequence(*, which: str = "walk", data_seed: int = 0, root: Path | None = None) -> Dataset:
    """Load one of :data:`SEQUENCES`; missing files are fetched into ``root``.

    The features of a WiFi scan are 1 for each access point that was received, else 0; signal strengths are not used.
    All scans of a person are one sequence, and so are all slices of a home.

    Parameters
    ----------
    which : name in :data:`SEQUENCES`
    data_seed : of the walk, apart from the run's seed
    root : data root, None: that of the environment

    Returns
    -------
    Dataset
        ``features`` [N, D] counts, ``sequence`` [N].
    """
    name, _, part = which.partition("_")
    if name == "walk":
        counts, labels, sequence = draw_walk(stream(data_seed, "data"))
        hashes = {"walk (generated)": hash_of(counts, labels)}
    else:
        public = {"wifi": "wifi", "home": "homes"}[name]
        paths, used = fetch(public, root or data_root()), dict(PUBLIC[public].files)
        if name == "wifi":
            signals, names = read_wifi(next(iter(paths.values())), int(part))
            counts = (signals > SILENCE).astype(np.float64)
        else:
            used = {file: digest for file, digest in used.items() if file.startswith(f"Ordonez{part.upper()}_")}
            sensors, activities = (paths[file] for file in used)
            counts, names = read_home(sensors, activities)
        labels, sequence = np.unique(names, return_inverse=True)[1], np.zeros(len(counts), np.int64)
        hashes = used
    return Dataset(
        which, counts.astype(np.float32), labels.astype(np.int64), hashes=hashes,
        num_classes=int(labels.max()) + 1, sequence=sequence,
    )  # fmt: skip
