"""Samples while training: where each image stands, and how bright it is."""

import numpy as np
import pytest

from semicrowd.figures.images import in_use, training_samples
from semicrowd.fitting.snapshots import Snapshots

WEIGHTS = np.array([[0.5, 0.25, 0.25], [0.1, 0.3, 0.6]])


def pieces(mosaic: np.ndarray, height: int, width: int) -> np.ndarray:
    """The images in a mosaic with a pixel between them, [rows, columns, height, width, ...]."""
    rows, columns = mosaic.shape[0] // (height + 1), mosaic.shape[1] // (width + 1)
    return np.array([
        [mosaic[r * (height + 1) + 1 :, c * (width + 1) + 1 :][:height, :width] for c in range(columns)]
        for r in range(rows)
    ])  # fmt: skip


@pytest.mark.parametrize("shape", [(2, 4), (3, 2, 4)])
def test_a_row_is_an_epoch_a_column_a_cluster_and_brightness_its_proportion(shape: tuple[int, ...]) -> None:
    samples = np.random.default_rng(0).random((2, 3, int(np.prod(shape))))
    axes = training_samples(Snapshots(np.array([0, 7]), WEIGHTS, samples), shape, "title").axes[0]
    drawn = pieces(np.asarray(axes.images[0].get_array()), 2, 4)
    assert drawn.shape[:2] == (2, 3)
    for epoch in range(2):
        for column, cluster in enumerate((2, 1, 0)):  # by their last proportions
            image = samples[epoch, cluster].reshape(shape)
            image = np.moveaxis(image, 0, -1) if len(shape) == 3 else image[:, :, None]
            bright = WEIGHTS[epoch, cluster] / WEIGHTS[epoch].max()
            np.testing.assert_allclose(drawn[epoch, column], np.broadcast_to(bright * image, (2, 4, 3)))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["start: 3 in use", "epoch 7: 3 in use"]


def test_fifty_clusters_fit_on_a_page() -> None:
    snapshots = Snapshots(np.arange(5), np.full((5, 50), 0.02), np.zeros((5, 50, 784)))
    figure = training_samples(snapshots, (28, 28), "title")
    width, height = figure.get_size_inches()
    assert 10 < width < 18
    assert 2 < height < width


def test_clusters_in_use_are_those_of_half_a_percent_or_more() -> None:
    assert in_use(np.array([0.99, 0.005, 0.0049, 0.0001])) == 2
