"""What all baselines have in common."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from semicrowd.estimators import BASELINES
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import quota
from semicrowd.errors import UserError

#: Short fits of the slow ones.
QUICK = {"mcvc": {"n_restarts": 2, "n_steps": 60}, "deep_mcvc": {"n_restarts": 2, "n_steps": 60}}


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, PairAnnotations]:
    """Three classes of 20 items, half of the items annotated."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 20)
    features = np.eye(3)[labels] * 3 + rng.normal(size=(60, 3))
    return features, quota(labels, rng, pairs_per_annotator=80, num_annotated=30)


@pytest.fixture(params=sorted(BASELINES))
def estimator(request: pytest.FixtureRequest) -> BaseEstimator:
    return BASELINES[request.param](n_clusters=3, random_state=1, **QUICK.get(request.param, {}))


def test_settings_are_kept_as_given_and_shown(estimator: BaseEstimator) -> None:
    settings = estimator.get_params()
    assert settings["n_clusters"] == 3
    assert clone(estimator).get_params() == settings
    for name, parameter in inspect.signature(type(estimator).__init__).parameters.items():
        assert name == "self" or parameter.default is not inspect.Parameter.empty


def test_fit_labels_every_item_and_leaves_its_input_alone(
    estimator: BaseEstimator, problem: tuple[np.ndarray, PairAnnotations]
) -> None:
    features, pairs = problem
    before = features.copy()
    assert estimator.fit(features, pairs) is estimator
    assert np.array_equal(features, before)
    assert estimator.labels_.shape == (60,)
    assert estimator.labels_.dtype == np.int64
    assert set(np.unique(estimator.labels_)) <= {0, 1, 2}
    again = clone(estimator).fit(features.tolist(), pairs)
    assert np.array_equal(again.labels_, estimator.labels_)
    for quality in ("sensitivity_", "specificity_"):
        rates = getattr(estimator, quality, np.full(5, 0.5))
        assert rates.shape == (5,)
        assert np.all((rates > 0) & (rates < 1))


def test_prediction_takes_the_features_alone(
    estimator: BaseEstimator, problem: tuple[np.ndarray, PairAnnotations]
) -> None:
    if not hasattr(estimator, "predict"):
        assert type(estimator) is BASELINES["crowd_only"]
        return
    features, pairs = problem
    with pytest.raises(NotFittedError):
        estimator.predict(features)
    estimator.fit(features, pairs)
    together = estimator.predict(features)
    assert together.shape == (60,)
    # An item's cluster does not depend on the others that are asked for.
    assert np.array_equal(np.concatenate([estimator.predict(row[None]) for row in features]), together)
    with pytest.raises(UserError, match="2 features; expected 3, as in fit"):
        estimator.predict(features[:, :2])


def test_input_that_does_not_go_together_is_refused(
    estimator: BaseEstimator, problem: tuple[np.ndarray, PairAnnotations]
) -> None:
    features, pairs = problem
    broken = features.copy()
    broken[4, 1] = np.inf
    with pytest.raises(UserError, match="X, row 4, column 1: inf; expected a finite number"):
        estimator.fit(broken, pairs)
    with pytest.raises(UserError, match="answers about 60 items; expected 59, the rows of X"):
        estimator.fit(features[1:], pairs)
    with pytest.raises(UserError, match=r"expected a table of numbers \[items, features\], got <U"):
        estimator.fit(features.astype(str), pairs)
    with pytest.raises(UserError, match="n_clusters=61: expected 2 to 60, the number of items"):
        clone(estimator).set_params(n_clusters=61).fit(features, pairs)


@pytest.mark.parametrize(
    ("name", "setting", "message"),
    [
        ("constrained_kmeans", {"n_init": 0}, "n_init=0: expected a whole number >= 1"),
        ("mpckmeans", {"max_iter": 0}, "max_iter=0: expected a whole number >= 1"),
        ("mpckmeans", {"penalty": -1.0}, "penalty=-1.0: expected a number >= 0"),
        ("semicrowd", {"ridge": float("nan")}, "ridge=nan: expected a number >= 0"),
        ("itml", {"gamma": 0.0}, "gamma=0.0: expected a number > 0, or None"),
        ("itml", {"max_iter": 0}, "max_iter=0: expected a whole number >= 1"),
        ("deep_mcvc", {"n_restarts": 0}, "n_restarts=0: expected a whole number >= 1"),
        ("kmeans", {"n_init": 0}, "n_init=0: expected a whole number >= 1"),
        ("crowd_only", {"n_init": 0}, "n_init=0: expected a whole number >= 1"),
        ("crowd_logistic", {"n_reweightings": -1}, "n_reweightings=-1: expected a number >= 0"),
    ],
)
def test_settings_out_of_range_are_refused(
    name: str, setting: dict[str, float], message: str, problem: tuple[np.ndarray, PairAnnotations]
) -> None:
    with pytest.raises(UserError, match=message):
        BASELINES[name](3, **setting).fit(*problem)
