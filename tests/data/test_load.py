"""Data sets by name, and what a Dataset refuses."""

from pathlib import Path

import numpy as np
import pytest

from semicrowd.data import Dataset, load_dataset
from semicrowd.errors import UserError


def test_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(UserError, match=r"^data=minst: .*pinwheel, .*mnist"):
        load_dataset("minst", Path("unused"))


def test_unknown_option_is_refused() -> None:
    with pytest.raises(UserError, match=r"^data\.num_clases: .*num_classes"):
        load_dataset("pinwheel", Path("unused"), num_clases=3)
    with pytest.raises(UserError, match=r"^data\.size: no such setting; there are subset, data_seed"):
        load_dataset("mnist", Path("unused"), size=3)


def test_dataset_names_the_place_of_a_bad_number() -> None:
    features = np.zeros((4, 3), np.float32)
    features[2, 1] = np.inf
    with pytest.raises(UserError, match=r"features, row 2, column 1: not a finite number"):
        Dataset("mine", features)


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        (np.zeros(4, np.float32), None, "expected a table of floats"),
        (np.zeros((0, 3), np.float32), None, "at least 1 × 1"),
        (np.zeros((4, 3), np.float32), np.zeros(3, np.int64), "labels: expected 4 int64"),
        (np.zeros((4, 3), np.float32), np.zeros(4), "labels: expected 4 int64, got float64"),
    ],
)
def test_dataset_refuses_arrays_that_do_not_fit(
    features: np.ndarray, labels: np.ndarray | None, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        Dataset("mine", features, labels)
