"""Generated images, a row for each cluster."""

import numpy as np

from semicrowd.figures.images import image_samples


def test_rows_are_the_clusters_in_use_by_proportion() -> None:
    samples = np.random.default_rng(0).random((4, 3, 6))
    (axes,) = image_samples(samples, np.array([0.3, 0.001, 0.5, 0.199]), (2, 3), "title").axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["cluster 2: 50.0 %", "cluster 0: 30.0 %", "cluster 3: 19.9 %"]
    drawn = np.asarray(axes.images[0].get_array())
    for row, cluster in enumerate((2, 0, 3)):
        for column in range(3):
            image = drawn[3 * row + 1 :, 4 * column + 1 :][:2, :3]
            np.testing.assert_allclose(image, samples[cluster, column].reshape(2, 3, 1).repeat(3, axis=2))


def test_at_most_25_rows_and_that_is_said() -> None:
    figure = image_samples(np.zeros((40, 1, 4)), np.full(40, 1 / 40), (2, 2), "title")
    assert len(figure.axes[0].get_yticks()) == 25
    assert "40 clusters in use, one a row; the 25 largest drawn" in figure.get_suptitle()
