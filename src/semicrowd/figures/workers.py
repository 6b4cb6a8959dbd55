"""Estimates of the annotators' quality, with intervals, and the truth where it is known."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import logit

from semicrowd.figures.style import ACCENT, MAIN, MUTED, new_figure, short, tidy

#: Maximal number of annotators that are named on the axis.
_MOST_NAMES = 60
#: Height of an annotator's row, in inches: enough for a line of text.
_ROW = 0.24
#: Height of title, axes and legend together, in inches.
_AROUND = 2.4
#: Least height of the figure, in inches.
_MIN_HEIGHT = 3.6
#: Largest height of the figure, in inches; with more annotators the rows become lower.
_MAX_HEIGHT = 17.0


def workers(table: pd.DataFrame, title: str) -> Figure:
    """Number of answers, sensitivity, specificity and weight of every annotator, a row each; bars are 90 % intervals.

    Sensitivity and specificity have the same axis, from 0 to 1.

    Parameters
    ----------
    table : as :func:`semicrowd.crowd.workers.worker_frame`, with true_sensitivity and true_specificity
    """
    table = table.sort_values("weight", ascending=False, kind="stable")
    # An annotator who is never wrong, or never right, has infinite weight; one who always gives the same answer none.
    with np.errstate(divide="ignore", invalid="ignore"):
        true_weight = (logit(table["true_sensitivity"]) + logit(table["true_specificity"])).to_numpy()
    rows, named = np.arange(len(table)), len(table) <= _MOST_NAMES
    figure = new_figure(13, min(max(_ROW * len(table) + _AROUND, _MIN_HEIGHT), _MAX_HEIGHT), title)
    counts, sensitivity, specificity, weight = figure.subplots(1, 4, sharey=True, width_ratios=(0.7, 2, 2, 2))
    bars = counts.barh(rows, table["pairs"], color=MUTED, height=0.7)
    if named:
        counts.bar_label(bars, [f"{number:,}" for number in table["pairs"]], fontsize=7, padding=2)
        counts.margins(x=0.5)
    tidy(counts, "answers", "number", f"annotators{'' if named else f' ({len(table)})'}, the most reliable first")
    _quality(sensitivity, "sensitivity", table)
    _quality(specificity, "specificity", table)
    weight.axvline(0, color=MUTED, lw=1, ls="--")
    weight.scatter(table["weight"], rows, s=22, color=MAIN, label="estimate")
    _truth(weight, true_weight)
    tidy(weight, "weight; 0 says nothing", "logit(sensitivity) + logit(specificity), nats", "")
    _legend(weight)
    names = [short(str(name)) for name in table["annotator"]] if named else []
    counts.set_yticks(rows if named else [], names, fontsize=8, parse_math=False)
    counts.set_ylim(len(table) - 0.4, -0.6)  # the first on top
    return figure


def _quality(axes: Axes, name: str, table: pd.DataFrame) -> None:
    columns = (name, f"{name}_low", f"{name}_high", f"true_{name}")
    estimate, low, high, truth = (table[column].to_numpy() for column in columns)
    axes.errorbar(
        estimate, np.arange(len(table)), xerr=np.abs([low - estimate, high - estimate]), fmt="o", ms=4.5, lw=1.4,
        color=MAIN, label="estimate and 90 % interval",
    )  # fmt: skip
    title = name
    if not np.isnan(truth).all():
        _truth(axes, truth)
        title += f": mean absolute error {np.nanmean(np.abs(estimate - truth)):.3f}"
    axes.axvline(0.5, color=MUTED, lw=1, ls="--")
    axes.set_xlim(-0.02, 1.02)
    tidy(axes, title, f"P(right | {'same' if name == 'sensitivity' else 'different'})", "")
    _legend(axes)


def _truth(axes: Axes, values: np.ndarray) -> None:
    """Diamonds; infinite values as arrow heads at the right or left edge; none for what is not defined or known."""
    edge = axes.get_yaxis_transform()
    for there, x, marker, label, transform in (
        (np.isfinite(values), values, "D", "truth", axes.transData),
        (np.isposinf(values), np.full(len(values), 0.97), ">", "truth is infinite: never wrong", edge),
        (np.isneginf(values), np.full(len(values), 0.03), "<", "truth is minus infinity: never right", edge),
    ):
        if there.any():
            axes.scatter(
                x[there], np.flatnonzero(there), s=38, marker=marker, facecolors="none", edgecolors=ACCENT,
                linewidths=1.3, zorder=3, label=label, transform=transform,
            )  # fmt: skip


def _legend(axes: Axes) -> None:
    below = -0.75 / (axes.figure.get_figure(root=True).get_size_inches()[1] - _AROUND + 0.9)  # under the axis' label
    axes.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, below))
