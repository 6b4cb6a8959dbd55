"""Table 1: both protocols beside the paper, rows of our own, numbers that are not there."""

from dataclasses import replace
from pathlib import Path

import matplotlib.image as mpimg
import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer

from semicrowd.fitting.snapshots import Snapshots, write_snapshots
from semicrowd.report.cells import Cell
from semicrowd.report.collect import Collected, Run
from semicrowd.report.exhibits import Result
from semicrowd.report.experiments import Row, mean_of, metric, not_in_profile
from semicrowd.report.papers.scdc import mnist

from ...conftest import build, collected, exhibit, finished, summary_of


def table_1(folder: Path, *runs: Run) -> Result:
    by_name: dict[str, list[Run]] = {}
    for run in runs:
        by_name.setdefault(Path(run.directory).parent.name, []).append(run)
    return build("table-1", collected(**by_name), folder)


def cells(result: Result) -> dict[tuple[str, str], Cell]:
    found = {(cell.cell, cell.quantity): cell for cell in result.cells}
    assert len(found) == len(result.cells)  # no row is there twice
    return found


def test_each_cell_of_the_paper_stands_beside_a_run_of_either_protocol(tmp_path: Path) -> None:
    accuracy = {row.experiment: 0.5 + 0.01 * number for number, row in enumerate(mnist.PAPER_ROWS)}
    result = table_1(tmp_path, *(finished(name, test__acc=value) for name, value in accuracy.items()))
    found = cells(result)
    for model, label in (("scdc", "SCDC"), ("bayes", "BayesSCDC")):
        for answers, name in (("none", "without"), ("crowd", "with")):
            for protocol, prefix in (("paper", "whole_"), ("semicrowd", "")):
                row = f"{label}, {name}; protocol {protocol}"
                ours = summary_of(found[row, "accuracy"])
                assert ours.mean == accuracy[f"mnist_{prefix}{model}_{answers}"]
                paper = {v.quantity: v for v in exhibit("table-1").values if v.cell == f"{label}, {name}"}
                assert {q: found[row, q].paper for q in ("accuracy", "nmi", "seconds_per_epoch")} == paper
    assert result.status == "done"
    assert len(accuracy) == 8


def test_a_protocol_that_has_not_run_leaves_the_table_partly_done(tmp_path: Path) -> None:
    result = table_1(tmp_path, finished("mnist_bayes_crowd"))
    assert result.status == "partly done"
    missing = cells(result)["BayesSCDC, with; protocol paper", "accuracy"]
    assert (missing.ours, missing.remark) == (None, not_in_profile("mnist_whole_bayes_crowd"))


def test_rows_without_a_number_of_the_paper_are_there_before_they_have_run(tmp_path: Path) -> None:
    before = cells(table_1(tmp_path))
    for row in mnist.OTHER_ROWS:
        cell = before[row.label, "accuracy"]
        assert (cell.ours, cell.paper, cell.remark) == (None, None, not_in_profile(row.experiment))
        after = cells(table_1(tmp_path, finished(row.experiment, test__nmi=0.7)))[row.label, "nmi, arithmetic"]
        assert (summary_of(after).mean, after.paper) == (0.7, None)


def test_ranks_are_averaged_over_the_runs_that_have_one_and_the_others_are_named(tmp_path: Path) -> None:
    name = "mnist_simulated_tasks"
    one, other = finished(name, 0, workers__sensitivity_rank=0.4), finished(name, 3)
    del other.metrics["workers/sensitivity_rank"]
    found = cells(table_1(tmp_path, one, other))
    label = "BayesSCDC, simulated tasks, sensitivity .7, specificity .85"
    rank = found[label, "sensitivity rank"]
    assert (summary_of(rank).mean, summary_of(rank).seeds, rank.remark) == (0.4, (0,), "seed 3: not defined")
    nowhere = found[label, "specificity rank"]
    assert (nowhere.ours, nowhere.remark) == (None, "seed 0: not defined; seed 3: not defined")


@pytest.mark.parametrize("row", mnist.PAPER_ROWS + mnist.OTHER_ROWS, ids=lambda row: row.experiment)
def test_annotators_have_errors_where_there_are_answers(row: Row, tmp_path: Path) -> None:
    found = cells(table_1(tmp_path, finished(row.experiment)))
    quantities = {quantity for label, quantity in found if label == row.label}
    assert ("sensitivity error" in quantities) == ("none" not in row.experiment)
    assert {"accuracy", "nmi", "clusters"} <= quantities


TABLE_1 = exhibit("table-1")


def of(accuracy: dict[int, list[float]], **answers: str) -> Collected:
    """Finished runs with these accuracies by number of tasks."""
    runs: dict[str, list[Run]] = {}
    for tasks, values in accuracy.items():
        name = mnist.TASKS[tasks]
        runs[name] = [finished(name, seed, answers, test__acc=value) for seed, value in enumerate(values)]
    return collected(**runs)


def test_rows_are_means_over_the_seeds_there_are() -> None:
    cells = mnist.task_cells(of({0: [0.9], 20: [0.9, 0.94]}), TABLE_1)
    accuracy = {cell.cell: cell for cell in cells if cell.quantity == "accuracy"}
    assert [*accuracy] == [f"BayesSCDC, {tasks} tasks" for tasks in (0, 5, 10, 20, 45, 91)]
    summary = summary_of(accuracy["BayesSCDC, 20 tasks"])
    assert (summary.mean, summary.sd) == pytest.approx((0.92, np.std([0.9, 0.94], ddof=1)))
    assert accuracy["BayesSCDC, 45 tasks"].ours is None
    assert accuracy["BayesSCDC, 45 tasks"].remark == not_in_profile("mnist_tasks_45")
    assert {cell.paper for cell in cells} == {None}  # the paper's numbers stand beside the table's own rows


def test_points_are_means_and_bars_standard_deviations(tmp_path: Path) -> None:
    values = {0: [0.9], 20: [0.9, 0.94], 91: [0.95, 0.95]}
    found = {tasks: summary for tasks, v in values.items() if (summary := mean_of(
        of({tasks: v}).finished(mnist.TASKS[tasks]), metric("test/acc")))}  # fmt: skip
    axes = mnist.draw_tasks(found, {0: TABLE_1.value("BayesSCDC, without", "accuracy"),
                                   91: TABLE_1.value("BayesSCDC, with", "accuracy")}).axes[0]
    ours, paper = (c for c in axes.containers if isinstance(c, ErrorbarContainer))
    np.testing.assert_allclose(ours[0].get_xydata(), [[0, 0.9], [20, 0.92], [91, 0.95]])
    half = float(np.std([0.9, 0.94], ddof=1))
    ends = np.array([bar[:, 1] for bar in ours[2][0].get_segments()])
    np.testing.assert_allclose(ends, [[0.9, 0.9], [0.92 - half, 0.92 + half], [0.95, 0.95]])
    np.testing.assert_allclose(paper[0].get_xydata(), [[0, 0.7764], [91, 0.8424]])


def test_the_caption_says_what_is_missing_and_what_is_simulated(tmp_path: Path) -> None:
    (image,) = mnist.task_images(of({0: [0.9], 91: [0.95]}), TABLE_1, tmp_path)
    assert "5, 10, 20, 45 tasks" in image.caption
    assert "imulated" not in image.caption
    assert mpimg.imread(tmp_path / image.path).std() > 0.05  # not an empty sheet
    (image,) = mnist.task_images(of({5: [0.9, 0.8], 91: [0.95]}, because="no network"), TABLE_1, tmp_path)
    assert "imulated answers at 5, 91 tasks" in image.caption


def test_recorded_runs_are_points_where_the_profile_has_none(tmp_path: Path) -> None:
    known = of({20: [0.9], 91: [0.95]})
    (image,) = mnist.task_images(replace(known, runs={}, recorded=known.runs), TABLE_1, tmp_path)
    assert "Not there: 0, 5, 10, 45 tasks." in image.caption
    assert mpimg.imread(tmp_path / image.path).std() > 0.05


def test_one_point_is_no_curve(tmp_path: Path) -> None:
    assert mnist.task_images(of({91: [0.95]}), TABLE_1, tmp_path) == ()
    assert not list(tmp_path.iterdir())


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
