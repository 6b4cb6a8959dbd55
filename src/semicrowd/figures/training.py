"""What training did: curves over epochs, and restarts against each other."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from semicrowd.figures.style import ACCENT, MAIN, MUTED, new_figure, tidy
from semicrowd.result import RESTART_SCORES


def curves(rows: Sequence[Mapping[str, float]], title: str, found: int | None = None) -> Figure:
    """ELBO and the number of mixing proportions in use over the epochs.

    Parameters
    ----------
    rows : of curves.csv: ``epoch``, ``elbo/epoch``, ``proportions/used`` and ``proportions/effective``
    title : of the figure
    found : ``clusters/used`` of metrics.json, which counts items; a model may give weight to clusters without any
    """
    epochs = np.array([row["epoch"] for row in rows])
    figure = new_figure(8, 6.4, title)
    upper, lower = figure.subplots(2, 1, sharex=True)
    marker = {"marker": "o", "ms": 3} if len(epochs) <= 60 else {}
    elbo = _column(rows, "elbo/epoch")
    course = _course(elbo)
    if course is None:
        upper.plot(epochs, elbo, color=MAIN, lw=1.6, **marker)
    else:
        upper.plot(epochs, elbo, color=MAIN, lw=0.8, alpha=0.35, label="of each epoch")
        upper.plot(epochs, course, color=MAIN, lw=2, label=f"median of {_window(len(elbo))} epochs")
        upper.legend(fontsize=8, frameon=False, loc="lower right")
    tidy(upper, "ELBO: mean of the epoch's steps, best restart", "", "ELBO (nats)")
    if np.nanmax(np.abs(elbo), initial=0) > 1000:
        upper.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    bottom = _bottom(elbo)
    if bottom is not None:
        upper.set_ylim(bottom=bottom)
        upper.set_title("ELBO: mean of the epoch's steps, best restart (first epochs below the axis)", fontsize=10)
    used, effective = (_column(rows, f"proportions/{name}") for name in ("used", "effective"))
    lower.plot(epochs, used, color=MAIN, lw=1.6, label="of 0.5 % or more", **marker)
    lower.plot(epochs, effective, color=ACCENT, lw=1.6, ls="--", label="effective: exp of their entropy")
    tidy(lower, "mixing proportions of the model", "epoch", "clusters")
    if found is not None:
        lower.axhline(found, color=MUTED, lw=1.2, ls=":",
                      label=f"clusters of 0.5 % or more of the items, at the end: {found}")  # fmt: skip
    top = np.nanmax([*used, *effective, found or 0], initial=1)
    lower.set_ylim(0, 1.15 * top)  # no line on the frame
    lower.yaxis.set_major_locator(MaxNLocator(integer=True))
    lower.xaxis.set_major_locator(MaxNLocator(integer=True))
    lower.legend(fontsize=8, frameon=False, loc="best")
    return figure


def _column(rows: Sequence[Mapping[str, float]], name: str) -> np.ndarray:
    return np.array([row.get(name, np.nan) for row in rows], float)


def _window(epochs: int) -> int:
    return 2 * (epochs // 40) + 1


def _course(values: np.ndarray) -> np.ndarray | None:
    """Running median, which shows the way of a curve through the noise of minibatches; None of a short or smooth one.

    A curve is noisy where its steps go down nearly as often as up.
    """
    width = _window(len(values))
    if width < 3 or not np.isfinite(values).all():
        return None
    late = np.diff(values)[len(values) // 2 :]
    if (late < 0).mean() < 0.2:
        return None
    padded = np.pad(values, width // 2, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=-1)


def _bottom(values: np.ndarray) -> float | None:
    """Lower end of the axis where a steep start would flatten the rest of a curve, else None."""
    values = values[np.isfinite(values)]
    if len(values) < 10:
        return None
    late, top = values[len(values) // 10 :].min(), values.max()
    height = top - late
    return float(late - 0.1 * height) if height > 0 and values.min() < late - 2 * height else None


def restarts(columns: Mapping[str, np.ndarray], best: int, title: str) -> Figure:
    """Restarts by the score that chooses, against accuracy, which may not; without labels against the cluster count.

    Parameters
    ----------
    columns : of restarts.csv, [R] each: ``elbo`` or ``log_joint``, ``clusters_used``, ``oracle_acc``
    best : the restart chosen
    title : of the figure
    """
    column, said = next((column, said) for column, said in RESTART_SCORES.items() if column in columns)
    score, accuracy, used = columns[column], columns["oracle_acc"], columns["clusters_used"]
    labelled = bool(np.isfinite(accuracy).any())
    y = accuracy if labelled else used
    figure = new_figure(7, 5, title)
    axes = figure.subplots()
    counts = np.arange(used.min(), used.max() + 1)
    several = labelled and len(counts) > 1
    colours: dict[str, Any] = {"color": MAIN}
    if several:
        colours = {"c": used, "cmap": "cividis", "norm": BoundaryNorm([*(counts - 0.5), counts[-1] + 0.5], 256)}
    points = axes.scatter(score, y, s=40, edgecolors=MUTED, linewidths=0.5, zorder=3, **colours)
    axes.scatter(score[best], y[best], s=170, facecolors="none", edgecolors=ACCENT, linewidths=2,
                 label=f"chosen by the {said}: restart {best}")  # fmt: skip
    if several:
        figure.colorbar(points, ax=axes, label="clusters used", ticks=MaxNLocator(integer=True))
    alike = f", each with {counts[0]} clusters" if len(counts) == 1 else ""
    tidy(axes, f"{len(score)} restarts{alike}", f"{said} of the training data (nats)",
         "accuracy by the labels, not used to choose" if labelled else "clusters used")  # fmt: skip
    if labelled:
        axes.set_ylim(top=min(axes.get_ylim()[1], 1.0))
        axes.collections[0].set_clip_on(False)  # a point at 1 is whole
        axes.collections[1].set_clip_on(False)
    else:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(fontsize=9, frameon=False, loc="best")
    return figure
