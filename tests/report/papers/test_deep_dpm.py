"""Fig. 1 of the deep DPM paper in the report."""

from pathlib import Path

import pytest

from semicrowd.data import load_dataset
from semicrowd.files import MODEL
from semicrowd.methods.deep_dpm import DeepDPM
from semicrowd.report.collect import Collected, Run
from semicrowd.report.experiments import not_in_profile
from semicrowd.report.papers.deep_dpm import EXHIBITS

FIGURE = next(one for one in EXHIBITS if one.key == "figure-1")


def run(seed: int, acc: float, directory: str = "") -> Run:
    metrics = {"train/acc": acc, "train/nmi": 0.8, "clusters/occupied": 2}
    data = {"name": "shapes", "which": "moons", "data_seed": 0, "points_per_class": 20}
    model = {"name": "deep_dpm", "n_layers": 6, "width": 8, "splits": 10, "unions": False, "n_start": 1}
    return Run(seed, directory, "finished", metrics=metrics, config={"data": data, "model": model})


def test_cells_and_the_picture_of_the_first_seed(tmp_path: Path) -> None:
    points = load_dataset("shapes", Path("unused"), which="moons", points_per_class=20).features
    DeepDPM(n_warm=1, n_epochs=3, n_steps=2, n_start=4, width=8, keep_every=2).fit(points).save(tmp_path / MODEL)
    runs = [run(0, 1.0, str(tmp_path)), run(1, 0.96), run(2, 0.7)]
    result = FIGURE.build(Collected("laptop", {}, {"deep_moons_deep_dpm": runs}), tmp_path)
    found = {(cell.cell, cell.quantity): cell for cell in result.cells}
    cell = found["two moons, deep DPM", "acc"]
    assert cell.ours is not None
    assert cell.ours.mean == pytest.approx(2.66 / 3)
    assert {
        "units of each: 8 (paper: 512)", "splits and merges proposed before a sweep of the first epochs: 10 (paper: 0)",
        "clusters of the first partition (1: items are seated one by one): 1 (paper: not said)",
    } < set(cell.deviations)  # fmt: skip
    assert not any("joined at the end" in line for line in cell.deviations)
    count = found["two moons, deep DPM, number of seeds of 3 with ACC >= 0.95", "count"].ours
    assert count is not None
    assert (count.mean, count.seeds) == (2, (0, 1, 2))
    assert found["three long Gaussians, deep DPM", "acc"].remark == not_in_profile("deep_gaussians_deep_dpm")
    (image,) = result.images
    assert (tmp_path / image.path).stat().st_size > 10_000
    assert "after 2 epochs; after 4 epochs" in image.caption
