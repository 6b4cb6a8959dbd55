"""The files of a result, from its clusters."""

import numpy as np

from semicrowd.fitting.result import Assignment
from semicrowd.run.files.results import assignment_csv


def test_the_second_cluster_of_an_item_stands_beside_its_first() -> None:
    """An improbable one is not named: which of several comes first would be decided by rounding errors."""
    found = Assignment.of(np.array([[0.2, 0.7, 0.1], [1 - 3e-9, 1e-9, 2e-9]]))
    assert assignment_csv(found, np.array([True, False]), ("W1", "W2")).splitlines() == [
        "item,cluster,probability,second_cluster,second_probability,annotated,row",
        "W1,1,0.700000,0,0.200000,1,0",
        "W2,0,1.000000,,0.000000,0,1",
    ]


def test_a_method_without_probabilities_has_no_second_cluster() -> None:
    assert assignment_csv(Assignment.hard(np.array([1])), np.array([False])).splitlines()[1] == "0,1,,,,0"
