"""Estimates of the annotators' quality, with intervals, and the truth where it is known."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Transform
from scipy.special import logit

from semicrowd.figures.style import ACCENT, MAIN, MUTED, new_figure, tidy

#: Most annotators named on the axis.
_MOST_NAMES = 60


def workers(table: pd.DataFrame, title: str) -> Figure:
    """Sensitivity, specificity and weight of every annotator, one column each; bars are 90 % intervals.

    Parameters
    ----------
    table : as :func:`semicrowd.crowd.workers.worker_frame`, with true_sensitivity and true_specificity
    title : of the figure
    """
    table = table.sort_values("weight", ascending=False, kind="stable")
    # An annotator who is never wrong, or never right, has infinite weight; one who always gives the same answer none.
    with np.errstate(divide="ignore", invalid="ignore"):
        true_weight = (logit(table["true_sensitivity"]) + logit(table["true_specificity"])).to_numpy()
    columns = np.arange(len(table))
    figure = new_figure(min(max(8.0, 0.22 * len(table) + 4), 18.0), 9, title)
    axes = figure.subplots(3, 1, sharex=True)
    _quality(axes[0], "sensitivity", table)
    _quality(axes[1], "specificity", table)
    axes[2].axhline(0, color=MUTED, lw=1, ls="--")
    axes[2].scatter(columns, table["weight"], s=22, color=MAIN, label="estimate")
    _truth(axes[2], true_weight)
    tidy(axes[2], "weight: logit(sensitivity) + logit(specificity); 0 says nothing", _axis(len(table)), "weight (nats)")
    _legend(axes[2])
    if len(table) <= _MOST_NAMES:
        axes[2].set_xticks(columns, list(table["annotator"]), fontsize=8, rotation=90 if len(table) > 12 else 0)
    axes[2].set_xlim(-0.8, len(table) - 0.2)
    return figure


def _quality(axes: Axes, name: str, table: pd.DataFrame) -> None:
    columns = np.arange(len(table))
    names = (name, f"{name}_low", f"{name}_high", f"true_{name}")
    estimate, low, high, truth = (table[column].to_numpy() for column in names)
    axes.errorbar(
        columns, estimate, np.abs([low - estimate, high - estimate]), fmt="o", ms=4.5, lw=1.4, color=MAIN,
        label="estimate and 90 % interval",
    )  # fmt: skip
    title = f"{name} of {len(table)} annotators"
    if not np.isnan(truth).all():
        _truth(axes, truth)
        title += f": mean absolute error {np.nanmean(np.abs(estimate - truth)):.3f}"
    if axes.get_ylim()[0] < 0.5:
        axes.axhline(0.5, color=MUTED, lw=1, ls="--")
    tidy(axes, title, "", f"P(right | {'same' if name == 'sensitivity' else 'different'})")
    _legend(axes)


def _truth(axes: Axes, values: np.ndarray) -> None:
    """Diamonds; infinite values as arrow heads at the upper or lower edge; none for what is not defined or known."""
    finite = np.flatnonzero(np.isfinite(values))
    if finite.size:
        _outline(axes, finite, values[finite], "D", "truth", axes.transData)
    for endless, height, marker, label in (
        (np.flatnonzero(np.isposinf(values)), 0.97, "^", "truth is infinite: never wrong"),
        (np.flatnonzero(np.isneginf(values)), 0.03, "v", "truth is minus infinity: never right"),
    ):
        if endless.size:
            _outline(axes, endless, np.full(endless.size, height), marker, label, axes.get_xaxis_transform())


def _outline(axes: Axes, x: np.ndarray, y: np.ndarray, marker: str, label: str, transform: Transform) -> None:
    axes.scatter(
        x, y, s=38, marker=marker, facecolors="none", edgecolors=ACCENT, linewidths=1.3, zorder=3, label=label,
        transform=transform,
    )  # fmt: skip


def _legend(axes: Axes) -> None:
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _axis(count: int) -> str:
    names = "" if count <= _MOST_NAMES else f" ({count})"
    return f"annotators{names} by estimated weight, the most reliable first"
