"""What all methods have in common."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import semicrowd
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.estimators import ESTIMATORS, NAMES
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.methods.semicrowd_matrix_completion import SemiCrowdParameters
from semicrowd.settings.fields import described
from semicrowd.settings.methods import METHODS

Problem = tuple[np.ndarray, PairAnnotations]
#: Methods that are told nothing but their parameters.
PARAMETERS = {name: method.settings for name, method in METHODS.items() if not method.trained}


def test_fit_labels_every_item_and_leaves_its_input_alone(fitted: CrowdClusterer, problem: Problem) -> None:
    features, pairs = problem
    assert fitted.labels_.shape == (60,)
    assert fitted.labels_.dtype == np.int64
    assert len(np.unique(fitted.labels_)) == fitted.n_clusters_
    if "n_clusters" in fitted.get_params():
        assert set(np.unique(fitted.labels_)) <= {0, 1, 2}
        assert fitted.n_clusters_ == 3
    again, given = clone(fitted), features.copy()
    assert again.fit(given, pairs) is again
    assert np.array_equal(given, features)
    assert np.array_equal(again.labels_, fitted.labels_)
    if fitted.takes_new_items:
        assert np.array_equal(fitted.predict(features), fitted.result_.features.cluster)


@pytest.mark.parametrize("plain", ["kmeans", "crowd_logistic", "dpm", "bayes"])
def test_a_list_of_rows_will_do(plain: str, fit_once: Callable[[str], CrowdClusterer], problem: Problem) -> None:
    fitted = fit_once(plain)
    assert np.array_equal(clone(fitted).fit_predict(problem[0].tolist(), problem[1]), fitted.labels_)


def test_annotators_in_a_table(quick: Callable[..., CrowdClusterer], problem: Problem) -> None:
    features, pairs = problem
    pairs = replace(pairs, worker_names=tuple("abcde"))
    model = quick("crowd_only").fit(features, pairs)
    assert model.workers_ is not None
    assert model.workers_["annotator"].tolist() == list("abcde")
    assert model.workers_["pairs"].tolist() == [80] * 5
    assert model.workers_["sensitivity"].to_numpy() == pytest.approx(model.sensitivity_)
    for side in ("sensitivity", "specificity"):
        low, mean, high = (model.workers_[f"{side}{end}"] for end in ("_low", "", "_high"))
        assert ((low > 0) & (low < mean) & (mean < high) & (high < 1)).all()
    alpha, beta, weight = model.workers_[["sensitivity", "specificity", "weight"]].to_numpy().T
    assert np.exp(weight) == pytest.approx(alpha / (1 - alpha) * beta / (1 - beta))
    assert quick("kmeans").fit(features, pairs).workers_ is None


def test_prediction_takes_the_features_alone(name: str, fitted: CrowdClusterer, problem: Problem) -> None:
    assert fitted.takes_new_items == (name not in {"crowd_only", "hmm", "ihmm", "dih_s", "dih_l"})
    if not fitted.takes_new_items:
        assert not hasattr(fitted, "predict")
        return
    features = problem[0]
    with pytest.raises(NotFittedError):
        clone(fitted).predict(features)
    together = fitted.predict(features)
    assert together.shape == (60,)
    # An item's cluster does not depend on the others that are asked for.
    assert np.array_equal(np.concatenate([fitted.predict(row[None]) for row in features[::4]]), together[::4])
    with pytest.raises(UserError, match=r"X has 2 features, but .* is expecting 3"):
        fitted.predict(features[:, :2])


@pytest.mark.filterwarnings("ignore:y. labels of items are not used")
def test_answers_are_needed_or_not(name: str, fitted: CrowdClusterer, problem: Problem) -> None:
    features = problem[0]
    labels = np.arange(60) % 3
    if fitted.requires_answers:
        for nothing in (None, labels, pd.Series(labels)):
            with pytest.raises(UserError, match="needs answers about the items"):
                clone(fitted).fit(features, nothing)
    elif name in ("bayes", "scdc", "cotrain", "ckm", "slpd", "deep_dpm"):  # they listen to answers; labels are none
        alone = clone(fitted).fit(features).labels_
        assert np.array_equal(clone(fitted).fit(features, labels).labels_, alone)
    else:
        assert np.array_equal(clone(fitted).fit(features, labels).labels_, fitted.result_.features.cluster)


@pytest.mark.parametrize("name", ["mcvc", "cspa", "constrained_kmeans", "gmm"])
def test_seeds(quick: Callable[..., CrowdClusterer], problem: Problem, name: str) -> None:
    one, other, same = (quick(name, random_state=seed).fit(*problem) for seed in (3, 4, np.int64(3)))
    assert one.seed_ == same.seed_ == 3
    assert other.seed_ == 4
    assert np.array_equal(one.labels_, same.labels_)
    drawn = [quick(name, random_state=np.random.RandomState(5)).fit(*problem) for _ in range(2)]
    assert drawn[0].seed_ == drawn[1].seed_
    assert np.array_equal(drawn[0].labels_, drawn[1].labels_)
    assert quick(name, random_state=None).fit(*problem).seed_ != quick(name, random_state=None).fit(*problem).seed_
    for wrong in (-1, 1.5, "a", 2**32, True):
        with pytest.raises(UserError, match=f"random_state={wrong}: expected a whole number from 0"):
            quick(name, random_state=wrong).fit(*problem)


@pytest.mark.parametrize("name", PARAMETERS)
def test_values_that_make_no_sense_are_refused_by_name(name: str, problem: Problem) -> None:
    for one in described(PARAMETERS[name]):
        with pytest.raises(UserError, match=re.escape(f"{one.name}=")):
            ESTIMATORS[name](**{one.name: "word"}).fit(*problem)


def test_parameters_that_do_not_go_together(quick: Callable[..., CrowdClusterer], problem: Problem) -> None:
    with pytest.raises(UserError, match=r"lower=0.7, upper=0.3: expected lower < upper"):
        quick("semicrowd", lower=0.7, upper=0.3).fit(*problem)
    with pytest.raises(UserError, match=r"model\.lower=0.5, model\.upper=0.5: expected lower < upper"):
        SemiCrowdParameters(lower=0.5, upper=0.5).check_parameters("model")
    with pytest.raises(UserError, match="n_clusters=61: expected at most n_samples=60, the number of items"):
        quick("cspa", n_clusters=61).fit(*problem)


def test_parameters_stand_in_the_signature_and_in_the_docstring(name: str, estimator: CrowdClusterer) -> None:
    known = described(type(estimator))
    assert known == described(PARAMETERS.get(name, type(estimator)))
    of_all = {"random_state", "verbose"} | ({"n_jobs"} if hasattr(estimator, "n_jobs") else set())
    assert set(estimator.get_params()) == {one.name for one in known} | of_all
    assert clone(estimator).get_params() == estimator.get_params()
    documented = " ".join((type(estimator).__doc__ or "").split())
    for name_of_one in of_all:
        assert f" {name_of_one} : " in documented
    for one in known:
        assert getattr(ESTIMATORS[name](), one.name) == one.default
        takes = (one.rule(object()) or "anything") + (" or None" if one.optional else "")
        assert f" {one.name} : {takes}, default={one.default!r} {one.help} " in documented
    with pytest.raises(TypeError):
        type(estimator)(3, 4)  # all but the number of clusters by name


@pytest.mark.filterwarnings("ignore:Number of distinct clusters", "ignore:Best performing initialization")
def test_items_that_are_all_alike_end_soon(name: str, estimator: CrowdClusterer, problem: Problem) -> None:
    same = np.ones((60, 3))
    if name == "mpckmeans":
        with pytest.raises(UserError, match="X: mean variance 0 of the features; expected items that differ"):
            estimator.fit(same, problem[1])
    else:
        assert estimator.fit(same, problem[1]).labels_.shape == (60,)


def test_the_package_names_every_method_and_loads_none() -> None:
    others = {"PairAnnotations", "UnreliableResultWarning", "UserError", "load", "match_labels", "read_answers",
              "write_report"}  # fmt: skip
    assert {*NAMES, *others} == set(semicrowd.__all__)
    assert set(PARAMETERS) == set(ESTIMATORS) - {"bayes", "scdc"}
    assert semicrowd.MCVC is ESTIMATORS["mcvc"]
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = semicrowd.Nothing
    code = (
        "import sys, semicrowd, semicrowd.settings.parameters, semicrowd.estimators, os;"
        "print([m for m in ('torch', 'sklearn', 'pandas', 'scipy') if m in sys.modules], os.environ['OMP_WAIT_POLICY'])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split("\n")[0] == "[] passive"
