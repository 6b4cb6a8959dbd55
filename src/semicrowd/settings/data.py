"""Base classes of the settings of data sets."""

from collections.abc import Mapping
from typing import ClassVar

from semicrowd.settings.fields import Settings


class DataSettings(Settings):
    """Base class of the settings of a data set."""

    group = "data"


class OwnDataSettings(DataSettings):
    """Base class of the settings of the user's own data, for which ``model=cotrain`` is the default."""

    chooses: ClassVar[Mapping[str, str]] = {"model": "cotrain"}
