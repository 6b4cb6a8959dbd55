"""Weights of items: an item of weight 2 counts as two items with its features, in every part of a fit that has them."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import softmax
from sklearn.datasets import make_blobs

from semicrowd import SCDC, CoTraining
from semicrowd.crowd import simulate
from semicrowd.errors import UserError
from semicrowd.estimators.continued import checked_weights
from semicrowd.fitting.batches import TrainingBatches
from semicrowd.inference.mixture import mixture_prior, partition_posterior
from semicrowd.models.state import model_class
from semicrowd.models.training_data import TrainingData
from semicrowd.settings.model import BayesSettings, NetSettings, SCDCSettings
from semicrowd.starts.gaussians import Gaussians
from semicrowd.starts.item_classifiers import LogisticClassifier
from semicrowd.starts.of_features import clusters_of_features
from semicrowd.starts.two_way import TwoWays

X, KIND = make_blobs(60, 3, centers=3, cluster_std=2.0, random_state=0)
COUNTS = np.random.default_rng(0).integers(0, 4, 60)
#: Each item as often as it counts.
ROWS = np.repeat(np.arange(60), COUNTS)
WEIGHTS = COUNTS.astype(float)
SMALL: dict[str, Any] = {"K": 3, "latent_dim": 2, "hidden": (5,)}
QUICK = {"start.kind": "cells", "start.epochs": 2, "start.teach_epochs": 5}
SETTINGS = {"bayes": BayesSettings(**SMALL), "scdc": SCDCSettings(**SMALL)}


def _memberships(number: int = 3) -> np.ndarray:
    found: np.ndarray = softmax(np.random.default_rng(1).normal(size=(60, number)), axis=1)
    return found


@pytest.mark.parametrize("shared", [True, False], ids=["one covariance", "a covariance each"])
def test_a_mixture_of_gaussians_is_that_of_repeated_items(shared: bool) -> None:
    z = _memberships()
    weighted = Gaussians(X, np.ones(3), shared=shared, weights=WEIGHTS).mode(z)
    repeated = Gaussians(X[ROWS], np.ones(3), shared=shared).mode(z[ROWS])
    np.testing.assert_allclose(weighted.log_density(X), repeated.log_density(X), rtol=1e-9)


def test_a_mixture_in_two_ways_is_that_of_repeated_items() -> None:
    joint = _memberships(6).reshape(60, 3, 2)
    known = np.log(_memberships())
    weighted = TwoWays(X, np.ones(3), WEIGHTS).mode(joint, known)
    repeated = TwoWays(X[ROWS], np.ones(3)).mode(joint[ROWS], known[ROWS])
    np.testing.assert_allclose(weighted.log_density(X), repeated.log_density(X), rtol=1e-9)
    assert weighted.bound == pytest.approx(repeated.bound, rel=1e-9)


def test_logistic_regression_is_that_of_repeated_items() -> None:
    known = np.eye(3)[KIND]
    weighted = LogisticClassifier(X, WEIGHTS)(np.arange(60), known)
    repeated = LogisticClassifier(np.concatenate([X, X[ROWS]])).learn(60 + np.arange(len(ROWS)), known[ROWS])
    np.testing.assert_allclose(weighted, repeated(np.arange(60)), atol=1e-3)


def test_items_without_weight_have_no_influence_on_clusters_of_the_features() -> None:
    near, _ = make_blobs(120, 3, centers=3, cluster_std=0.4, random_state=1)
    far = np.full((4, 3), 40.0) + np.random.default_rng(0).normal(size=(4, 3))
    both, weights = np.concatenate([near, far]), np.repeat([1.0, 0.0], [120, 4])
    clusters, _ = clusters_of_features(both, 8, np.random.default_rng(0), weights)
    alone, _ = clusters_of_features(near, 8, np.random.default_rng(0))
    assert len(np.unique(clusters)) == len(np.unique(alone)) == 3
    assert len(np.unique(clusters_of_features(both, 8, np.random.default_rng(0))[0])) != 3, "with weight 1 they have"


def test_the_posterior_of_a_partition_is_that_of_repeated_items() -> None:
    t_x, clusters = torch.randn(1, 60, 6, dtype=torch.float64), torch.from_numpy(KIND)[None]
    prior, rows = mixture_prior("paper", 3, 2), torch.from_numpy(ROWS)
    weighted = partition_posterior(prior, t_x, clusters, torch.from_numpy(WEIGHTS))
    repeated = partition_posterior(prior, t_x[:, rows], clusters[:, rows])
    for one, other in zip(weighted, repeated, strict=True):
        torch.testing.assert_close(one, other)


def _model_and_data(name: str) -> tuple[Any, TrainingData, TrainingData]:
    """A model, the weighted items, and each item as often as it counts."""
    model: Any = model_class(name)(SETTINGS[name], NetSettings(), 3, restarts=2)
    features = torch.from_numpy(X.astype(np.float32))
    return model, TrainingData(features, weights=torch.from_numpy(WEIGHTS).float()), TrainingData(features[ROWS])


@pytest.mark.parametrize("name", SETTINGS)
def test_the_bound_is_that_of_repeated_items(name: str) -> None:
    """The divergences; the reconstruction, of random draws, is linear in the weights."""
    model, weighted, repeated = _model_and_data(name)
    one, other = model.elbo(weighted), model.elbo(repeated)
    for term in ("kl_z", "kl_x"):
        torch.testing.assert_close(one[term], other[term], rtol=1e-5, atol=1e-4)
    double = TrainingData(weighted.features, weights=2 * weighted.item_weights)
    torch.testing.assert_close(model.elbo(double)["reconstruction"], 2 * one["reconstruction"])
    rest = TrainingData(weighted.features, weights=1 - weighted.item_weights)
    both = one["reconstruction"] + model.elbo(rest)["reconstruction"]
    torch.testing.assert_close(both, model.elbo(TrainingData(weighted.features))["reconstruction"])


def test_the_steps_of_an_epoch_have_the_weights_of_their_items() -> None:
    annotated = simulate.two_coin(KIND, np.random.default_rng(0), num_annotators=2, pairs_per_annotator=10)
    for answers in (None, annotated):
        weighted, plain = (
            TrainingBatches(TrainingData(torch.zeros(60, 3), answers, batch_size=8, weights=weights), SETTINGS["scdc"],
                            lambda: 0)
            for weights in (torch.from_numpy(WEIGHTS).float(), None)
        )  # fmt: skip
        for one, other in zip(weighted, plain, strict=True):
            torch.testing.assert_close(one.weight, other.weight * torch.from_numpy(WEIGHTS).float()[one.items])


@pytest.mark.usefixtures("quick_cotraining")
@pytest.mark.parametrize(
    "model",
    [CoTraining(random_state=0), SCDC(n_clusters=3, epochs=1, random_state=0, settings=QUICK)], ids=["cotrain", "scdc"],
)  # fmt: skip
def test_only_ratios_of_weights_count_and_a_series_names_the_items(model: Any) -> None:
    answers = simulate.two_coin(KIND, np.random.default_rng(0), num_annotators=2, pairs_per_annotator=40,
                                num_annotated=25)  # fmt: skip
    frame = pd.DataFrame(X, index=[f"item {number}" for number in range(60)])
    weights = pd.Series(1 + WEIGHTS, frame.index)
    by_name = model.fit(frame, pairs=answers, sample_weight=weights[::-1]).predict_proba(frame)
    by_place = model.fit(frame, pairs=answers, sample_weight=1e200 * (1 + WEIGHTS)).predict_proba(frame)
    np.testing.assert_allclose(by_name, by_place, atol=1e-4)
    plain = model.fit(frame).labels_
    assert (model.fit(frame, sample_weight=np.full(60, 1e300)).labels_ == plain).all()
    assert model._weights is None, "they are forgotten after the fit"


def test_weights_that_are_refused_leave_no_earlier_clusters_behind() -> None:
    model = CoTraining(random_state=0)
    with pytest.raises(UserError, match="sample_weight"):
        model.fit(X, previous=KIND, sample_weight=[1.0])
    assert model._previous is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1.0, 2.0], "shape [2]; expected [3]"),
        ([1.0, -1.0, 2.0], "-1 of item b"),
        ([1.0, float("nan"), 2.0], "nan of item b"),
        ([0.0, 0.0, 0.0], "all weights are zero"),
        (["one", "two", "three"], "expected a number for each item"),
        (pd.Series([1.0, 2.0], ["a", "b"]), "nan of item c"),
        (pd.Series([1.0, 2.0, 3.0], ["x", "y", "z"]), "no name of its index is a row of X"),
    ],
)
def test_other_weights_are_refused(given: Any, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        checked_weights(given, 3, ["a", "b", "c"])
