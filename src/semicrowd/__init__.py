"""Clustering from features or raw pixels plus a few noisy crowd answers.

``from semicrowd import BayesSCDC, MCVC, load, PairAnnotations``: every method is a scikit-learn estimator.
"""

import os
from importlib import import_module
from typing import Any

# Before torch is loaded: where other processes run, the threads of OpenMP would otherwise spin at every barrier, and a
# step that takes microseconds takes milliseconds (docs/results.md).
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

#: Looked up, not imported: those below choose what is in it.
_METHODS = import_module("semicrowd.methods")
_PLACES = {"PairAnnotations": "crowd.annotations", "UnreliableResultWarning": "errors",
           "UserError": "errors", "load": "estimators.persistence", "match_labels": "metrics.clustering",
           "read_answers": "estimators.inputs", "write_report": "page.build"}

__all__ = [*_PLACES, *_METHODS.NAMES]


def __getattr__(name: str) -> Any:
    """A name of ``__all__``, imported when it is first asked for: torch takes seconds."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with import_module("semicrowd.errors").naming_extras():
        if name in _METHODS.NAMES:
            value = _METHODS.method(_METHODS.NAMES[name])
        else:
            value = getattr(import_module(f"semicrowd.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
