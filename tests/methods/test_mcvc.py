"""MCVC and deep MCVC on cases with a known answer, and the scikit-learn surface."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import quota
from semicrowd.errors import UserError
from semicrowd.methods.mcvc import MCVC, DeepMCVC
from semicrowd.random import stream

QUALITY = [0.95, 0.9, 0.85, 0.8, 0.75]


def _blobs(num_classes: int, size: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Well separated Gaussian blobs at the corners of a simplex, of very different scale in each coordinate."""
    rng = stream(0, "test")
    labels = np.repeat(np.arange(num_classes), size)
    features = np.eye(num_classes)[labels] + 0.05 * rng.standard_normal((len(labels), num_classes))
    return features * 10.0 ** np.arange(num_classes), labels


@pytest.fixture(scope="module")
def fitted() -> tuple[MCVC, np.ndarray, PairAnnotations, np.ndarray]:
    features, labels = _blobs(3)
    pairs = quota(labels, stream(1, "test"), sensitivity=QUALITY, specificity=QUALITY[::-1], pairs_per_annotator=800)
    return MCVC(3, n_restarts=4).fit(features, pairs), features, pairs, labels


def test_clusters_and_annotators_are_recovered(
    fitted: tuple[MCVC, np.ndarray, PairAnnotations, np.ndarray],
) -> None:
    model, _, pairs, labels = fitted
    assert normalized_mutual_info_score(labels, model.labels_) == pytest.approx(1)
    sensitivity, specificity = pairs.empirical_quality(labels)
    # The prior Beta(10, 1) weighs 11 answers of 400.
    np.testing.assert_allclose(model.sensitivity_, sensitivity, atol=0.015)
    np.testing.assert_allclose(model.specificity_, specificity, atol=0.015)
    assert model.expert_view_.tolist() == [0] * 5
    # Far from "all items in one cluster, all annotators guess", which has at most this bound.
    assert model.bound_ > -0.7 * np.log(2) * pairs.num_pairs
    assert model.bound_ == model.bounds_.max()
    assert len(model.bounds_) == 4


def test_two_groups_of_annotators_see_two_clusterings() -> None:
    rng = stream(2, "test")
    horizontal, vertical = rng.integers(2, size=(2, 120))
    features = np.stack([horizontal, vertical], 1) + 0.1 * rng.standard_normal((120, 2))
    parts = []
    for worker, labels in enumerate([horizontal, vertical, horizontal, vertical, vertical]):
        part = quota(labels, rng, sensitivity=[0.9], specificity=[0.9], pairs_per_annotator=200)
        parts.append((part.i, part.j, np.full(200, worker), part.label))
    i, j, worker_, label = (np.concatenate(column) for column in zip(*parts, strict=True))
    pairs = PairAnnotations.from_arrays(i, j, worker_, label, num_items=120)
    model = MCVC(2, n_restarts=6).fit(features, pairs)
    # The more popular view comes first.
    assert model.expert_view_.tolist() == [1, 0, 1, 0, 0]
    assert normalized_mutual_info_score(vertical, model.view_labels_[0]) == pytest.approx(1)
    assert normalized_mutual_info_score(horizontal, model.view_labels_[1]) == pytest.approx(1)
    assert model.labels_.tolist() == model.view_labels_[0].tolist()
    assert model.predict(features, view=1).tolist() == model.view_labels_[1].tolist()
    with pytest.raises(UserError, match="view=2: expected 0 to 1"):
        model.predict(features, view=2)


def test_a_network_finds_what_no_linear_map_can() -> None:
    rng = stream(3, "test")
    corner = rng.integers(2, size=(200, 2))
    labels = corner[:, 0] ^ corner[:, 1]
    features = corner + 0.1 * rng.standard_normal((200, 2))
    pairs = quota(labels, rng, sensitivity=[0.95] * 2, specificity=[0.95] * 2, pairs_per_annotator=400)
    deep = DeepMCVC(2, n_restarts=4, n_views=1, n_steps=300).fit(features, pairs)
    linear = MCVC(2, n_restarts=4, n_views=1).fit(features, pairs)
    assert normalized_mutual_info_score(labels, deep.labels_) > 0.95
    assert normalized_mutual_info_score(labels, linear.labels_) < 0.5
    assert deep.bound_ > linear.bound_ + 50


def test_while_annotators_are_held_it_does_not_matter_who_said_what() -> None:
    features, labels = _blobs(3)
    pairs = quota(labels, stream(5, "test"), sensitivity=[0.9, 0.6], specificity=[0.9, 0.6], pairs_per_annotator=200)
    other = replace(pairs, worker=stream(6, "test").permutation(pairs.worker))
    held, free = (
        [MCVC(3, n_restarts=1, n_views=1, n_steps=60, n_held=n).fit(features, p).predict_proba(features)
         for p in (pairs, other)]
        for n in (60, 0)
    )  # fmt: skip
    np.testing.assert_allclose(held[0], held[1], atol=1e-3)
    assert np.abs(free[0] - free[1]).max() > 0.01


def test_items_without_answers_are_predicted() -> None:
    features, labels = _blobs(3)
    pairs = quota(
        labels, stream(4, "test"), sensitivity=QUALITY, specificity=QUALITY, pairs_per_annotator=100, num_annotated=30
    )
    model = MCVC(3, n_restarts=4).fit(features, pairs)
    assert normalized_mutual_info_score(labels, model.labels_) == pytest.approx(1)
    # Nothing is learnt from their features but the scaling.
    moved = features.copy()
    alone = np.setdiff1d(np.arange(len(labels)), pairs.annotated)
    moved[alone] = features[alone][::-1]
    assert MCVC(3, n_restarts=4).fit(moved, pairs).bound_ == pytest.approx(model.bound_, rel=1e-6)
