"""The answers' graph on simulated answers, posterior and evidence against quadrature, and the classifier on top."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta as beta_law
from sklearn.metrics import normalized_mutual_info_score
from tests.made import signs_of_all_pairs

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import quota
from semicrowd.errors import UserError
from semicrowd.methods import crowd_only
from semicrowd.methods.crowd_only import CrowdLogistic, SignedSpectral, quality_given
from semicrowd.random import stream

QUALITY = [0.95, 0.9, 0.85, 0.8, 0.75]


def _simulated(
    num_classes: int, pairs_per_annotator: int, num_annotated: int | None = None
) -> tuple[np.ndarray, np.ndarray, PairAnnotations]:
    labels = np.arange(240) % num_classes
    rng = stream(1, "test")
    features = np.eye(num_classes)[labels] + 0.05 * rng.standard_normal((240, num_classes))
    rates = {"sensitivity": QUALITY, "specificity": QUALITY[::-1]}
    pairs = quota(labels, rng, **rates, pairs_per_annotator=pairs_per_annotator, num_annotated=num_annotated)
    return features, labels, pairs


def test_noisy_answers_and_their_annotators() -> None:
    _, labels, pairs = _simulated(4, 2000)
    model = SignedSpectral(4).fit(np.zeros((240, 1)), pairs)
    assert normalized_mutual_info_score(labels, model.labels_) == pytest.approx(1)
    sensitivity, specificity = pairs.empirical_quality(labels)
    # The prior Beta(10, 1) weighs 11 answers of 1000.
    np.testing.assert_allclose(model.sensitivity_, sensitivity, atol=0.005)
    np.testing.assert_allclose(model.specificity_, specificity, atol=0.005)


def test_quality_and_evidence_by_quadrature() -> None:
    pairs = PairAnnotations.from_arrays(
        [0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3], [0, 0, 0, 1, 1, 1], [1, 0, 1, 1, 0, 0], num_items=4
    )
    same = np.array([True, True, False, False, False, False])
    quality, found = quality_given(pairs, same)
    # (annotator 0: one hit and one miss of the same, one miss of the different; annotator 1: two hits and one miss.)
    prior = beta_law(10, 1)
    likelihood = [[lambda x: x * (1 - x), lambda _: 1.0], [lambda x: 1 - x, lambda x: x**2 * (1 - x)]]
    evidence = 0.0
    for side, means in enumerate(rates[0] for rates in quality.mean()):
        for m in range(2):
            mass = quad(lambda x, f=likelihood[side][m]: f(x) * prior.pdf(x), 0, 1)[0]
            mean = quad(lambda x, f=likelihood[side][m]: x * f(x) * prior.pdf(x), 0, 1)[0] / mass
            assert means[m] == pytest.approx(mean, rel=1e-8)
            evidence += np.log(mass)
    assert found == pytest.approx(evidence, rel=1e-8)


def test_reweighting_is_kept_only_where_the_answers_are_likelier(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, pairs = _simulated(4, 250)
    evidence = []
    for rounds in range(4):
        monkeypatch.setattr(crowd_only, "_REWEIGHTINGS", rounds)
        evidence.append(SignedSpectral(4).fit(np.zeros((240, 1)), pairs).evidence_)
    assert all(later >= earlier for earlier, later in pairwise(evidence))
    # Judged again from the outside.
    model = SignedSpectral(4).fit(np.zeros((240, 1)), pairs)
    assert quality_given(pairs, model.labels_[pairs.i] == model.labels_[pairs.j])[1] == model.evidence_


def test_items_without_answers() -> None:
    features, labels, pairs = _simulated(3, 200, num_annotated=40)
    crowd = SignedSpectral(3).fit(features, pairs)
    alone = np.setdiff1d(np.arange(240), pairs.annotated)
    largest = np.bincount(crowd.labels_[pairs.annotated]).argmax()
    assert set(crowd.labels_[alone]) == {largest}
    assert crowd.annotated_.tolist() == pairs.annotated.tolist()
    model = CrowdLogistic(3).fit(features, pairs)
    assert normalized_mutual_info_score(labels, model.labels_) == pytest.approx(1)
    assert model.predict(features[alone]).tolist() == model.labels_[alone].tolist()


def test_annotated_items_keep_the_cluster_of_their_answers() -> None:
    features, labels, pairs = _simulated(3, 400, num_annotated=40)
    # Features that say nothing: the regression is often wrong, the answers are not overruled.
    model = CrowdLogistic(3).fit(stream(2, "test").standard_normal(features.shape), pairs)
    known = pairs.annotated
    assert normalized_mutual_info_score(labels[known], model.labels_[known]) == pytest.approx(1)
    assert model.labels_[known].tolist() == SignedSpectral(3).fit(features, pairs).labels_[known].tolist()


@pytest.mark.parametrize("classifier", ["logistic", "mlp"])
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize(
    "labels",
    [[0] * 6, [0] * 4 + [1] * 4, [0, 1, 2, 3] * 7, [0] * 4 + [1] * 4 + [2]],
    ids=["one cluster", "eight items", "four of seven", "a cluster of one"],
)
def test_hardly_anything_to_learn(classifier: str, labels: list[int]) -> None:
    i, j, weight = signs_of_all_pairs(np.array(labels))
    pairs = PairAnnotations.from_arrays(i, j, np.zeros(len(i), int), (weight > 0).astype(int), num_items=len(labels))
    features = 5.0 * np.eye(4)[labels] + 0.01 * stream(3, "test").standard_normal((len(labels), 4))
    model = CrowdLogistic(max(2, len(set(labels))), classifier=classifier).fit(features, pairs)
    assert normalized_mutual_info_score(labels, model.labels_) == pytest.approx(1)


def test_too_few_annotated_items() -> None:
    pairs = PairAnnotations.from_arrays([0], [1], [0], [1], num_items=9)
    with pytest.raises(UserError, match="2 annotated items; expected n_clusters=3 at least"):
        SignedSpectral(3).fit(np.zeros((9, 2)), pairs)


def test_a_single_answer_makes_one_cluster_without_a_warning_of_a_library() -> None:
    one = PairAnnotations.from_arrays([0], [1], [0], [1], num_items=4)
    labels = SignedSpectral(2).fit(np.eye(4), one).labels_
    assert labels[0] == labels[1]
