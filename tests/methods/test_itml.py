"""ITML against a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.methods import itml
from semicrowd.methods.itml import ITML


def test_metric_is_the_one_of_least_log_det_divergence(monkeypatch: pytest.MonkeyPatch) -> None:
    difference = np.array([[2.0, 0.5], [1.8, -0.3], [0.3, 0.9], [-0.2, 0.7]])
    must = np.array([True, True, False, False])
    bounds = np.array([1.0, 2.0])

    def matrix(p: np.ndarray) -> np.ndarray:
        root = np.array([[p[0], 0.0], [p[1], p[2]]])
        return root @ root.T

    def slack(p: np.ndarray) -> np.ndarray:
        squared = np.einsum("cd,de,ce->c", difference, matrix(p), difference)
        return np.where(must, bounds[0] - squared, squared - bounds[1])

    best = minimize(
        lambda p: np.trace(matrix(p)) - np.linalg.slogdet(matrix(p)).logabsdet,
        [1.0, 0.0, 1.0],
        constraints={"type": "ineq", "fun": slack},
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    # Bounds that cannot all hold would leave nothing to compare.
    assert best.success
    # Without slack: γ → ∞.
    monkeypatch.setattr(itml, "MOST_PASSES", 5000)
    root = ITML(2)._learn(difference, must, bounds, 1e9)
    assert root.T @ root == pytest.approx(matrix(best.x), rel=0.02, abs=0.02)


def test_answers_of_one_kind_leave_nothing_to_choose_gamma_by() -> None:
    i = np.arange(9)
    features = np.random.default_rng(3).normal(size=(30, 4))
    only = PairAnnotations.from_arrays(i, i + 1, 0 * i, 0 * i + 1, num_items=30)
    assert ITML(3).fit(features, only).gamma_ == 1.0
