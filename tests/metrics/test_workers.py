"""Error of estimated worker quality."""

import math

import numpy as np
import pytest

from semicrowd.metrics import worker_rank, worker_recovery


def test_mean_absolute_error_over_those_whose_truth_is_known() -> None:
    estimated, true = np.array([0.9, 0.5, 0.7]), np.array([1.0, math.nan, 0.4])
    assert worker_recovery(estimated, true) == pytest.approx(0.2)


def test_no_truth_no_number() -> None:
    assert math.isnan(worker_recovery(np.array([0.9]), np.array([math.nan])))


def test_a_missing_estimate_is_not_hidden() -> None:
    assert math.isnan(worker_recovery(np.array([math.nan, 0.9]), np.array([0.8, 0.9])))


def test_rank_is_spearmans_over_those_who_err() -> None:
    rng = np.random.default_rng(0)
    estimated, true = rng.permutation(40) / 40, rng.permutation(40) / 40
    ranks = [[sum(other < value for other in values) for value in values] for values in (estimated, true)]
    squares = sum((one - other) ** 2 for one, other in zip(*ranks, strict=True))
    expected = 1 - 6 * squares / (40 * (40**2 - 1))
    assert worker_rank(estimated, true) == pytest.approx(expected)
    # Who is never wrong, and whose truth is not known, has no part in it.
    more = np.r_[estimated, 0.1, 0.2, 0.3], np.r_[true, 1.0, 1.0, math.nan]
    assert worker_rank(*more) == pytest.approx(expected)


def test_rank_of_the_same_and_of_the_opposite_order() -> None:
    true = np.array([0.1, 0.5, 0.7, 0.95])
    assert worker_rank(true**3, true) == pytest.approx(1)
    assert worker_rank(-true, true) == pytest.approx(-1)


def test_three_who_err_have_a_rank() -> None:
    assert worker_rank(np.array([0.7, 0.5, 0.9, 0.1]), np.array([0.6, 0.7, 0.8, 1.0])) == pytest.approx(0.5)


def test_rank_with_ties_is_the_correlation_of_mean_ranks() -> None:
    rank = worker_rank(np.array([0.3, 0.5, 0.5, 0.9]), np.array([0.2, 0.2, 0.8, 0.6]))
    assert rank == pytest.approx(np.corrcoef([1, 2.5, 2.5, 4], [1.5, 1.5, 4, 3])[0, 1])


@pytest.mark.parametrize(
    ("estimated", "true"),
    [
        ([0.5, 0.6, 0.7, 0.8], [0.9, 0.8, 1.0, math.nan]),  # two who err
        ([0.5, 0.6, 0.7], [0.9, 0.9, 0.9]),
        ([0.5, 0.5, 0.5], [0.7, 0.8, 0.9]),
        ([0.5, 0.6, 0.7], [math.nan, math.nan, math.nan]),
    ],
)
def test_no_rank_where_it_is_not_defined(estimated: list[float], true: list[float]) -> None:
    assert worker_rank(np.array(estimated), np.array(true)) is None


def test_a_missing_estimate_is_not_hidden_from_the_rank() -> None:
    rank = worker_rank(np.array([math.nan, 0.9, 0.8, 0.7]), np.array([0.8, 0.9, 0.7, 0.6]))
    assert rank is not None
    assert math.isnan(rank)
