"""Affinity propagation: exemplars of groups, the number that is sought, the best net similarity of few items."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from semicrowd.methods.affinity_propagation import AffinityPropagation
from semicrowd.random import stream


def blobs(number: int) -> tuple[np.ndarray, np.ndarray]:
    """``number`` distant groups of 12 items."""
    rng = stream(0, "test")
    labels = np.repeat(np.arange(number), 12)
    return 20 * np.eye(number)[labels] + rng.normal(size=(len(labels), number)), labels


@pytest.mark.parametrize("number", [2, 5])
def test_the_number_of_exemplars_is_sought(number: int) -> None:
    features, labels = blobs(number)
    model = AffinityPropagation(number).fit(features)
    assert adjusted_rand_score(labels, model.labels_) == 1
    assert all(center in features.tolist() for center in model.cluster_centers_.tolist())
    assert AffinityPropagation(preference=model.preference_).fit(features).labels_.tolist() == model.labels_.tolist()


@pytest.mark.parametrize(("seed", "preference"), [(1, -15.0), (2, -15.0), (5, -40.0), (1, -40.0)])
def test_exemplars_are_those_of_the_best_net_similarity(seed: int, preference: float) -> None:
    features = stream(seed, "test").normal(size=(9, 2)) * 3
    similarity = -((features[:, None] - features) ** 2).sum(2)

    def net(exemplars: Sequence[int]) -> float:
        rest = np.setdiff1d(np.arange(9), exemplars)
        return float(similarity[rest][:, exemplars].max(1).sum() + preference * len(exemplars))

    model = AffinityPropagation(preference=preference).fit(features)
    found = tuple(features.tolist().index(center) for center in model.cluster_centers_.tolist())
    assert net(found) == pytest.approx(max(net(some) for k in range(1, 10) for some in combinations(range(9), k)))


def test_the_first_number_that_has_settled_is_kept_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two that are sought, messages settle at four only, or at none."""
    found = iter([(np.arange(4), True), *[(np.arange(1), False)] * 100])
    monkeypatch.setattr(AffinityPropagation, "_exemplars", lambda *_: next(found))
    assert len(AffinityPropagation(2).fit(blobs(4)[0]).cluster_centers_) == 4
