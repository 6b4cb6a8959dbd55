"""The grid of generated images."""

import numpy as np
import pytest

from semicrowd.figures.samples import image_samples


def test_rows_are_the_clusters_in_use_by_proportion() -> None:
    samples = np.random.default_rng(0).random((4, 3, 6))
    figure = image_samples(samples, np.array([0.3, 0.001, 0.5, 0.199]), (2, 3), "title")
    assert len(figure.axes) == 3 * 3
    assert [axes.get_ylabel() for axes in figure.axes[::3]] == [
        "cluster 2: 50.0 %", "cluster 0: 30.0 %", "cluster 3: 19.9 %",
    ]  # fmt: skip
    for row, cluster in enumerate((2, 0, 3)):
        for column in range(3):
            image = figure.axes[3 * row + column].images[0]
            np.testing.assert_allclose(np.asarray(image.get_array()), samples[cluster, column].reshape(2, 3))
            assert image.get_clim() == (0, 1)  # the same brightness for all


@pytest.mark.parametrize(("shape", "drawn"), [((1, 2, 3), (2, 3)), ((3, 2, 3), (2, 3, 3))])
def test_channels(shape: tuple[int, ...], drawn: tuple[int, ...]) -> None:
    samples = np.random.default_rng(0).random((1, 1, int(np.prod(shape))))
    image = np.asarray(image_samples(samples, np.ones(1), shape, "title").axes[0].images[0].get_array())
    assert image.shape == drawn
    np.testing.assert_allclose(image.reshape(2, 3, -1)[1, 2], samples.reshape(shape)[:, 1, 2])


def test_at_most_25_rows_and_that_is_said() -> None:
    figure = image_samples(np.zeros((40, 1, 4)), np.full(40, 1 / 40), (2, 2), "title")
    assert len(figure.axes) == 25
    assert "40 clusters in use, one a row; the 25 largest drawn" in figure.get_suptitle()
