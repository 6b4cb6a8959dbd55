"""Stages ``fetch``, ``features`` and ``answers``: what runs load is what they have made."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reproduction.stages import data as stage
from semicrowd.data.cifar10 import load_cifar10
from semicrowd.data.components import SCALINGS, Axes
from semicrowd.data.faces import load_face


@pytest.mark.needs_data
def test_runs_load_the_faces_components(
    public_data: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cmu_faces").symlink_to(public_data("face") / "cmu_faces")
    monkeypatch.setenv("SEMICROWD_DATA", str(tmp_path))
    assert stage.main(["fetch", "face"]) == 0
    before = {scaling: load_face(standardize=scaling).features for scaling in SCALINGS}
    assert stage.main(["features", "face"]) == 0
    assert len(list((tmp_path / "face_features").iterdir())) == len(SCALINGS)

    def compute(*_: object) -> np.ndarray:
        raise AssertionError("computed again")

    monkeypatch.setattr("semicrowd.data.components._compute", compute)
    for scaling, expected in before.items():
        assert load_face(standardize=scaling).features.tobytes() == expected.tobytes()


def test_runs_load_the_axes_of_cifar10(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write_cifar10: Callable[..., dict[str, np.ndarray]]
) -> None:
    monkeypatch.setenv("SEMICROWD_DATA", str(tmp_path))
    write_cifar10(tmp_path, data_batch_1=150, data_batch_2=30, test_batch=20)
    before = load_cifar10()
    stage.main(["features", "cifar10"])

    def compute(*_: object) -> Axes:
        raise AssertionError("computed again")

    monkeypatch.setattr("semicrowd.data.components._compute_axes", compute)
    data = load_cifar10()
    assert data.features.tobytes() == before.features.tobytes()
    assert data.features.shape == (180, 100)
