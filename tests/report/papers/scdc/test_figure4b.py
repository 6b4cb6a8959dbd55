"""Fig. 4b from runs."""

from dataclasses import replace
from pathlib import Path

import matplotlib.image as mpimg
import numpy as np
import pytest

from semicrowd.evaluation.scores import Likeliest
from semicrowd.fitting.result import Assignment
from semicrowd.pipeline.experiments import load_plan
from semicrowd.report.collect import Run
from semicrowd.report.experiments import not_in_profile
from semicrowd.report.papers.scdc import cifar

from ...conftest import build, collected, paper_config
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
    ours = cells["SCDC, with", "accuracy"].ours
    assert ours is not None
    assert len(ours.seeds) == 2
    assert cells["deep MCVC, with", "nmi"].paper is None
    (missing,) = (cell for cell in result.cells if cell.cell == "co-training, with")
    assert missing.remark == not_in_profile("cifar_cotrain_tasks")
    assert [image.path.stem for image in result.images] == ["cifar10-without-answers", "cifar10-with-answers"]
    for image in result.images:
        assert mpimg.imread(tmp_path / image.path).std() > 0.05


def test_without_a_run_there_is_no_image(tmp_path: Path) -> None:
    gone = Run(0, f"results/{TASKS}/seed-0", "unavailable", "get it")
    result = build("figure-4b", collected(**{TASKS: [gone]}), tmp_path)
    assert result.images == ()
    assert {cell.remark for cell in result.cells if cell.cell == "SCDC, with"} == {"data not available here: get it"}


def test_its_experiments_are_those_of_the_profile() -> None:
    plan = load_plan(Path(__file__).parents[4] / "params.yaml")
    assert set(cifar.EXPERIMENTS) <= set(plan.experiments)
