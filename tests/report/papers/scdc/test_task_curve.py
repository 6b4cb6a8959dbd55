"""The accuracy against the number of tasks: rows, points, what is missing."""

from dataclasses import replace
from pathlib import Path

import matplotlib.image as mpimg
import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer

from semicrowd.report.collect import Collected, Run
from semicrowd.report.experiments import mean_of, metric, not_in_profile
from semicrowd.report.papers.scdc import mnist

from ...conftest import collected, exhibit, finished

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
    summary = accuracy["BayesSCDC, 20 tasks"].ours
    assert summary is not None
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
    assert "one run each" in image.caption
    assert "Not there: 5, 10, 20, 45 tasks." in image.caption
    assert "imulated" not in image.caption
    assert mpimg.imread(tmp_path / image.path).std() > 0.05  # not an empty sheet
    (image,) = mnist.task_images(of({5: [0.9, 0.8], 91: [0.95]}, because="no network"), TABLE_1, tmp_path)
    assert "over up to 2 runs" in image.caption
    assert "Simulated answers at 5, 91 tasks." in image.caption


def test_recorded_runs_are_points_where_the_profile_has_none(tmp_path: Path) -> None:
    known = of({20: [0.9], 91: [0.95]})
    (image,) = mnist.task_images(replace(known, runs={}, recorded=known.runs), TABLE_1, tmp_path)
    assert "Not there: 0, 5, 10, 45 tasks." in image.caption
    assert mpimg.imread(tmp_path / image.path).std() > 0.05


def test_one_point_is_no_curve(tmp_path: Path) -> None:
    assert mnist.task_images(of({91: [0.95]}), TABLE_1, tmp_path) == ()
    assert not list(tmp_path.iterdir())
