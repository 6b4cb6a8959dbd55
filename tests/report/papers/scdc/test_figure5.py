"""Fig. 5: the runs of Fig. 3b that it shows, and the paper's numbers on CIFAR-10."""

from pathlib import Path

import pytest

from semicrowd.report.collect import Run
from semicrowd.report.experiments import not_in_profile

from ...conftest import build, collected, on_face

ANSWERS = {"num_pairs": 151200, "num_annotators": 32, "num_annotated": 4000, "simulated": True}


def on_cifar10(folder: Path, nmi: list[float]) -> list[Run]:
    """Finished runs of deep MCVC on 20,000 images, without a test split."""
    runs = []
    for seed, value in enumerate(nmi):
        directory = folder / f"seed-{seed}"
        directory.mkdir()
        (directory / "provenance.json").write_text('{"num_items": 20000}')
        config = {"data": {"pca": 100}, "model": {"name": "deep_mcvc", "n_restarts": 3}}
        metrics = {"final/nmi": value, "annotated/nmi": value + 0.1}
        runs.append(Run(seed, str(directory), "finished", metrics=metrics, config=config, answers=ANSWERS))
    return runs


def test_on_cifar10_the_best_run_stands_beside_the_papers_and_the_mean_by_itself(tmp_path: Path) -> None:
    result = build("figure-5", collected(cifar_deep_mcvc=on_cifar10(tmp_path, [0.125, 0.25, 0.1875])), tmp_path)
    rows = {cell.cell: cell for cell in result.cells if "deep MCVC on CIFAR-10" in cell.cell}
    best, mean, annotated = rows.values()
    assert best.paper is not None
    assert best.ours is not None
    assert (best.paper.value, best.ours.mean, best.ours.sd, best.ours.seeds) == (0.44, 0.25, None, (1,))
    assert best.remark == "best of 3 by label (oracle); simulated answers; 20000 images"
    assert best.deviations[:2] == ("3 runs (paper: 5)", "20000 of the 50000 training images")
    assert mean.ours is not None
    assert (mean.paper, mean.ours.mean, mean.ours.sd) == (None, 0.1875, 0.0625)
    assert annotated.ours is not None
    assert annotated.ours.mean == pytest.approx(0.2875)
    assert result.simulated
    assert result.status == "partly done"
    assert "python src/train.py cifar_deep_mcvc" in result.commands


def test_without_the_images_the_row_says_how_to_get_them(tmp_path: Path) -> None:
    missing = [Run(seed, f"results/seed-{seed}", "unavailable", "put them there") for seed in (0, 1)]
    result = build("figure-5", collected(cifar_deep_mcvc=missing), tmp_path)
    remarks = {cell.cell: cell.remark for cell in result.cells if cell.paper}
    assert remarks == {
        "deep MCVC on CIFAR-10, best of 5 runs": "data not available here: put them there",
        "SCDC on CIFAR-10": not_in_profile("cifar_scdc_tasks"),
    }


def test_deep_mcvc_stands_beside_the_others_on_face(tmp_path: Path) -> None:
    runs = collected(
        face_100_deep_mcvc=on_face("deep_mcvc", "face_100", {2000: [0.63, 0.65]}),
        face_100_mcvc=on_face("mcvc", "face_100", {2000: [0.56, 0.57]}),
        face_100_cspa=on_face("cspa", "face_100", {2000: [0.4]}),
    )
    result = build("figure-5", runs, tmp_path)
    ours = {cell.cell: round(cell.ours.mean, 3) for cell in result.cells if cell.ours}
    assert ours == {
        "deep MCVC, 2000 answers each": 0.64, "MCVC, 2000 answers each": 0.565,
        "deep MCVC minus MCVC, 2000 answers each": 0.075,
    }  # fmt: skip
    printed = {cell.cell: (cell.paper.value, cell.remark) for cell in result.cells if cell.paper}
    assert {name: value for name, (value, _) in printed.items()} == {
        "deep MCVC on CIFAR-10, best of 5 runs": 0.44,
        "SCDC on CIFAR-10": 0.55,
    }
    missing = [not_in_profile(name) for name in ("cifar_deep_mcvc", "cifar_scdc_tasks")]
    assert [remark for _, remark in printed.values()] == missing
    assert result.status == "partly done"
    assert (tmp_path / result.images[0].path).is_file()
    assert "Not there: SCDC, BayesSCDC." in result.images[0].caption
