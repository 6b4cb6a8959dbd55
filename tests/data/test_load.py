"""Data sets by name, and what a Dataset refuses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semicrowd.data import Dataset, load_dataset
from semicrowd.errors import UserError


@pytest.mark.parametrize(
    ("name", "options", "named"),
    [
        ("minst", {}, "data=minst"),
        ("pinwheel", {"num_clases": 3}, "data.num_clases"),
        ("pinwheel", {"num_classes": 0}, "data.num_classes=0"),
        ("pinwheel", {"num_classes": 2.5}, "data.num_classes=2.5"),
        ("pinwheel", {"data_seed": -1}, "data.data_seed=-1"),
        ("mnist", {"size": 3}, "data.size"),
        ("benchmark", {"which": "irs"}, "data.which=irs"),
        ("face", {"pca": 0}, "data.pca=0"),
        ("face", {"pca": 2.5}, "data.pca=2.5"),
        ("face", {"standardize": "befor"}, "data.standardize=befor"),
        ("face", {"pca": None, "standardize": "after"}, "data.standardize=after"),
        ("cifar10", {"pca": 0}, "data.pca=0"),
        ("cifar10", {"pca": 3073}, "data.pca=3073"),
        ("npz", {}, "data.path"),
        ("npz", {"path": "mine"}, "data.path=mine"),
        ("npz", {"path": "*"}, "data.path=*"),
    ],
)
def test_settings_that_are_refused_are_named(tmp_path: Path, name: str, options: dict[str, Any], named: str) -> None:
    with pytest.raises(UserError) as caught:
        load_dataset(name, tmp_path, **options)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        (np.zeros(4, np.float32), None, "features"),
        (np.zeros((0, 3), np.float32), None, "features"),
        (np.array([[0, 1], [np.inf, 2]], np.float32), None, "features, row 1, column 0"),
        (np.zeros((4, 3), np.float32), np.zeros(3, np.int64), "labels"),
        (np.zeros((4, 3), np.float32), np.zeros(4), "labels"),
    ],
)
def test_dataset_refuses_arrays_that_do_not_fit(
    features: np.ndarray, labels: np.ndarray | None, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        Dataset("mine", features, labels)
