"""The images that clusters are surest of."""

from pathlib import Path

import numpy as np
import pytest

from semicrowd.evaluation.scores import Likeliest
from semicrowd.figures.images import cluster_images
from semicrowd.fitting.result import Assignment


def _found() -> tuple[Assignment, np.ndarray]:
    """Clusters 3, 0 and 5 of 60, 30 and 4 images; 6 has one of two hundred and one in the mean."""
    rng = np.random.default_rng(0)
    cluster = np.repeat([3, 0, 5, 6], [500, 300, 4, 1])
    order = rng.permutation(len(cluster))
    return Assignment(cluster[order], rng.random(len(cluster))), rng.random((len(cluster), 12)).astype(np.float32)


def test_each_cluster_in_use_shows_its_ten_likeliest_images_the_largest_cluster_first() -> None:
    assignment, images = _found()
    found = Likeliest.of(assignment, images)
    assert found.clusters.tolist() == [3, 0]  # the others have less than one image of two hundred
    np.testing.assert_allclose(found.share, [500 / 805, 300 / 805])
    for row, k in enumerate(found.clusters):
        own = np.flatnonzero(assignment.cluster == k)
        best = sorted(own.tolist(), key=lambda item: -assignment.probability[item])[:10]
        np.testing.assert_array_equal(found.images[row], images[best])
        np.testing.assert_array_equal(found.probability[row], assignment.probability[best])


def test_a_small_cluster_has_white_places() -> None:
    found = Likeliest.of(Assignment(np.array([0, 0, 1]), np.array([0.5, 0.9, 1.0])), np.zeros((3, 4), np.float32))
    assert found.probability[0, :2].tolist() == [0.9, 0.5]
    assert np.isnan(found.probability[0, 2:]).all()
    assert found.images[0].tolist() == [[0.0] * 4] * 2 + [[1.0] * 4] * 8


def test_methods_without_probabilities_show_their_first_images() -> None:
    found = Likeliest.of(Assignment.hard(np.zeros(30, int)), np.arange(30.0)[:, None] / 30)
    assert found.images[0, :, 0].tolist() == (np.arange(10.0) / 30).astype(np.float32).tolist()


def test_they_come_back_from_a_run_and_are_drawn(tmp_path: Path) -> None:
    assert Likeliest.read(tmp_path) is None
    found = Likeliest.of(*_found())
    found.write(tmp_path)
    again = Likeliest.read(tmp_path)
    assert again is not None
    np.testing.assert_array_equal(again.clusters, found.clusters)
    np.testing.assert_allclose(again.images, found.images, atol=1e-3)
    figure = cluster_images(again.images, again.clusters, again.share, (3, 2, 2), "a title")
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert [name.split(":")[0] for name in names] == ["cluster 3", "cluster 0"]
    picture = figure.axes[0].images[0].get_array()
    assert picture is not None
    # A pixel of grey between images of two by two.
    first = np.asarray(picture)[1:3, 1:3].transpose(2, 0, 1).ravel()
    assert first == pytest.approx(found.images[0, 0], abs=1e-3)
