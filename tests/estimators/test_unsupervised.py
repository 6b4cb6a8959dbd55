"""k-means and the Gaussian mixture on blobs, and that the answers change nothing."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import normalized_mutual_info_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.methods.unsupervised import KMeansOnly, MixtureOnly, VariationalMixture
from semicrowd.random import stream

KINDS = [KMeansOnly, MixtureOnly]


def _pairs(label: int) -> PairAnnotations:
    return PairAnnotations.from_arrays([0, 1], [2, 3], [0, 0], [label, label], num_items=90)


@pytest.mark.parametrize("kind", KINDS)
def test_blobs_whatever_the_answers(kind: type[KMeansOnly] | type[MixtureOnly]) -> None:
    labels = np.repeat([0, 1, 2], 30)
    features = 10 * np.eye(3)[labels] + stream(0, "test").standard_normal((90, 3))
    model = kind(3, n_init=3).fit(features, _pairs(0))
    assert normalized_mutual_info_score(labels, model.labels_) == pytest.approx(1)
    assert model.predict(features).tolist() == model.labels_.tolist()
    assert clone(model).fit(features, _pairs(1)).labels_.tobytes() == model.labels_.tobytes()


def test_standardised_k_means_is_the_same_in_all_units() -> None:
    labels, rng = np.repeat([0, 1], 45), stream(3, "test")
    features = np.stack([6.0 * labels, np.zeros(90)], 1) + rng.standard_normal((90, 2))
    in_other_units = features * [1, 1000]
    scaled, raw = (KMeansOnly(2, standardize=one).fit(in_other_units) for one in (True, False))
    assert normalized_mutual_info_score(labels, scaled.labels_) > 0.9
    assert normalized_mutual_info_score(labels, raw.labels_) < 0.2
    assert scaled.predict(in_other_units).tolist() == scaled.labels_.tolist()


def test_the_mixture_knows_shapes() -> None:
    # Two long parallel clouds, further apart along than across.
    rng = stream(1, "test")
    labels = np.repeat([0, 1], 45)
    features = np.stack([20 * rng.standard_normal(90), 3 * labels + 0.1 * rng.standard_normal(90)], 1)
    assert normalized_mutual_info_score(labels, MixtureOnly(2).fit(features, _pairs(0)).labels_) == pytest.approx(1)
    assert normalized_mutual_info_score(labels, KMeansOnly(2).fit(features, _pairs(0)).labels_) < 0.2


def test_the_dirichlet_process_mixture_leaves_clusters_empty() -> None:
    labels = np.repeat([0, 1, 2], 60)
    features = 10 * np.eye(3)[labels] + stream(2, "test").standard_normal((180, 3))
    model = VariationalMixture(12).fit(features)
    assert normalized_mutual_info_score(labels, model.labels_) == pytest.approx(1)
    assert (model.n_clusters_, model.result_.num_clusters) == (3, 12)
