"""What training did: curves over epochs, and restarts against each other."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from semicrowd.figures.style import ACCENT, MAIN, MUTED, new_figure, tidy


def curves(rows: Sequence[Mapping[str, float]], title: str) -> Figure:
    """ELBO and number of clusters over the epochs.

    Parameters
    ----------
    rows : of curves.csv: ``epoch``, ``elbo/epoch``, ``clusters/used`` and ``clusters/effective``
    title : of the figure
    """
    epochs = np.array([row["epoch"] for row in rows])
    figure = new_figure(8, 6.4, title)
    upper, lower = figure.subplots(2, 1, sharex=True)
    marker = {"marker": "o", "ms": 3} if len(epochs) <= 60 else {}
    elbo = _column(rows, "elbo/epoch")
    upper.plot(epochs, elbo, color=MAIN, lw=1.6, **marker)
    tidy(upper, "ELBO: mean of the epoch's steps, best restart", "", "ELBO (nats)")
    if np.nanmax(np.abs(elbo), initial=0) > 1000:
        upper.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    bottom = _bottom(elbo)
    if bottom is not None:
        upper.set_ylim(bottom=bottom)
        upper.set_title("ELBO: mean of the epoch's steps, best restart (first epochs below the axis)", fontsize=10)
    lower.plot(epochs, _column(rows, "clusters/used"), color=MAIN, lw=1.6, label="with ≥ 0.5 % of the weight", **marker)
    lower.plot(epochs, _column(rows, "clusters/effective"), color=ACCENT, lw=1.6, ls="--",
               label="effective: exp(entropy of the weights)")  # fmt: skip
    tidy(lower, "clusters in use", "epoch", "clusters")
    lower.set_ylim(bottom=0)
    lower.yaxis.set_major_locator(MaxNLocator(integer=True))
    lower.xaxis.set_major_locator(MaxNLocator(integer=True))
    lower.legend(fontsize=8, frameon=False, loc="best")
    return figure


def _column(rows: Sequence[Mapping[str, float]], name: str) -> np.ndarray:
    return np.array([row.get(name, np.nan) for row in rows], float)


def _bottom(values: np.ndarray) -> float | None:
    """Lower end of the axis where a steep start would flatten the rest of a curve, else None."""
    values = values[np.isfinite(values)]
    if len(values) < 10:
        return None
    late, top = values[len(values) // 10 :].min(), values.max()
    height = top - late
    return float(late - 0.1 * height) if height > 0 and values.min() < late - 2 * height else None


def restarts(columns: Mapping[str, np.ndarray], best: int, title: str) -> Figure:
    """Restarts by ELBO, which chooses, against accuracy, which may not; without labels against the cluster count.

    Parameters
    ----------
    columns : of restarts.csv, [R] each: ``elbo``, ``clusters_used``, ``oracle_acc``
    best : the restart chosen
    title : of the figure
    """
    elbo, accuracy, used = columns["elbo"], columns["oracle_acc"], columns["clusters_used"]
    labelled = bool(np.isfinite(accuracy).any())
    y = accuracy if labelled else used
    figure = new_figure(7, 5, title)
    axes = figure.subplots()
    points = axes.scatter(elbo, y, s=40, c=used, cmap="cividis", edgecolors=MUTED, linewidths=0.5)
    axes.scatter(elbo[best], y[best], s=170, facecolors="none", edgecolors=ACCENT, linewidths=2,
                 label=f"chosen by the ELBO: restart {best}")  # fmt: skip
    if labelled:
        figure.colorbar(points, ax=axes, label="clusters used", ticks=MaxNLocator(integer=True))
    tidy(axes, f"{len(elbo)} restarts", "ELBO on the training data (nats)",
         "accuracy by the labels, not used to choose" if labelled else "clusters used")  # fmt: skip
    axes.legend(fontsize=9, frameon=False, loc="best")
    return figure
