"""The figures of a run: which there are, and that the files are images."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.image import imread
from scipy.special import logit
from sklearn.metrics import mean_absolute_error

from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.evaluation.scores import Evaluation
from semicrowd.figures.run import run_figures
from semicrowd.figures.training import curves, restarts
from semicrowd.figures.workers import workers
from semicrowd.result import Assignment, Restarts, Result
from semicrowd.training.callbacks import Snapshots


def found(clusters: np.ndarray, latent: np.ndarray, restarts: int, workers: pd.DataFrame | None) -> Evaluation:
    """What a method has found, in so many restarts, of which the last is the best."""
    items = Assignment.hard(clusters)
    several = Restarts(np.arange(float(restarts)), restarts - 1, np.tile(clusters, (restarts, 1)))
    scores = {"elbo": several.score, "clusters_used": np.full(restarts, 3), "oracle_acc": np.linspace(0.8, 1, restarts)}
    return Evaluation(Result(4, items, items, None, latent, several), None, workers, {}, scores)


def planar() -> dict[str, Any]:
    """A run on 2-d data with three restarts and no annotators."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(3), 20)
    points = rng.normal(size=(60, 2)) + 5.0 * clusters[:, None]
    return {
        "title": "pinwheel bayes none seed 0",
        "data": Dataset("pinwheel", points.astype(np.float32), clusters),
        "result": found(clusters, points, 3, None),
        "rows": [
            {"epoch": n, "elbo/epoch": -1.0 / n, "proportions/used": 3, "proportions/effective": 2.9} for n in (1, 2)
        ],
        "generated": (rng.normal(size=(4, 10, 2)), np.array([0.4, 0.3, 0.3, 0.0])),
    }


def images() -> dict[str, Any]:
    """A run on images without labels, with annotators, one restart, a latent line."""
    rng = np.random.default_rng(0)
    rates = {f"{name}{end}": 0.5 for name in ("sensitivity", "specificity") for end in ("", "_low", "_high")}
    truth = {"true_sensitivity": np.nan, "true_specificity": np.nan}
    workers = pd.DataFrame({"annotator": ["ann", "bob"], "pairs": 9, **rates, "weight": 0.0, **truth})
    return planar() | {
        "data": Dataset("images", rng.random((60, 12)).astype(np.float32), image_shape=(3, 4)),
        "result": found(np.repeat(np.arange(3), 20), rng.normal(size=(60, 1)), 1, workers),
        "generated": (rng.random((4, 10, 12)), planar()["generated"][1]),
    }


def test_planar_data(tmp_path: Path) -> None:
    paths = run_figures(tmp_path / "figures", **planar())
    assert [path.name for path in paths] == ["clusters.png", "latent.png", "samples.png", "curves.png", "restarts.png"]
    for path in paths:
        height, width, _ = imread(path).shape
        assert min(height, width) > 400
    assert sorted(tmp_path.rglob("*")) == sorted([tmp_path / "figures", *paths])  # no temporary file stays


def test_snapshots_of_images_are_drawn_and_those_of_points_are_not(tmp_path: Path) -> None:
    snapshots = Snapshots(np.arange(2), np.full((2, 4), 0.25), np.random.default_rng(0).random((2, 4, 12)))
    names = [path.name for path in run_figures(tmp_path, **images(), snapshots=snapshots)]
    assert names == ["samples.png", "workers.png", "curves.png", "training_samples.png"]
    drawn = run_figures(tmp_path, **planar(), snapshots=snapshots)
    assert "training_samples.png" not in [path.name for path in drawn]


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "figures").write_text("")
    with pytest.raises(UserError, match="figures"):
        run_figures(tmp_path / "figures", **planar())


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = run_figures(tmp_path / "a", **planar()), run_figures(tmp_path / "b", **planar())
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def array(drawn: Any) -> np.ndarray:
    """What matplotlib gives back, as numbers."""
    return np.asarray(drawn, float)


def rows(elbo: np.ndarray) -> list[dict[str, float]]:
    return [
        {"epoch": n + 1, "elbo/epoch": value, "proportions/used": 15 - n % 3, "proportions/effective": 9.5}
        for n, value in enumerate(elbo)
    ]


def test_curves_are_those_of_the_rows() -> None:
    elbo = np.linspace(-900.0, -800.0, 8)
    upper, lower = curves(rows(elbo), "title").axes
    np.testing.assert_allclose(array(upper.lines[0].get_xydata()), np.stack([np.arange(1, 9), elbo], -1))
    assert [line.get_ydata()[0] for line in lower.lines] == [15, 9.5]  # type: ignore[index]
    assert upper.get_ylim()[0] < -900
    assert "below the axis" not in upper.get_title()


def test_a_noisy_course_is_a_median_over_faint_epochs() -> None:
    noise = np.random.default_rng(0).normal(size=200)
    elbo = np.linspace(-1000, -990, 200) + 5 * noise
    faint, course = curves(rows(elbo), "title").axes[0].lines
    np.testing.assert_allclose(array(faint.get_ydata()), elbo)
    assert "median of 11 epochs" in str(course.get_label())
    np.testing.assert_allclose(array(course.get_ydata())[100], np.median(elbo[95:106]))
    assert np.diff(array(course.get_ydata())).std() < 0.2 * np.diff(elbo).std()
    smooth = curves(rows(np.linspace(-1000, -990, 200)), "title").axes[0]
    assert len(smooth.lines) == 1


def test_the_chosen_restart_is_ringed() -> None:
    columns = {
        "elbo": np.array([-3.0, -1.0, -2.0]),
        "clusters_used": np.array([4, 5, 6]),
        "oracle_acc": np.array([0.9, 0.8, 0.7]),
    }
    axes = restarts(columns, 1, "title").axes[0]
    points, ring = axes.collections
    np.testing.assert_allclose(array(points.get_offsets()), [[-3, 0.9], [-1, 0.8], [-2, 0.7]])
    np.testing.assert_allclose(array(points.get_array()), [4, 5, 6])
    np.testing.assert_allclose(array(ring.get_offsets()), [[-1, 0.8]])


def test_restarts_without_labels_stand_over_their_cluster_count() -> None:
    columns = {
        "elbo": np.array([-3.0, -1.0]), "clusters_used": np.array([4, 5]), "oracle_acc": np.full(2, np.nan),
    }  # fmt: skip
    axes = restarts(columns, 1, "title").axes
    assert len(axes) == 1
    assert axes[0].get_ylabel() == "clusters used"
    np.testing.assert_allclose(array(axes[0].collections[0].get_offsets()), [[-3, 4], [-1, 5]])


def table(truth: bool = True, count: int = 6) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    sensitivity, specificity = rng.uniform(0.6, 0.95, count), rng.uniform(0.6, 0.95, count)
    unknown = np.full(count, np.nan)
    true_sensitivity = np.clip(sensitivity + 0.03, 0, 1)
    true_sensitivity[2] = 1.0  # never wrong
    return pd.DataFrame({
        "annotator": [f"w{m}" for m in range(count)],
        "pairs": 49,
        "sensitivity": sensitivity,
        "sensitivity_low": sensitivity - 0.05,
        "sensitivity_high": sensitivity + 0.02,
        "specificity": specificity,
        "specificity_low": specificity - 0.01,
        "specificity_high": specificity + 0.04,
        "weight": logit(sensitivity) + logit(specificity),
        "true_sensitivity": true_sensitivity if truth else unknown,
        "true_specificity": specificity - 0.01 if truth else unknown,
    })


def row_names(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def test_estimates_intervals_and_truth_stand_in_their_row() -> None:
    data = table()
    axes = workers(data, "title").axes
    names = row_names(axes[0])
    assert sorted(names) == [f"w{m}" for m in range(6)]
    ordered = data.set_index("annotator").loc[names]
    assert (np.diff(ordered["weight"]) <= 0).all()
    assert axes[0].yaxis_inverted()  # the most reliable on top
    for panel, name in zip(axes[1:], ("sensitivity", "specificity"), strict=False):
        estimate, truth = ordered[name].to_numpy(), ordered[f"true_{name}"].to_numpy()
        interval = ordered[[f"{name}_low", f"{name}_high"]].to_numpy()
        container = panel.containers[0]
        assert isinstance(container, ErrorbarContainer)
        points, _, (bars,) = container
        np.testing.assert_allclose(points.get_xdata(), estimate)
        np.testing.assert_allclose([bar[:, 0] for bar in bars.get_segments()], interval)
        diamonds = np.asarray(panel.collections[-1].get_offsets())
        np.testing.assert_allclose(diamonds, np.stack([truth, np.arange(6)], -1))
        assert f"mean absolute error {mean_absolute_error(truth, estimate):.3f}" in panel.get_title()
