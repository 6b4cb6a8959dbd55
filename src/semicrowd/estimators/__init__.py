"""Every method as a scikit-learn estimator: ``fit(X, pairs)``, ``labels_``, ``predict``, ``save``, ``load``."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semicrowd.estimators.base import CrowdClusterer

#: Name on the command line and in reports → module and class; loaded when asked for, since torch takes seconds.
_PLACES = {
    "bayes": ("generative", "BayesSCDC"),
    "scdc": ("generative", "SCDC"),
    "mcvc": ("mcvc", "MCVC"),
    "deep_mcvc": ("mcvc", "DeepMCVC"),
    "semicrowd": ("semicrowd_matrix_completion", "SemiCrowd"),
    "itml": ("itml", "ITML"),
    "mpckmeans": ("mpckmeans", "MPCKMeans"),
    "cspa": ("cspa", "CSPA"),
    "kmeans": ("unsupervised", "KMeansOnly"),
    "gmm": ("unsupervised", "MixtureOnly"),
    "constrained_kmeans": ("constrained_kmeans", "ConstrainedKMeans"),
    "crowd_only": ("crowd_only", "SignedSpectral"),
    "crowd_logistic": ("crowd_only", "CrowdLogistic"),
}


class _Estimators(Mapping[str, "type[CrowdClusterer]"]):
    """The classes by name."""

    def __getitem__(self, name: str) -> "type[CrowdClusterer]":
        module, kind = _PLACES[name]
        found: type[CrowdClusterer] = getattr(import_module(f"{__name__}.{module}"), kind)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


#: Every method under the name that the command line and reports use.
ESTIMATORS: Mapping[str, "type[CrowdClusterer]"] = _Estimators()
#: The same names by those of the classes: ``BayesSCDC`` → ``bayes``.
NAMES = {kind: name for name, (_, kind) in _PLACES.items()}

__all__ = ["ESTIMATORS", "NAMES"]
