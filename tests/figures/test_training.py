"""Curves and restarts: what is drawn is the table."""

from typing import Any

import numpy as np

from semicrowd.figures.training import curves, restarts


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
