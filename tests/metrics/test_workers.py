"""Error of estimated worker quality."""

import math

import numpy as np
import pytest

from semicrowd.metrics import worker_recovery


def test_mean_absolute_error_over_those_whose_truth_is_known() -> None:
    estimated, true = np.array([0.9, 0.5, 0.7]), np.array([1.0, math.nan, 0.4])
    assert worker_recovery(estimated, true) == pytest.approx(0.2)


def test_no_truth_no_number() -> None:
    assert math.isnan(worker_recovery(np.array([0.9]), np.array([math.nan])))


def test_a_missing_estimate_is_not_hidden() -> None:
    assert math.isnan(worker_recovery(np.array([math.nan, 0.9]), np.array([0.8, 0.9])))
