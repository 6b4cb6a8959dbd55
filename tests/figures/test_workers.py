"""Annotators: what is drawn is the table."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import ErrorbarContainer
from scipy.special import logit
from sklearn.metrics import mean_absolute_error

from semicrowd.figures.workers import workers


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


def test_both_rates_have_one_scale_and_answers_are_counted() -> None:
    data = table().assign(pairs=[10, 2000, 30, 40, 50, 60])
    counts, sensitivity, specificity, _ = workers(data, "title").axes
    assert sensitivity.get_xlim() == specificity.get_xlim() == (-0.02, 1.02)
    by_weight = data.sort_values("weight", ascending=False)["pairs"]
    assert [round(bar.get_width()) for bar in counts.patches] == by_weight.tolist()  # type: ignore[attr-defined]
    assert [text.get_text() for text in counts.texts] == [f"{number:,}" for number in by_weight]


@pytest.mark.parametrize("count", [12, 13, 60])
def test_names_do_not_overlap(count: int) -> None:
    data = table(count=count)
    data["annotator"] = [f"Annotator With A Long Name, No. {m}" for m in range(count)]
    figure = workers(data, "title")
    FigureCanvasAgg(figure).draw()
    boxes = sorted((label.get_window_extent() for label in figure.axes[0].get_yticklabels()), key=lambda box: box.y0)
    assert len(boxes) == count
    assert all(lower.y1 <= upper.y0 + 1 for lower, upper in pairwise(boxes))
    assert all(box.x0 >= 0 for box in boxes)


def test_names_that_look_like_formulas_are_text() -> None:
    data = table()
    data["annotator"] = [r"$\frac", "$$", "a\nb", "{x}", "%s", "_^"]
    figure = workers(data, r"title $\no")
    FigureCanvasAgg(figure).draw()
    assert "a b" in row_names(figure.axes[0])


def test_infinite_weight_is_marked_at_the_edge() -> None:
    data = table()
    panel = workers(data, "title").axes[3]
    named = {str(collection.get_label()): np.asarray(collection.get_offsets()) for collection in panel.collections}
    position = int(np.flatnonzero(np.argsort(-data["weight"].to_numpy()) == 2)[0])
    np.testing.assert_allclose(named["truth is infinite: never wrong"], [[0.97, position]])
    assert len(named["truth"]) == 5
    assert len(named["estimate"]) == 6


def test_a_truth_of_minus_infinity_is_marked_at_the_lower_edge_and_an_undefined_one_nowhere() -> None:
    data = table()
    data.loc[:2, "true_sensitivity"] = 0.0, 1.0, 0.0
    data.loc[:2, "true_specificity"] = 0.1, 0.0, 0.0  # turned round and once always right; always "same"; always wrong
    panel = workers(data, "title").axes[3]
    named = {str(collection.get_label()): np.asarray(collection.get_offsets()) for collection in panel.collections}
    positions = np.argsort(np.argsort(-data["weight"].to_numpy()))
    below = sorted([positions[0], positions[2]])
    np.testing.assert_allclose(named["truth is minus infinity: never right"], [[0.03, x] for x in below])
    assert sorted(named["truth"][:, 1]) == sorted(positions[3:])
    assert "truth is infinite: never wrong" not in named


def test_without_truth_there_is_none() -> None:
    for panel in workers(table(truth=False), "title").axes[1:]:
        legend = panel.get_legend()
        assert legend is not None
        assert not any("truth" in text.get_text() for text in legend.get_texts())
        assert "error" not in panel.get_title()


def test_many_annotators_are_counted_instead_of_named() -> None:
    axes = workers(table(count=200), "title").axes
    assert "(200)" in axes[0].get_ylabel()
    assert row_names(axes[0]) == []
