"""Fixtures for tests of all methods."""

from collections.abc import Callable

import numpy as np
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import quota
from semicrowd.estimators import ESTIMATORS
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.settings.baselines import BASELINE_PARAMETERS

#: Short fits of the slow ones.
_QUICK = {"mcvc": {"n_restarts": 2, "n_steps": 60}, "deep_mcvc": {"n_restarts": 2, "n_steps": 60}}


@pytest.fixture(scope="session")
def problem() -> tuple[np.ndarray, PairAnnotations]:
    """Three classes of 20 items, half of the items annotated."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 20)
    features = np.eye(3)[labels] * 3 + rng.normal(size=(60, 3))
    return features, quota(labels, rng, pairs_per_annotator=80, num_annotated=30)


@pytest.fixture(scope="session")
def quick() -> Callable[..., CrowdClusterer]:
    """``quick(name, …)``: an estimator of three clusters whose fit is short."""

    def make(name: str, **options: object) -> CrowdClusterer:
        return ESTIMATORS[name](**{"n_clusters": 3, "random_state": 1, **_QUICK.get(name, {}), **options})

    return make


@pytest.fixture(params=sorted(BASELINE_PARAMETERS))
def estimator(request: pytest.FixtureRequest, quick: Callable[..., CrowdClusterer]) -> CrowdClusterer:
    """Every method but the generative models, not fitted."""
    return quick(request.param)
