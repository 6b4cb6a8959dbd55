"""scikit-learn's surface of all methods: ``fit(X, pairs)``, ``labels_``, ``predict``, ``save``, ``load``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from semicrowd.settings.methods import METHODS, NAMES, Later

if TYPE_CHECKING:
    from semicrowd.estimators.base import CrowdClusterer

#: Every method under the name that the command line and reports use.
ESTIMATORS: Mapping[str, "type[CrowdClusterer]"] = Later(METHODS, lambda name: METHODS[name].estimator)

__all__ = ["ESTIMATORS", "NAMES"]
