"""Fixtures for tests of all methods."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import quota
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.methods import METHODS, method

Problem = tuple[np.ndarray, PairAnnotations]
#: Short fits of the slow ones.
_GENERATIVE = {
    "init": "mixture", "init_epochs": 5, "teach_epochs": 5, "hidden": (8,), "epochs": 2,
    "batch_size": 10,
}  # fmt: skip
_SAMPLED = {"n_chains": 2, "n_sweeps": 12, "n_kept": 2}
_QUICK: dict[str, dict[str, Any]] = {
    **{name: {"n_restarts": 2, "n_steps": 60} for name in ("mcvc", "deep_mcvc")},
    "slpd": {"n_restarts": 2},
    **{name: _GENERATIVE for name in ("bayes", "scdc")},
    **{name: _SAMPLED for name in ("dpm", "ddpm_s", "ddpm_l", "mmgm", "ihmm", "dih_s", "dih_l")},
    "deep_dpm": {"n_warm": 1, "n_epochs": 3, "n_steps": 2, "n_start": 5},
}


@pytest.fixture(scope="session")
def problem() -> Problem:
    """Three classes of 20 items, half of the items annotated."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 20)
    features = np.eye(3)[labels] * 3 + rng.normal(size=(60, 3))
    return features, quota(labels, rng, pairs_per_annotator=80, num_annotated=30)


@pytest.fixture(scope="session")
def quick() -> Callable[..., CrowdClusterer]:
    """``quick(name, …)``: an estimator of three clusters, or of as many as it finds, whose fit is short."""

    def make(name: str, **options: object) -> CrowdClusterer:
        counted = {"n_clusters": 3} if "n_clusters" in method(name)().get_params() else {}
        return method(name)(**{**counted, "random_state": 1, **_QUICK.get(name, {}), **options})

    return make


@pytest.fixture(scope="session", params=sorted(METHODS))
def name(request: pytest.FixtureRequest) -> str:
    """Of every method. The tests of one stand together: a worker fits it once."""
    return str(request.param)


@pytest.fixture
def estimator(name: str, quick: Callable[..., CrowdClusterer]) -> CrowdClusterer:
    """Every method, not fitted."""
    return quick(name)


@pytest.fixture(scope="session")
def fit_once(quick: Callable[..., CrowdClusterer], problem: Problem) -> Callable[[str], CrowdClusterer]:
    """``fit_once(name)``: the same fit of the problem for all tests, which leave it as it is."""
    return cache(lambda name: quick(name).fit(*problem))


@pytest.fixture
def fitted(name: str, fit_once: Callable[[str], CrowdClusterer]) -> CrowdClusterer:
    """Every method, fitted."""
    return fit_once(name)
