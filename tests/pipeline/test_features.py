"""Stage ``face_features``."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from semicrowd.data import load_dataset
from semicrowd.data.components import SCALINGS
from semicrowd.data.faces import FEATURES
from semicrowd.pipeline import features, fetch


def write_status(message: str) -> None:
    fetch.STATUS.parent.mkdir(exist_ok=True)
    fetch.STATUS.write_text(json.dumps({"face": {"available": not message, "message": message}}))


@pytest.mark.needs_data
def test_runs_load_what_the_stage_has_made(
    public_data: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = public_data("face") / "cmu_faces"
    monkeypatch.chdir(tmp_path)
    write_status("")
    (tmp_path / "data" / "cmu_faces").symlink_to(source)
    root = tmp_path / "data"
    before = {scaling: load_dataset("face", root, standardize=scaling).features for scaling in SCALINGS}
    assert len(features.make_features(root)) == len(SCALINGS)

    def compute(*_: object) -> np.ndarray:
        raise AssertionError("computed again")

    monkeypatch.setattr("semicrowd.data.components._compute", compute)
    for scaling, expected in before.items():
        assert load_dataset("face", root, standardize=scaling).features.tobytes() == expected.tobytes()


def test_without_the_faces_there_is_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_status("put them there")
    features.main([])
    assert list((tmp_path / "data" / FEATURES).iterdir()) == []
