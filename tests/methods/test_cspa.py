"""CSPA against the example of its paper, counting and the least balanced cut found by enumeration."""

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import quota
from semicrowd.methods.cspa import CSPA, co_association, partition

#: Four clusterings of seven objects, −1 where one leaves an object out (Strehl & Ghosh 2002, table 1).
PAPER = np.array([[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, -1, 1, 2, -1, -1]])


def _answers_of(clusterings: np.ndarray, num_items: int) -> PairAnnotations:
    """Every clustering as an annotator who compares all pairs of its items."""
    rows = [
        (i, j, worker, int(group[i] == group[j]))
        for worker, group in enumerate(clusterings)
        for i, j in zip(*np.triu_indices(len(group), k=1), strict=True)
        if group[i] >= 0 and group[j] >= 0
    ]
    i, j, worker, label = np.array(rows).T
    return PairAnnotations.from_arrays(i, j, worker, label, num_items=num_items)


def test_example_of_the_paper() -> None:
    found = CSPA(3).fit(np.zeros((7, 1)), _answers_of(PAPER, 7))
    # "Good combined clustering" of the paper: that of the first two annotators.
    assert adjusted_rand_score(PAPER[0], found.labels_) == 1.0


def test_co_association_counts_those_who_saw_both() -> None:
    share = co_association([(np.flatnonzero(group >= 0), group[group >= 0]) for group in PAPER], 7)
    for i, j in product(range(7), repeat=2):
        saw = [group for group in PAPER.tolist() if group[i] >= 0 and group[j] >= 0]
        assert share[i, j] == pytest.approx(sum(group[i] == group[j] for group in saw) / len(saw))
    assert co_association([(np.zeros(1, int), np.zeros(1, int))], 2).tolist() == [[1.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("seed", range(5))
def test_partition_is_the_least_balanced_cut(seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat([0, 1], 5))
    strong, weak = rng.uniform(0.5, 1, (10, 10)), rng.uniform(0, 0.5, (10, 10))
    weights = np.triu(np.where(group[:, None] == group, strong, weak), 1)
    weights += weights.T

    def cut(labels: np.ndarray) -> float:
        return float(weights[labels[:, None] != labels].sum() / 2)

    halves = [np.array(z) for z in product([0, 1], repeat=10) if sum(z) == 5]
    found = partition(weights, 2, seed=0)
    assert np.bincount(found).tolist() == [5, 5]
    assert cut(found) == pytest.approx(min(map(cut, halves)))


def test_items_without_answers_follow_the_nearest_annotated_item() -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(3), 30)
    features = 10.0 * np.eye(3)[labels] + rng.normal(size=(90, 3))
    answers = quota(
        labels, rng, sensitivity=(0.95, 0.9, 0.9), specificity=0.95, pairs_per_annotator=300, num_annotated=45
    )
    found = CSPA(3).fit(features, answers)
    assert len(answers.annotated) == 45
    assert adjusted_rand_score(labels, found.labels_) > 0.85
    rest = np.setdiff1d(np.arange(90), answers.annotated)
    distance = np.linalg.norm(features[rest, None] - features[answers.annotated], axis=2)
    nearest = answers.annotated[distance.argmin(axis=1)]
    assert np.array_equal(found.labels_[rest], found.labels_[nearest])
    assert np.array_equal(found.predict(features[rest]), found.labels_[nearest])
