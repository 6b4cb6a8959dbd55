"""Every method as a scikit-learn estimator: ``fit(X, pairs)``, ``labels_``, ``predict``, ``save``, ``load``."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from semicrowd.estimators.names import NAMES, estimator_class
from semicrowd.settings.methods import METHODS

if TYPE_CHECKING:
    from semicrowd.estimators.base import CrowdClusterer


class _Estimators(Mapping[str, "type[CrowdClusterer]"]):
    """The classes by name."""

    def __getitem__(self, name: str) -> "type[CrowdClusterer]":
        found: type[CrowdClusterer] = estimator_class(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(METHODS)

    def __len__(self) -> int:
        return len(METHODS)


#: Every method under the name that the command line and reports use.
ESTIMATORS: Mapping[str, "type[CrowdClusterer]"] = _Estimators()

__all__ = ["ESTIMATORS", "NAMES"]
