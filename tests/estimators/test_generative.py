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
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.methods import method
from semicrowd.methods.scdc import SCDC

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
    quick = {"init_epochs": 10, "teach_epochs": 20, "epochs": 3}

    def clusters(table: np.ndarray) -> np.ndarray:
        return method(name)(n_clusters=8, **quick).fit(table, answers).labels_

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
    given = {"init_epochs": 5, "teach_epochs": 5, "init": "mixture", "hidden": (8,), "preparation": "none",
             "augmentation": "affine", "architecture": "mlp"}  # fmt: skip
    model = quick("scdc", image_shape=(6, 6), **given).fit(images, pairs)
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


def test_a_model_is_fitted_in_a_thread_too(problem: Problem) -> None:
    """Only the main thread may set signals."""
    features, *_ = problem
    with ThreadPoolExecutor(1) as pool:
        fitted = pool.submit(SCDC(n_clusters=3, epochs=1, init="cold").fit, features).result()
    assert len(fitted.labels_) == len(features)
