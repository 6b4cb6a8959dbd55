"""The figures of a run: which there are, that the files are images, and what stands where in them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.image import imread
from scipy.special import logit
from sklearn.metrics import mean_absolute_error, silhouette_score

from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.evaluation.scores import Evaluation
from semicrowd.figures.images import image_samples, training_samples
from semicrowd.figures.plane import sampled_points, scatter
from semicrowd.figures.run import curves, restarts, run_figures, workers
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
        "rows": rows(np.array([-1.0, -0.5])),
        "generated": (rng.normal(size=(4, 10, 2)), np.array([0.4, 0.3, 0.3, 0.0])),
    }


def images() -> dict[str, Any]:
    """A run on images without labels, with annotators, one restart, a latent line."""
    rng = np.random.default_rng(0)
    workers = table().assign(true_sensitivity=np.nan, true_specificity=np.nan)
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


@pytest.mark.parametrize("accuracy", [[0.9, 0.8, 0.7], [np.nan] * 3])
def test_restarts_stand_over_their_accuracy_or_their_clusters_and_the_chosen_one_is_ringed(accuracy: Any) -> None:
    elbo, used = [-3.0, -1.0, -2.0], [4, 5, 6]
    columns = {"elbo": np.array(elbo), "clusters_used": np.array(used), "oracle_acc": np.array(accuracy)}
    points, ring = restarts(columns, 1, "title").axes[0].collections
    height = used if np.isnan(accuracy).any() else accuracy
    np.testing.assert_allclose(array(points.get_offsets()), np.stack([elbo, height], -1))
    np.testing.assert_allclose(array(ring.get_offsets()), [[-1, height[1]]])


def table() -> pd.DataFrame:
    """Six annotators whose true rates are known; the third is never wrong about pairs of one class."""
    sensitivity, specificity = np.random.default_rng(0).uniform(0.6, 0.95, (2, 6))
    true = np.clip(sensitivity + 0.03, 0, 1)
    true[2] = 1.0
    ends = {"sensitivity_low": sensitivity - 0.05, "sensitivity_high": sensitivity + 0.02,
            "specificity_low": specificity - 0.01, "specificity_high": specificity + 0.04}  # fmt: skip
    return pd.DataFrame({
        "annotator": [f"w{m}" for m in range(6)], "pairs": 49, "sensitivity": sensitivity, "specificity": specificity,
        **ends, "weight": logit(sensitivity) + logit(specificity), "true_sensitivity": true,
        "true_specificity": specificity - 0.01,
    })  # fmt: skip


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


WEIGHTS = np.array([[0.5, 0.25, 0.25], [0.1, 0.3, 0.6]])


def mosaic(axes: Axes) -> np.ndarray:
    """What is drawn, [height, width, 3]."""
    return np.asarray(axes.images[0].get_array())


def pieces(mosaic: np.ndarray, height: int, width: int) -> np.ndarray:
    """The images in a mosaic with a pixel between them, [rows, columns, height, width, ...]."""
    rows, columns = mosaic.shape[0] // (height + 1), mosaic.shape[1] // (width + 1)
    return np.array([
        [mosaic[r * (height + 1) + 1 :, c * (width + 1) + 1 :][:height, :width] for c in range(columns)]
        for r in range(rows)
    ])  # fmt: skip


def test_rows_are_the_clusters_in_use_by_proportion() -> None:
    samples = np.random.default_rng(0).random((4, 3, 6))
    (axes,) = image_samples(samples, np.array([0.3, 0.001, 0.5, 0.199]), (2, 3), "title").axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["cluster 2: 50.0 %", "cluster 0: 30.0 %", "cluster 3: 19.9 %"]
    expected = samples[[2, 0, 3]].reshape(3, 3, 2, 3, 1).repeat(3, axis=-1)
    np.testing.assert_allclose(pieces(mosaic(axes), 2, 3), expected)


@pytest.mark.parametrize("shape", [(2, 4), (3, 2, 4)])
def test_a_row_is_an_epoch_a_column_a_cluster_and_brightness_its_proportion(shape: tuple[int, ...]) -> None:
    samples = np.random.default_rng(0).random((2, 3, int(np.prod(shape))))
    axes = training_samples(Snapshots(np.array([0, 7]), WEIGHTS, samples), shape, "title").axes[0]
    drawn = pieces(mosaic(axes), 2, 4)
    assert drawn.shape[:2] == (2, 3)
    for epoch in range(2):
        for column, cluster in enumerate((2, 1, 0)):  # by their last proportions
            image = samples[epoch, cluster].reshape(shape)
            image = np.moveaxis(image, 0, -1) if len(shape) == 3 else image[:, :, None]
            bright = WEIGHTS[epoch, cluster] / WEIGHTS[epoch].max()
            np.testing.assert_allclose(drawn[epoch, column], np.broadcast_to(bright * image, (2, 4, 3)))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["start: 3 in use", "epoch 7: 3 in use"]


def drawn(axes: Axes) -> dict[str, tuple[np.ndarray, str]]:
    """Points and colour of every group, by its legend entry's name without the share."""
    found = {}
    for collection in axes.collections:
        name = str(collection.get_label()).split(":")[0]
        colour = tuple(np.asarray(collection.get_facecolor())[0, :3].tolist())
        found[name] = (np.asarray(collection.get_offsets()), to_hex(colour))
    return found


def groups(sizes: list[int], dimensions: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Far groups of points."""
    rng = np.random.default_rng(seed)
    names = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=(len(names), dimensions)) + 20 * rng.normal(size=(len(sizes), dimensions))[names], names


def test_every_point_is_drawn_in_its_group() -> None:
    points, clusters = groups([30, 50, 20])
    axes = scatter(points, clusters, None, None, "title", "feature").axes
    assert len(axes) == 1
    found = drawn(axes[0])
    assert list(found) == ["cluster 1", "cluster 0", "cluster 2"]  # the largest first
    for cluster in range(3):
        np.testing.assert_allclose(found[f"cluster {cluster}"][0], points[clusters == cluster])
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == ("feature 1", "feature 2")
    assert "cluster 1: 50.0 %" in [text.get_text() for text in axes[0].get_legend().get_texts()]


def test_a_class_has_the_colour_of_its_cluster() -> None:
    points, clusters = groups([40, 30, 20, 10])
    labels = np.array([2, 0, 3, 1])[clusters]
    labels[clusters == 3] = 0  # class 1 has no cluster, and 0 two
    left, right = scatter(points, clusters, labels, None, "title", "feature").axes
    clusters_drawn, classes_drawn = drawn(left), drawn(right)
    for cluster, label in ((0, 2), (1, 0), (2, 3)):
        assert clusters_drawn[f"cluster {cluster}"][1] == classes_drawn[f"class {label}"][1]
    assert len({colour for _, colour in clusters_drawn.values()}) == 4


@pytest.mark.parametrize("unused", [0, 3])
def test_more_dimensions_show_the_clusters_apart(unused: int) -> None:
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(3), 100)
    centres = np.zeros((3, 6))
    centres[:, 4:] = [[0, 0], [6, 0], [0, 6]]
    # The dimensions of largest variance say nothing of the clusters.
    points = centres[clusters] + rng.normal(size=(300, 6)) * [20, 20, 20, 20, 1, 1]
    points = np.concatenate([points, np.zeros((300, unused))], axis=1)
    axes = scatter(points, clusters, None, None, "title", "latent dimension").axes[0]
    assert axes.get_xlabel() == f"discriminant 1 of {6 + unused} latent dimensions"
    found = drawn(axes)
    plane = np.concatenate([found[f"cluster {k}"][0] for k in range(3)])
    assert silhouette_score(plane, clusters) > 0.6 > 0.1 > silhouette_score(points, clusters)


def test_without_three_clusters_principal_components_are_drawn() -> None:
    points, clusters = groups([50, 30], dimensions=4)
    axes = scatter(points, clusters, None, None, "title", "latent dimension").axes[0]
    assert axes.get_xlabel() == "principal component 1 of 4 latent dimensions"
    found = np.concatenate([drawn(axes)[f"cluster {k}"][0] for k in range(2)])
    variances = np.linalg.eigvalsh(np.cov(points.T))[::-1]
    np.testing.assert_allclose(found.var(0, ddof=1), variances[:2], rtol=1e-6)


def test_samples_have_the_colours_of_the_scatter_plot() -> None:
    points, clusters = groups([10, 30, 20])
    samples = np.stack([points[clusters == k][:5] for k in range(3)] + [np.zeros((5, 2))])
    weights = np.array([0.2, 0.497, 0.3, 0.003])
    found = drawn(sampled_points(points, clusters, samples, weights, "title").axes[0])
    assert list(found) == ["_child0", "cluster 1", "cluster 2", "cluster 0"]  # 3 has no weight
    other = drawn(scatter(points, clusters, None, None, "title", "feature").axes[0])
    for k in range(3):
        np.testing.assert_allclose(found[f"cluster {k}"][0], samples[k])
        assert found[f"cluster {k}"][1] == other[f"cluster {k}"][1]
