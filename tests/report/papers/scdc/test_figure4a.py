"""Fig. 4a from the snapshots of runs."""

from pathlib import Path

import matplotlib.image as mpimg
import numpy as np
import pytest

from semicrowd.fitting.snapshots import Snapshots, write_snapshots
from semicrowd.report.collect import Run
from semicrowd.report.experiments import not_in_profile
from semicrowd.report.papers.scdc import mnist

from ...conftest import build, collected, finished

PAPER, OURS = mnist.SNAPSHOTS["paper"], mnist.SNAPSHOTS["semicrowd"]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def snapshots(weights: list[list[float]], epochs: list[int]) -> Snapshots:
    rng = np.random.default_rng(0)
    return Snapshots(np.array(epochs), np.array(weights), rng.random((len(epochs), len(weights[0]), 784)))


def test_each_protocol_has_an_image_of_its_first_run_and_its_numbers_of_clusters(tmp_path: Path) -> None:
    ours, paper = finished(OURS, 2), finished(PAPER, 0, {"because": "no network"})
    write_snapshots(snapshots([[0.5, 0.3, 0.2], [0.996, 0.002, 0.002]], [0, 26]), Path(ours.directory))
    write_snapshots(snapshots([[0.6, 0.399, 0.001]], [4]), Path(paper.directory))
    result = build("figure-4a", collected(**{OURS: [ours, finished(OURS, 3)], PAPER: [paper]}), tmp_path)
    assert {cell.cell: cell.ours.mean for cell in result.cells if cell.ours} == {
        "protocol paper, after epoch 4": 2,
        "protocol semicrowd, at the start": 3,
        "protocol semicrowd, after epoch 26": 1,
    }
    assert [cell.remark for cell in result.cells] == ["simulated answers", "", ""]
    assert result.status == "done"
    assert result.simulated
    assert [image.path.stem for image in result.images] == ["mnist-training-paper", "mnist-training-semicrowd"]
    for image in result.images:
        assert mpimg.imread(tmp_path / image.path).std() > 0.05  # not an empty sheet
    assert "the start and after epochs 26" in result.images[1].caption
    assert "seed 2" in result.images[1].caption


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    unavailable = Run(0, f"results/{PAPER}/seed-0", "unavailable", "get it")
    result = build("figure-4a", collected(**{OURS: [finished(OURS)], PAPER: [unavailable]}), tmp_path)
    paper, ours = (cell.remark for cell in result.cells)
    assert (paper, ours) == ("data not available here: get it", "its run has kept no snapshots")
    assert (result.status, result.images) == ("not yet done", ())
    assert [cell.remark for cell in build("figure-4a", collected(), tmp_path).cells] == [
        not_in_profile(PAPER), not_in_profile(OURS)
    ]  # fmt: skip
