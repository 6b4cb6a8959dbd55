"""Errors of the annotators' estimated rates, and calibration of probabilities and intervals."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torchmetrics.functional.classification import binary_calibration_error

from semicrowd.metrics import calibration_error, interval_coverage, worker_rank, worker_recovery
from semicrowd.metrics.clustering import right_items


def test_mean_absolute_error_over_those_whose_truth_is_known() -> None:
    estimated, true = np.array([0.9, 0.5, 0.7]), np.array([1.0, math.nan, 0.4])
    assert worker_recovery(estimated, true) == pytest.approx(0.2)
    assert math.isnan(worker_recovery(estimated, np.full(3, math.nan)))


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


def test_items_are_right_under_the_best_match_whatever_the_clusters_are_called() -> None:
    labels = np.array(["b", "b", "b", "a", "a", "c"])
    clusters = np.array([7, 7, 2, 2, 2, 9])
    assert right_items(labels, clusters).tolist() == [True, True, False, True, True, True]
    # A cluster too many: its items are wrong.
    assert right_items(labels, np.array([7, 7, 1, 2, 2, 9])).tolist() == [True, True, False, True, True, True]
    # A cluster too few: so are those of the kind that is left over.
    assert right_items(labels, np.array([0, 0, 0, 1, 1, 1])).tolist() == [True, True, True, True, True, False]


def test_the_calibration_error_is_that_of_torchmetrics() -> None:
    rng = np.random.default_rng(0)
    labels, probability = rng.integers(0, 4, 500), rng.uniform(0.01, 0.999, 500)
    clusters = np.where(rng.random(500) < probability**2, labels, rng.integers(0, 4, 500))
    right = torch.from_numpy((clusters == labels).astype(int))
    expected = binary_calibration_error(torch.from_numpy(probability), right, n_bins=15, norm="l1")
    assert calibration_error(labels, clusters, probability) == pytest.approx(float(expected), abs=1e-9)


def test_certainty_that_is_right_half_the_time_is_off_by_a_half() -> None:
    labels = np.repeat([0, 1], 50)
    assert calibration_error(labels, labels, np.ones(100)) == 0
    assert calibration_error(labels, np.zeros(100, int), np.ones(100)) == pytest.approx(0.5)
    assert np.isnan(calibration_error(labels, labels, np.full(100, np.nan)))


def test_ninety_per_cent_of_the_central_intervals_of_a_beta_hold_its_draws() -> None:
    true = stats.beta.rvs(8, 3, size=20_000, random_state=0)
    low, high = (np.full(20_000, stats.beta.ppf(tail, 8, 3)) for tail in (0.05, 0.95))
    assert interval_coverage(low, high, true) == pytest.approx(0.9, abs=0.01)
    true[:19_000] = np.nan  # those whose truth is not known do not count
    assert interval_coverage(low, high, true) == pytest.approx(0.9, abs=0.04)
    assert np.isnan(interval_coverage(low, high, np.full(20_000, np.nan)))
