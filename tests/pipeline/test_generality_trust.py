"""What the suite says of probabilities, intervals and ranks."""

import numpy as np
import pandas as pd

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.fitting.result import Assignment, Result
from semicrowd.methods.unsupervised import KMeansOnly
from semicrowd.pipeline.generality.cell import _trust


def test_a_cell_says_whether_probabilities_and_intervals_mean_what_they_say() -> None:
    """Four annotators of 40 answers and one of four, who does not count; one item of four is wrong with certainty."""
    labels, clusters = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0])
    worker = np.r_[np.repeat(np.arange(4), 40), np.full(4, 4)]
    i, j = np.tile([0, 0, 1, 2], 41), np.tile([1, 2, 3, 3], 41)
    right = np.random.default_rng(0).random(164) < np.r_[np.repeat([0.95, 0.9, 0.7, 0.6], 40), np.zeros(4)]
    answers = PairAnnotations.from_arrays(i, j, worker, ((labels[i] == labels[j]) == right).astype(int), num_items=4)
    sensitivity, specificity = answers.empirical_quality(labels)
    people = pd.DataFrame({"pairs": [40] * 4 + [4], "sensitivity": sensitivity, "specificity": -specificity})
    for name, true in (("sensitivity", sensitivity), ("specificity", specificity)):
        people[f"{name}_low"], people[f"{name}_high"] = true - 0.01, true + np.array([0.01, 0.01, 0.01, -0.005, -0.005])
    fitted, final = KMeansOnly(2), Assignment(clusters, np.ones(4))
    fitted.result_, fitted.workers_ = Result(2, final, final), people
    found = _trust(fitted, labels, answers)
    assert found == {
        "calibration_error": 0.25, "interval_coverage": 0.75, "sensitivity_rank": 1.0, "specificity_rank": -1.0,
    }  # fmt: skip
