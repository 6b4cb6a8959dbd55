"""Images side by side: where each stands, what is written beside it, and how bright samples are while training."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.metrics import silhouette_score

from semicrowd.figures.images import draw_grid, image_samples, in_use, training_samples
from semicrowd.figures.plane import sampled_points, scatter
from semicrowd.figures.style import ranks_by_size, ranks_like
from semicrowd.training.callbacks import Snapshots

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


@pytest.mark.parametrize("shape", [(2, 4), (1, 2, 4), (3, 2, 4)])
def test_images_stand_in_their_rows_and_columns_with_a_pixel_between(shape: tuple[int, ...]) -> None:
    images = np.random.default_rng(0).random((3, 2, int(np.prod(shape))))
    axes = Figure().subplots()
    draw_grid(axes, images, shape, ["a", "b", "c"])
    drawn = mosaic(axes)
    assert drawn.shape == (3 * 3 + 1, 2 * 5 + 1, 3)
    seen = np.zeros(drawn.shape[:2], bool)
    for row in range(3):
        for column in range(2):
            place = slice(3 * row + 1, 3 * row + 3), slice(5 * column + 1, 5 * column + 5)
            channels = images[row, column].reshape(-1, 2, 4)
            np.testing.assert_allclose(drawn[place], np.broadcast_to(channels.transpose(1, 2, 0), (2, 4, 3)))
            seen[place] = True
    assert len(np.unique(drawn[~seen])) == 1  # the grey between them


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


def test_clusters_in_use_are_those_of_half_a_percent_or_more() -> None:
    assert in_use(np.array([0.99, 0.005, 0.0049, 0.0001])) == 2


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
    axes = scatter(points, clusters, None, "title", "feature").axes
    assert len(axes) == 1
    found = drawn(axes[0])
    assert list(found) == ["cluster 1", "cluster 0", "cluster 2"]  # the largest first
    for cluster in range(3):
        np.testing.assert_allclose(found[f"cluster {cluster}"][0], points[clusters == cluster])
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == ("feature 1", "feature 2")
    assert "cluster 1: 50.0 %" in [text.get_text() for text in axes[0].get_legend().get_texts()]  # type: ignore[union-attr]


def test_a_class_has_the_colour_of_its_cluster() -> None:
    points, clusters = groups([40, 30, 20, 10])
    labels = np.array([2, 0, 3, 1])[clusters]
    labels[clusters == 3] = 0  # class 1 has no cluster, and 0 two
    left, right = scatter(points, clusters, labels, "title", "feature").axes
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
    axes = scatter(points, clusters, None, "title", "latent dimension").axes[0]
    assert axes.get_xlabel() == f"discriminant 1 of {6 + unused} latent dimensions"
    found = drawn(axes)
    plane = np.concatenate([found[f"cluster {k}"][0] for k in range(3)])
    assert silhouette_score(plane, clusters) > 0.6 > 0.1 > silhouette_score(points, clusters)


def test_without_three_clusters_principal_components_are_drawn() -> None:
    points, clusters = groups([50, 30], dimensions=4)
    axes = scatter(points, clusters, None, "title", "latent dimension").axes[0]
    assert axes.get_xlabel() == "principal component 1 of 4 latent dimensions"
    found = np.concatenate([drawn(axes)[f"cluster {k}"][0] for k in range(2)])
    variances = np.linalg.eigvalsh(np.cov(points.T))[::-1]
    np.testing.assert_allclose(found.var(0, ddof=1), variances[:2], rtol=1e-6)


def test_samples_have_the_colours_of_the_scatter_plot() -> None:
    points, clusters = groups([10, 30, 20])
    samples = np.stack([points[clusters == k][:5] for k in range(3)] + [np.zeros((5, 2))])
    weights = np.array([0.2, 0.497, 0.3, 0.003])
    found = drawn(sampled_points(points, clusters, samples, weights, "title").axes[0])
    assert list(found) == ["data", "cluster 1", "cluster 2", "cluster 0"]  # 3 has no weight
    other = drawn(scatter(points, clusters, None, "title", "feature").axes[0])
    for k in range(3):
        np.testing.assert_allclose(found[f"cluster {k}"][0], samples[k])
        assert found[f"cluster {k}"][1] == other[f"cluster {k}"][1]


def test_ranks_are_a_bijection_with_more_groups_than_the_reference() -> None:
    rng = np.random.default_rng(0)
    groups_, reference = rng.integers(7, size=200), rng.integers(4, size=200)
    assert sorted(ranks_like(groups_, reference).values()) == list(range(7))
    assert ranks_like(reference, reference) == ranks_by_size(reference)
