"""What is believed of the annotators, by scipy's Beta distribution and by loops over the answers."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.made import SENSITIVITY, SPECIFICITY

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior, worker_frame

POSTERIOR = WorkerPosterior(SENSITIVITY, SPECIFICITY)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_means_and_central_intervals_are_those_of_the_beta_distributions(level: float) -> None:
    found = zip((SENSITIVITY, SPECIFICITY), POSTERIOR.mean(), POSTERIOR.interval(level), strict=True)
    for shapes, mean, interval in found:
        for r, m in np.ndindex(2, 3):
            beta = stats.beta(*shapes[r, m])
            assert mean[r, m] == pytest.approx(beta.mean())
            assert interval[r, m] == pytest.approx(beta.interval(level))


def test_an_interval_is_stretched_to_hold_what_is_reported() -> None:
    """Of a Beta(a, b) with b < 1 the mean can lie outside the central interval, and a point estimate anywhere."""
    point = np.array([np.full((2, 3), 0.999), np.full((2, 3), 0.001)])
    reported = WorkerPosterior(SENSITIVITY, SPECIFICITY, point)
    np.testing.assert_array_equal(reported.mean(), point)
    above, below = reported.interval()
    own = POSTERIOR.interval()
    np.testing.assert_array_equal(above[..., 1], np.maximum(own[0][..., 1], 0.999))
    np.testing.assert_array_equal(above[..., 0], own[0][..., 0])
    np.testing.assert_array_equal(below[..., 0], np.minimum(own[1][..., 0], 0.001))
    np.testing.assert_array_equal(below[..., 1], own[1][..., 1])


@pytest.mark.parametrize("best", [0, 1])
def test_the_frame_by_loops(best: int) -> None:
    rng = np.random.default_rng(0)
    i = rng.integers(12, size=60)
    j = (i + rng.integers(1, 12, size=60)) % 12
    worker, label, kinds = np.arange(60) % 5 % 3, rng.integers(2, size=60), np.arange(12) % 3
    answers = PairAnnotations.from_arrays(i, j, worker, label, num_items=12, worker_names=("a", "b", "c"))
    frame = worker_frame(POSTERIOR, best, answers, kinds).set_index("annotator")
    assert frame.index.tolist() == ["a", "b", "c"]
    for m, name in enumerate("abc"):
        row = frame.loc[name]
        alpha, beta = stats.beta(*SENSITIVITY[best, m]), stats.beta(*SPECIFICITY[best, m])
        own = [(kinds[i[p]] == kinds[j[p]], label[p]) for p in range(60) if worker[p] == m]
        assert row["pairs"] == len(own)
        for side, rate, same in (("sensitivity", alpha, True), ("specificity", beta, False)):
            low, high = rate.interval(0.9)
            assert row[[f"{side}_low", side, f"{side}_high"]].tolist() == pytest.approx([low, rate.mean(), high])
            right = [answer == same for is_same, answer in own if is_same == same]
            assert row[f"observed_{side}"] == pytest.approx(sum(right) / len(right))
        a, b = alpha.mean(), beta.mean()
        # An answer "same" says ln α/(1 − β) for one kind, "different" ln β/(1 − α) for two.
        assert row["weight"] == pytest.approx(math.log(a / (1 - b)) + math.log(b / (1 - a)))


def test_who_is_taken_to_be_never_wrong_weighs_much_but_not_infinitely() -> None:
    answers = PairAnnotations.from_arrays([0], [1], [0], [1], num_items=2)
    sure = WorkerPosterior(np.ones((1, 1, 2)), np.ones((1, 1, 2)), np.ones((2, 1, 1)))
    assert worker_frame(sure, 0, answers, np.zeros(2, int))["weight"][0] == pytest.approx(2 * math.log(1e12), rel=1e-3)
