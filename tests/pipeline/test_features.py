"""Stage ``features``."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from semicrowd.data import load_dataset
from semicrowd.data.components import SCALINGS, Axes
from semicrowd.pipeline import features, fetch


@pytest.mark.needs_data
def test_runs_load_what_the_stage_has_made(
    public_data: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = public_data("face") / "cmu_faces"
    monkeypatch.chdir(tmp_path)
    fetch.write_status(dict.fromkeys(fetch.DATA_SETS, ""))
    (tmp_path / "data" / "cmu_faces").symlink_to(source)
    root = tmp_path / "data"
    before = {scaling: load_dataset("face", root, standardize=scaling).features for scaling in SCALINGS}
    features.main(["face_features"])
    assert len(list((root / "face_features").iterdir())) == len(SCALINGS)

    def compute(*_: object) -> np.ndarray:
        raise AssertionError("computed again")

    monkeypatch.setattr("semicrowd.data.components._compute", compute)
    for scaling, expected in before.items():
        assert load_dataset("face", root, standardize=scaling).features.tobytes() == expected.tobytes()


def test_axes_of_cifar10_are_those_that_the_loader_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write_cifar10: Callable[..., dict[str, np.ndarray]]
) -> None:
    monkeypatch.chdir(tmp_path)
    fetch.write_status(dict.fromkeys(fetch.DATA_SETS, ""))
    root = tmp_path / "data"
    write_cifar10(root, data_batch_1=150, data_batch_2=30, test_batch=20)
    before = load_dataset("cifar10", root)
    features.main(["cifar10_features"])

    def compute(*_: object) -> Axes:
        raise AssertionError("computed again")

    monkeypatch.setattr("semicrowd.data.components._compute_axes", compute)
    data = load_dataset("cifar10", root)
    assert data.features.tobytes() == before.features.tobytes()
    assert data.features.shape == (180, 100)
