"""Estimates of the annotators' quality, with intervals, and the truth where it is known."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Transform
from scipy.special import logit

from semicrowd.figures.style import ACCENT, MAIN, MUTED, new_figure, tidy

if TYPE_CHECKING:
    from semicrowd.evaluation.scores import WorkerTable

#: Most annotators named on the axis.
_MOST_NAMES = 60


def workers(table: "WorkerTable", title: str) -> Figure:
    """Sensitivity, specificity and weight of every annotator, one column each; bars are 90 % intervals."""
    # An annotator who is never wrong, or never right, has infinite weight; one who always gives the same answer none.
    with np.errstate(divide="ignore", invalid="ignore"):
        true_weight = logit(table.true_sensitivity) + logit(table.true_specificity)
    order = np.argsort(-table.weight, kind="stable")
    columns = np.arange(len(order))
    figure = new_figure(min(max(8.0, 0.22 * len(order) + 4), 18.0), 9, title)
    axes = figure.subplots(3, 1, sharex=True)
    _quality(axes[0], "sensitivity", table.sensitivity, table.sensitivity_interval, table.true_sensitivity, order)
    _quality(axes[1], "specificity", table.specificity, table.specificity_interval, table.true_specificity, order)
    axes[2].axhline(0, color=MUTED, lw=1, ls="--")
    axes[2].scatter(columns, table.weight[order], s=22, color=MAIN, label="estimate")
    _truth(axes[2], true_weight[order])
    tidy(axes[2], "weight: logit(sensitivity) + logit(specificity); 0 says nothing", _axis(len(order)), "weight (nats)")
    _legend(axes[2])
    if len(order) <= _MOST_NAMES:
        names = [table.name[m] for m in order]
        axes[2].set_xticks(columns, names, fontsize=8, rotation=90 if len(order) > 12 else 0)
    axes[2].set_xlim(-0.8, len(order) - 0.2)
    return figure


def _quality(
    axes: Axes, name: str, estimate: np.ndarray, interval: np.ndarray, truth: np.ndarray, order: np.ndarray
) -> None:
    columns, truth = np.arange(len(order)), truth[order]
    estimate, interval = estimate[order], interval[order]
    axes.errorbar(
        columns, estimate, np.abs(interval.T - estimate), fmt="o", ms=4.5, lw=1.4, color=MAIN,
        label="estimate and 90 % interval",
    )  # fmt: skip
    title = f"{name} of {len(order)} annotators"
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
