"""Clustering from features or raw pixels plus a few noisy crowd answers.

``from semicrowd import BayesSCDC, MCVC, load, PairAnnotations``: every method is a scikit-learn estimator.
"""

import os
from importlib import import_module
from typing import Any

# Before torch is loaded: where other processes run, the threads of OpenMP would otherwise spin at every barrier, and a
# step that takes microseconds takes milliseconds (docs/BENCHMARKS.md).
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

_ESTIMATORS = (
    "CKM", "CSPA", "DDPML", "DDPMS", "DIHL", "DIHS", "DPM", "HMM", "IHMM", "ITML", "MCVC", "SCDC", "SLPD", "UKM",
    "AffinityPropagation", "BayesSCDC", "CoTraining", "ConstrainedKMeans", "CrowdLogistic", "DPMeans", "DeepDPM",
    "DeepMCVC", "GMeans", "KMeansOnly", "MPCKMeans", "MaxMarginMixture", "MixtureOnly", "SemiCrowd", "SignedSpectral",
    "VariationalMixture",
)  # fmt: skip
_PLACES = {"PairAnnotations": "crowd.annotations", "UserError": "errors", "load": "estimators.persistence"}

__all__ = ["PairAnnotations", "UserError", "load", *_ESTIMATORS]


def __getattr__(name: str) -> Any:
    """A name of ``__all__``, imported when it is first asked for: torch takes seconds."""
    if name in _ESTIMATORS:
        found = import_module("semicrowd.estimators")
        value = found.ESTIMATORS[found.NAMES[name]]
    elif name in _PLACES:
        value = getattr(import_module(f"semicrowd.{_PLACES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
