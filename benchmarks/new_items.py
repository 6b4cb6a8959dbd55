"""Items a second that every method assigns to clusters by their features alone, after a small fit."""

import math
import time
from typing import Any

from sklearn.datasets import make_blobs

from semicrowd.crowd import simulate
from semicrowd.methods import METHODS, method
from semicrowd.random import stream
from table import at_least, print_table

_CLUSTERS, _FEATURES, _LEAST = 5, 20, 50_000
#: What makes fits short; predicting takes as long as after a default fit, or longer: a model that has learned little
#: needs more sweeps.
_SHORT: dict[str, dict[str, Any]] = {
    **{name: {"n_clusters": None, "epochs": 3, "init": "cells"} for name in ("bayes", "scdc")},
    "slpd": {"n_restarts": 2},
    "deep_dpm": {"n_epochs": 5},
}
#: The same for all methods that have these parameters.
_OF_ALL = {"n_clusters": _CLUSTERS, "n_sweeps": 20, "n_chains": 1, "random_state": 0}


def predict(quick: bool = False) -> None:
    """Seconds that this process computes, the least of three turns; the first, which may compile, does not count."""
    training, new = (200, 500) if quick else (2_000, 100_000)
    items, labels = make_blobs(training + new, _FEATURES, centers=_CLUSTERS, cluster_std=4.0, random_state=0)
    pairs = simulate.quota(
        labels[:training], stream(0, "annotations"), sensitivity=0.9, specificity=[0.9] * 5, pairs_per_annotator=200
    )
    rows = []
    for name in METHODS:
        kind = method(name)
        if not hasattr(kind, "predict"):
            continue
        asked = {key: value for key, value in _OF_ALL.items() if key in kind().get_params()}
        model = kind(**asked | _SHORT.get(name, {})).fit(items[:training], pairs)
        model.predict(items[training : training + 200])
        fastest = math.inf
        for _ in range(1 if quick else 3):
            start = time.process_time()
            model.predict(items[training:])
            fastest = min(fastest, time.process_time() - start)
        rows.append((name, f"{new / fastest:,.0f}", at_least(new / fastest, _LEAST)))
    print_table((f"predict, {new:,} items of {_FEATURES} features", "items a second", "bar"), rows)
