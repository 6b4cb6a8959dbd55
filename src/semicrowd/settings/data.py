"""What settings of data sets share."""

from collections.abc import Mapping
from typing import ClassVar

from semicrowd.settings.fields import Settings


class DataSettings(Settings):
    """Of a data set."""

    group = "data"


class OwnDataSettings(DataSettings):
    """Of data that a user brings: co-training clusters them, unless another model is named."""

    chooses: ClassVar[Mapping[str, str]] = {"model": "cotrain"}
