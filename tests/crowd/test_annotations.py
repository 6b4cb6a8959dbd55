"""What answers are accepted, and what is worked out from them."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError

GOOD: dict[str, Any] = {"i": [0, 4, 2], "j": [1, 0, 4], "worker": [0, 1, 0], "label": [1, 0, 1], "num_items": 5}


def test_counts() -> None:
    answers = PairAnnotations.from_arrays(**GOOD, task=[0, 2, 0])
    assert (answers.num_pairs, answers.num_annotators, answers.num_tasks) == (3, 2, 3)
    assert answers.annotated.tolist() == [0, 1, 2, 4]
    assert answers.worker_names == ("0", "1")


def test_empirical_quality_counts_by_hand() -> None:
    labels = np.array([0, 0, 1, 1])
    rows = [
        # worker 0: same, same, different, different, different → right, wrong, right, wrong, right
        (0, 1, 0, 1), (2, 3, 0, 0), (0, 2, 0, 0), (1, 2, 0, 1), (3, 0, 0, 0),
        # worker 1 saw no pair of one class
        (0, 3, 1, 0),
    ]
    answers = PairAnnotations.from_arrays(*np.array(rows).T, num_items=4)
    sensitivity, specificity = answers.empirical_quality(labels)
    assert sensitivity[0] == 0.5
    assert math.isnan(sensitivity[1])
    assert specificity.tolist() == [pytest.approx(2 / 3), 1.0]
    for soft, hard in zip(answers.empirical_quality(np.eye(2)[labels]), (sensitivity, specificity), strict=True):
        np.testing.assert_array_equal(soft, hard)


def test_quality_by_probabilities_is_a_ratio_of_expected_counts() -> None:
    """Against the sum over every way in which items of independent kinds can be."""
    rng = np.random.default_rng(3)
    q = rng.dirichlet(np.ones(3), size=4)
    pairs = list(itertools.combinations(range(4), 2))
    rows = [(i, j, worker, rng.integers(2)) for worker in range(2) for i, j in pairs]
    answers = PairAnnotations.from_arrays(*np.array(rows).T, num_items=4)
    right, seen = np.zeros((2, 2)), np.zeros((2, 2))
    for kinds in itertools.product(range(3), repeat=4):
        chance = np.prod([q[i, k] for i, k in enumerate(kinds)])
        for i, j, worker, answer in rows:
            same = kinds[i] == kinds[j]
            seen[int(not same), worker] += chance
            right[int(not same), worker] += chance * (answer == same)
    np.testing.assert_allclose(answers.empirical_quality(q), right / seen, rtol=1e-12)


def test_numbers_of_a_platform_are_refused_before_an_array_of_as_many_is_made() -> None:
    with pytest.raises(UserError, match="annotator 0 has no answers"):
        PairAnnotations.from_arrays([0], [1], [10**15], [1], num_items=2)
    with pytest.raises(UserError, match="annotator bob has no answers"):
        PairAnnotations.from_arrays([0, 0], [1, 2], [0, 2], [1, 0], num_items=3, worker_names=["ann", "bob", "cy"])
