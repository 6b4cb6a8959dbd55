"""Settings of sequences of counts."""

from dataclasses import dataclass

from semicrowd.settings.data import DataSettings
from semicrowd.settings.fields import choice, setting, whole

#: Name → description.
SEQUENCES = {
    "wifi_1": "2,737 scans of user 1 on 4 floors of buildings, 141 access points received or not (UCI 310)",
    "wifi_11": "4,516 scans of user 11 on 8 floors, 357 access points received or not (UCI 310)",
    "wifi_14": "1,596 scans of user 14 on 4 floors, 184 access points received or not (UCI 310)",
    "home_a": "home A in intervals of five minutes, 12 sensors, 9 activities and none (UCI 271)",
    "home_b": "home B in intervals of five minutes, 12 sensors, 10 activities and none (UCI 271)",
    "walk": "600 generated scans of 3 walks through 6 rooms, 40 access points",
}


@dataclass(frozen=True)
class SequenceSettings(DataSettings):
    """Sequences of counts in temporal order, data.which=<wifi_1, wifi_11, wifi_14, home_a, home_b, walk>."""

    which: str = setting("walk", " | ".join(SEQUENCES), choice(*SEQUENCES))
    data_seed: int = setting(0, "seed of generated data, separate from the run's seed", whole(0))
