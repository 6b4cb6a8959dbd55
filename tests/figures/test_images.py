"""Images side by side: where each stands, what is written beside it, and how bright samples are while training."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from semicrowd.figures.images import draw_grid, image_samples, in_use, training_samples
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
