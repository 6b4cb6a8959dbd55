"""Curves and restarts: what is drawn is the table."""

from typing import Any

import numpy as np
import pytest

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


def test_a_steep_start_is_cut_off_and_that_is_said() -> None:
    elbo = np.concatenate([[-1e6, -1e5], np.linspace(-1000, -900, 48)])
    upper = curves(rows(elbo), "title").axes[0]
    bottom, top = upper.get_ylim()
    assert -1100 < bottom < -1000
    assert top > -900
    assert "first epochs below the axis" in upper.get_title()


def test_no_line_lies_on_the_frame_and_the_clusters_found_stand_beside_the_proportions() -> None:
    flat = [row | {"proportions/used": 3, "proportions/effective": 3.0} for row in rows(np.linspace(-9, -8, 6))]
    lower = curves(flat, "title", found=16).axes[1]
    bottom, top = lower.get_ylim()
    assert bottom == 0
    assert top > 16
    assert "items, at the end: 16" in str(lower.lines[2].get_label())
    assert curves(flat, "title").axes[1].get_ylim()[1] > 3.2


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


def test_epochs_without_a_number_are_gaps() -> None:
    upper = curves(rows(np.array([-5.0, np.nan, -4.0])), "title").axes[0]
    assert np.isnan(upper.lines[0].get_ydata()[1])  # type: ignore[index]
    curves(rows(np.full(3, np.nan)), "title")


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


@pytest.mark.parametrize(("column", "said"), [("elbo", "ELBO"), ("log_joint", "ln p(x, z)")])
def test_the_score_that_chooses_has_its_own_name(column: str, said: str) -> None:
    columns = {column: np.array([-3.0, -1.0]), "clusters_used": np.array([4, 5]), "oracle_acc": np.array([0.9, 0.8])}
    axes = restarts(columns, 1, "title").axes[0]
    assert axes.get_xlabel() == f"{said} of the training data (nats)"
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [f"chosen by the {said}: restart 1"]


def test_accuracy_ends_at_one_and_colours_are_whole_numbers_of_clusters() -> None:
    columns = {
        "elbo": np.array([-3.0, -1.0]), "clusters_used": np.array([4, 6]), "oracle_acc": np.array([0.6, 1.0]),
    }  # fmt: skip
    axes, bar = restarts(columns, 1, "title").axes
    assert axes.get_ylim()[1] == 1
    ticks = [tick for tick in bar.get_yticks() if bar.get_ylim()[0] <= tick <= bar.get_ylim()[1]]
    assert ticks == [4, 5, 6]
    same = restarts(columns | {"clusters_used": np.array([5, 5])}, 1, "title").axes
    assert len(same) == 1  # no bar from 4.5 to 5.5
    assert same[0].get_title() == "2 restarts, each with 5 clusters"


def test_restarts_without_labels_stand_over_their_cluster_count() -> None:
    columns = {
        "elbo": np.array([-3.0, -1.0]), "clusters_used": np.array([4, 5]), "oracle_acc": np.full(2, np.nan),
    }  # fmt: skip
    axes = restarts(columns, 1, "title").axes
    assert len(axes) == 1
    assert axes[0].get_ylabel() == "clusters used"
    np.testing.assert_allclose(array(axes[0].collections[0].get_offsets()), [[-3, 4], [-1, 5]])
