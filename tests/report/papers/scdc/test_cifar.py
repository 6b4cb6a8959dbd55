"""Fig. 4b from runs."""

from dataclasses import replace
from pathlib import Path

import matplotlib.image as mpimg
import numpy as np
import pytest

from semicrowd.evaluation.scores import Likeliest
from semicrowd.fitting.result import Assignment
from semicrowd.pipeline.experiments import load_plan
from semicrowd.report.cells import Summary
from semicrowd.report.collect import Run
from semicrowd.report.experiments import not_in_profile
from semicrowd.report.papers.scdc import cifar

from ...conftest import build, collected, on_face, paper_config, summary_of
from ...conftest import finished as finished_on_mnist

NONE, TASKS = cifar.ROWS.values()
OTHER = cifar.OTHERS["deep MCVC, with"]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def finished(experiment: str, seed: int = 0) -> Run:
    model = "scdc" if "scdc" in experiment else "deep_mcvc"
    config = paper_config("figure-4b", "scdc") if model == "scdc" else {"model": {"name": model}}
    return replace(finished_on_mnist(experiment, seed), config=config)


def _with_images(run: Run) -> Run:
    rng = np.random.default_rng(0)
    assignment = Assignment(np.arange(40) % 4, rng.random(40))
    Likeliest.of(assignment, rng.random((40, 3072))).write(Path(run.directory))
    return run


def test_numbers_stand_beside_the_papers_and_each_row_has_its_images(tmp_path: Path) -> None:
    runs = {NONE: [_with_images(finished(NONE))], TASKS: [_with_images(finished(TASKS)), finished(TASKS, 1)]}
    result = build("figure-4b", collected(**runs, **{OTHER: [finished(OTHER)]}), tmp_path)
    cells = {(cell.cell, cell.quantity): cell for cell in result.cells}
    paper = cells["SCDC, with", "nmi"].paper
    assert paper is not None
    assert (paper.value, paper.sd) == (0.5549, 0.0028)
    ours = summary_of(cells["SCDC, with", "accuracy"])
    assert len(ours.seeds) == 2
    assert cells["deep MCVC, with", "nmi"].paper is None
    (missing,) = (cell for cell in result.cells if cell.cell == "co-training, with")
    assert missing.remark == not_in_profile("cifar_cotrain_tasks")
    assert [image.path.stem for image in result.images] == ["cifar10-without-answers", "cifar10-with-answers"]
    for image in result.images:
        assert mpimg.imread(tmp_path / image.path).std() > 0.05


def test_its_experiments_are_those_of_the_profile() -> None:
    plan = load_plan(Path(__file__).parents[4] / "params.yaml")
    assert set(cifar.EXPERIMENTS) <= set(plan.experiments)


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
    assert (best.paper.value, summary_of(best)) == (0.44, Summary(0.25, None, (1,)))
    assert best.remark == "best of 3 by label (oracle); simulated answers; 20000 images"
    assert best.deviations[:2] == ("3 runs (paper: 5)", "20000 of the 50000 training images")
    assert (mean.paper, summary_of(mean)) == (None, Summary(0.1875, 0.0625, (0, 1, 2)))
    assert summary_of(annotated).mean == pytest.approx(0.2875)
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
