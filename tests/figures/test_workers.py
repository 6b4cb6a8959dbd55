"""Annotators: what is drawn is the table."""


import numpy as np
import pandas as pd
from matplotlib.axes import Axes
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
