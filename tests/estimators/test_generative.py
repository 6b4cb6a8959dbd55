"""SCDC and BayesSCDC as estimators, beside what all methods have in common."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from sklearn.metrics import adjusted_rand_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import tasks, two_coin
from semicrowd.errors import UserError
from semicrowd.estimators import ESTIMATORS
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.fitting.monitor import Monitor
from semicrowd.methods.generative import SCDC
from semicrowd.run.composition import Given, composed
from semicrowd.run.estimator import fitted
from semicrowd.run.inputs import facts_of, load_inputs
from semicrowd.run.settings import resolved, sources
from semicrowd.settings.fields import described, plain
from semicrowd.settings.model import SCDCSettings
from semicrowd.settings.parameters import Recipe

Problem = tuple[np.ndarray, PairAnnotations]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bayes", "scdc"])
def test_the_units_of_columns_change_no_cluster(name: str) -> None:
    """Five clean clusters and answers right nine times in ten, features in other units, moved, in another order."""
    rng = np.random.default_rng(0)
    labels = np.arange(150) % 5
    features = 4 * rng.normal(size=(5, 6))[labels] + rng.normal(size=(150, 6))
    answers = two_coin(
        labels, rng, num_annotators=5, pairs_per_annotator=100, num_annotated=60, sensitivity=0.9, specificity=0.9
    )
    settings = {"start.epochs": 10, "start.networks": 3, "start.teach_epochs": 20}

    def clusters(table: np.ndarray) -> np.ndarray:
        return ESTIMATORS[name](n_clusters=8, epochs=3, settings=settings).fit(table, answers).labels_

    plain = clusters(features)
    assert adjusted_rand_score(labels, plain) > 0.9
    units = 10.0 ** np.arange(-3, 3)
    extra = np.full((150, 1), 7.0)
    for other in (1000 * features, features * units + 1000, features[:, ::-1], np.concatenate([features, extra], 1)):
        assert adjusted_rand_score(plain, clusters(other)) > 0.98
    column = 1e6 * rng.normal(size=(150, 1))  # one more, that tells nothing, in a unit of its own
    assert adjusted_rand_score(plain, clusters(np.concatenate([features, column], 1))) > 0.98


@pytest.mark.parametrize("name", ["bayes", "scdc"])
def test_answers_about_new_items(quick: Callable[..., CrowdClusterer], problem: Problem, name: str) -> None:
    features, pairs = problem
    model = quick(name).fit(features, pairs)
    np.testing.assert_array_equal(model.predict(features, pairs), model.labels_)
    strangers = [[0, 1, 7, 1]]
    with pytest.raises(UserError, match="annotator 7 is not among the 5 of the fit"):
        model.predict(features, np.array(strangers))


@pytest.mark.parametrize("name", ["scdc", "bayes"])
def test_pairs_about_new_items_of_a_fit_on_tasks(quick: Callable[..., CrowdClusterer], name: str) -> None:
    """Ten right answers take an item that lies halfway to the cluster of its partners."""
    rng = np.random.default_rng(0)
    labels = np.arange(90) % 3
    centres = 6 * np.eye(3)
    groups = tasks(labels, rng, num_annotators=3, num_tasks=20, task_size=10, num_annotated=60, sensitivity=0.95,
                   specificity=0.95)  # fmt: skip
    model = quick(name).fit(centres[labels] + rng.normal(size=(90, 3)), groups)
    new = np.concatenate([centres.repeat(5, 0), [(centres[0] + centres[1]) / 2] * 2])
    pairs = [[15, one, worker, 1] for one in range(5) for worker in range(2)]
    pairs += [[16, one, worker, 1] for one in range(5, 10) for worker in range(2)]
    alone, told = model.predict(new), model.predict(new, np.array(pairs))
    assert (told[15], told[16]) == (alone[0], alone[5])


def test_what_a_fit_asks_of_views_its_prediction_asks_too(quick: Callable[..., CrowdClusterer]) -> None:
    i = np.arange(0, 20, 2)
    pairs = PairAnnotations.from_arrays(i, i + 1, 0 * i, i // 2 % 2, num_items=60)
    images = np.random.default_rng(4).random((60, 36)).astype(np.float32)
    settings = {"start.epochs": 5, "start.teach_epochs": 5, "start.kind": "cells", "model.hidden": (8,),
                "model.preparation": "none", "views.kind": "affine", "nets.kind": "mlp"}  # fmt: skip
    model = quick("scdc", image_shape=(6, 6), settings=settings).fit(images, pairs)
    known = model.result_.final.memberships_or_clusters[pairs.annotated]
    np.testing.assert_allclose(model.predict_proba(images, pairs)[pairs.annotated], known, atol=1e-6)
    unasked = model.model_.annotated_posterior(torch.from_numpy(images), pairs).probabilities[model.result_.best]
    assert np.abs(unasked.numpy() - known).max() > 1e-3


def test_clusters_generate_items_as_they_came(quick: Callable[..., CrowdClusterer], problem: Problem) -> None:
    features, pairs = problem
    scale = np.array([1000.0, 1.0, 0.001])
    model = quick("scdc", epochs=20).fit(features * scale + 5, pairs)
    drawn = model.generate(4)
    assert drawn.shape == (3, 4, 3)
    low, high = (features * scale + 5).min(0), (features * scale + 5).max(0)
    assert ((drawn > low - (high - low)) & (drawn < high + (high - low))).all()
    assert model.cluster_weights_.sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("name", ["bayes", "scdc"])
def test_the_paper_s_protocol_from_python_is_that_of_the_command_line(name: str) -> None:
    """Every setting of the fit, on the pinwheel, of which the paper says more than of other tables."""
    overrides = ["data=pinwheel", f"model={name}", "annotations=none", "protocol=paper", "epochs=1", "seed=0"]
    given = composed(overrides)
    data, answers = load_inputs(sources(given).content)
    facts = facts_of(data, answers)
    settings = resolved(given, facts)
    content = settings.content
    model = ESTIMATORS[name](protocol="paper", data="pinwheel", epochs=1, image_shape=data.image_shape)
    recipe = model.fit(data.features).recipe_
    for group in ("model", "start", "views", "nets"):
        found = getattr(recipe, group)
        for one in described(type(found)):
            assert plain(getattr(found, one.name)) == content[group][one.name], one.name
    assert (recipe.training.batch_size, recipe.training.restarts) == (content["batch_size"], content["restarts"])
    assert recipe.training.batch_size == 50
    # The estimator of the run takes what the command line has resolved as it is, and finds the same.
    of_the_run = fitted(settings, data, answers, Monitor())
    assert of_the_run.recipe_ is settings.fit
    again = resolved(Given.read(content), facts)
    assert (again.fit, again.content) == (settings.fit, content)
    assert of_the_run.recipe_ == recipe
    assert np.array_equal(of_the_run.labels_, model.labels_)


def test_a_model_is_fitted_in_a_thread_too(problem: Problem) -> None:
    """Only the main thread may set signals."""
    features, *_ = problem
    with ThreadPoolExecutor(1) as pool:
        fitted = pool.submit(SCDC(n_clusters=3, epochs=1, settings={"start.kind": "cold"}).fit, features).result()
    assert len(fitted.labels_) == len(features)


def test_a_recipe_is_all_settings_of_one_model(problem: Problem) -> None:
    recipe = Recipe(SCDCSettings(K=3))
    with pytest.raises(UserError, match="settings: a Recipe contains all settings; expected it without n_clusters"):
        ESTIMATORS["scdc"](n_clusters=4, settings=recipe).fit(*problem)
    with pytest.raises(UserError, match="settings: a Recipe of SCDCSettings; expected BayesSettings"):
        ESTIMATORS["bayes"](settings=recipe).fit(*problem)
