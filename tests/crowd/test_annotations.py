"""What answers are accepted, and what is worked out from them."""

import itertools
import math
import re
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
    assert answers.notes == ()
    assert answers.i.dtype == answers.label.dtype == np.int64
    assert PairAnnotations.from_arrays(**GOOD).num_tasks == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"i": [0, 5, 2]}, "arrays, row 1, column i: 5; expected an item id from 0 to 4"),
        ({"j": [1, 0, -1]}, "arrays, row 2, column j: -1; expected an item id from 0 to 4"),
        ({"j": [1, 4, 4]}, "arrays, row 1, column j: 4; expected another item than i"),
        ({"label": [1, 0, 2]}, "arrays, row 2, column label: 2; expected 1 (same) or 0 (different)"),
        ({"worker": [0, -1, 0]}, "arrays, row 1, column worker: -1; expected an annotator from 0 to 0"),
        ({"task": [0, -2, 0]}, "arrays, row 1, column task: -2; expected a number >= 0"),
        ({"worker": [0, 2, 0]}, "arrays: annotator 1 has no answers"),
        ({"worker_names": ["ann", "bob", "eve"]}, "arrays: annotator eve has no answers"),
        ({"i": [0, 4]}, "arrays: columns of different lengths: i 2, j 3"),
        ({"i": [0.0, 4.0, 2.0]}, "arrays, column i: expected a list of whole numbers, got float64"),
        ({"i": [], "j": [], "worker": [], "label": []}, "arrays: no answers"),
        ({"true_sensitivity": [0.5, 1.5]}, "arrays: true sensitivity: expected 2 probabilities"),
        ({"true_specificity": [0.5]}, "arrays: true specificity: expected 2 probabilities"),
    ],
)
def test_bad_answers(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match="^" + re.escape(message)):
        PairAnnotations.from_arrays(**(GOOD | change))


def test_repeated_answers_are_counted_and_kept() -> None:
    # Annotator 0 says the same about {1, 2} three times (once the other way round), annotator 1 once;
    # annotator 0 contradicts itself about {3, 4}.
    answers = PairAnnotations.from_arrays(
        [1, 2, 1, 1, 3, 4], [2, 1, 2, 2, 4, 3], [0, 0, 0, 1, 0, 0], [1, 1, 1, 1, 1, 0], num_items=5
    )
    assert answers.num_pairs == 6
    assert answers.notes == (
        "arrays: 2 duplicate answers (same pair, annotator and label, such as 0 about row 1 and row 2), kept",
        "arrays: 1 pair about which an annotator gave both answers, such as 0 about row 3 and row 4, all kept",
    )


def test_a_pair_that_two_annotators_answer_both_ways_is_one_pair() -> None:
    answers = PairAnnotations.from_arrays([0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [0, 1, 0, 1], num_items=2)
    assert answers.notes == (
        "arrays: 1 pair about which an annotator gave both answers, such as 0 about row 0 and row 1, all kept",
    )


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
