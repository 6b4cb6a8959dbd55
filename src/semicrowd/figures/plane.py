"""Items as points in the plane, coloured by cluster, and by true class if labels are known; or panels of
the same points, each coloured by another partition."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.patheffects import withStroke
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from semicrowd.figures.style import (
    MUTED,
    in_rank_order,
    new_figure,
    percent,
    ranks_by_size,
    ranks_like,
    save,
    short,
    tidy,
)
from semicrowd.metrics import USED_SHARE, cluster_counts
from semicrowd.random import stream

#: Maximum number of points; more would only cover each other.
_MOST = 3000
#: Width of a letter of a name, as a share of the plot's width.
_LETTER = 0.026
#: Height of a name, as a share of the plot's height.
_LINE = 0.05
#: Maximum number of groups in a legend.
_LEGEND = 16


def scatter(
    points: np.ndarray,
    clusters: np.ndarray,
    labels: np.ndarray | None,
    title: str,
    axis: str,
    class_names: Sequence[str] | None = None,
) -> Figure:
    """Points coloured by cluster and, where labels are known, once more by true class in the matching colours.

    Parameters
    ----------
    points : [N, D], D >= 2; with D > 2 the plane that separates the clusters most is drawn (linear discriminants;
        principal components if there are fewer than three clusters)
    clusters : [N]
    labels : [N] or None
    title : of the figure
    axis : name of an axis, such as "feature"
    class_names : names of classes; None: numbers are shown
    """
    points, names = _plane(points, clusters, axis)
    shown = _spread(len(points))
    panels = 1 if labels is None else 2
    figure = new_figure(6.4 * panels, 6.4, title + _note(len(points), len(shown)))
    axes = figure.subplots(1, panels, sharex=True, sharey=True, squeeze=False)[0]
    _draw(axes[0], points, clusters, shown, ranks_by_size(clusters), "cluster")
    tidy(axes[0], _count(clusters), *names)
    if labels is not None:
        _draw(axes[1], points, labels, shown, ranks_like(labels, clusters), "class", class_names)
        tidy(axes[1], f"{len(np.unique(labels))} true classes", names[0], "")
    if _nearly_square(points):
        for panel in axes:
            panel.set_aspect("equal")
    return figure


def sampled_points(
    points: np.ndarray, clusters: np.ndarray, samples: np.ndarray, weights: np.ndarray, title: str
) -> Figure:
    """What each cluster generates, over the data.

    Parameters
    ----------
    points : [N, 2] data
    clusters : [N] of the data; colours are those of :func:`scatter`
    samples : [K, S, 2] decoder means of draws from every cluster
    weights : [K] expected mixing proportions; clusters below 0.5 % are left out
    title : of the figure
    """
    figure = new_figure(7.2, 6.4, title)
    axes = figure.subplots()
    shown = _spread(len(points))
    axes.scatter(points[shown, 0], points[shown, 1], s=8, color=MUTED, alpha=0.4, linewidths=0, label="data")
    ranks = ranks_by_size(clusters)
    for cluster in np.argsort(-weights, kind="stable"):
        ranks.setdefault(int(cluster), len(ranks))
    used = [entry for entry in in_rank_order(ranks) if weights[entry[0]] >= USED_SHARE]
    for k, colour, marker in used:
        name = f"cluster {k}: {percent(float(weights[k]))}"
        x, y = samples[k].T
        axes.scatter(x, y, s=16, alpha=0.8, linewidths=0, label=name, color=colour, marker=marker)
    tidy(axes, f"means of samples from {len(used)} clusters", "feature 1", "feature 2")
    if _nearly_square(points):
        axes.set_aspect("equal")
    _legend(axes, len(used), without=1)
    return figure


def _plane(points: np.ndarray, clusters: np.ndarray, axis: str) -> tuple[np.ndarray, tuple[str, str]]:
    """The points in two dimensions, and the names of the axes."""
    if points.shape[1] == 2:
        return points, (f"{axis} 1", f"{axis} 2")
    what = f"of {points.shape[1]} {axis}s"
    if 3 <= len(np.unique(clusters)) < len(clusters):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Variables are collinear")  # dimensions that are not in use
            projected = LinearDiscriminantAnalysis().fit(points, clusters).transform(points)
        if projected.shape[1] >= 2:  # fewer where the clusters' means lie on a line
            return projected[:, :2], (f"discriminant 1 {what}", f"discriminant 2 {what}")
    projected = PCA(2, svd_solver="full").fit_transform(points)
    return projected, (f"principal component 1 {what}", f"principal component 2 {what}")


def _nearly_square(points: np.ndarray) -> bool:
    extent = np.ptp(points, axis=0)
    return bool(extent.min() > extent.max() / 3)


def _spread(num_items: int) -> np.ndarray:
    if num_items <= _MOST:
        return np.arange(num_items)
    return np.sort(stream(0, "figures/items").choice(num_items, _MOST, replace=False))


def _note(num_items: int, num_shown: int) -> str:
    return "" if num_items == num_shown else f" ({num_shown} of {num_items} items drawn)"


def _draw(
    axes: Axes,
    points: np.ndarray,
    groups: np.ndarray,
    shown: np.ndarray,
    ranks: dict[int, int],
    what: str,
    names: Sequence[str] | None = None,
) -> None:
    """Draw groups in colours; each with ≥ 0.5 % of the items has its name at one of its points, without overlap."""
    extent = np.maximum(np.ptp(points, axis=0), 1e-12)
    taken: list[tuple[np.ndarray, int]] = []
    size = 14 if len(shown) <= 1000 else 9
    for group, colour, marker in in_rank_order(ranks):
        share = float((groups == group).mean())
        own = points[shown[groups[shown] == group]]
        x, y = own.T
        name = str(group) if names is None else short(names[group], 16)
        label = f"{what} {name}: {percent(float(share))}"
        axes.scatter(x, y, s=size, alpha=0.7, linewidths=0, label=label, color=colour, marker=marker)
        place = _free_place(own / extent, len(name), taken) if share >= USED_SHARE and len(x) else None
        if place is not None:
            taken.append((own[place] / extent, len(name)))
            axes.annotate(
                name, (x[place], y[place]), parse_math=False, ha="center", va="center", fontsize=11, fontweight="bold",
                path_effects=[withStroke(linewidth=3, foreground="white")],
            )  # fmt: skip
    _legend(axes, len(ranks))


def _free_place(points: np.ndarray, letters: int, taken: list[tuple[np.ndarray, int]]) -> int | None:
    """The point of a group nearest to the median at which its name overlaps no other name; None if there is none.

    It is a point of the group, since the median may lie outside a bent group.

    Parameters
    ----------
    points : [n, 2], in units of the plot's width and height
    letters : number of letters of the name
    taken : point and number of letters of each name that is already drawn
    """
    order = np.argsort(np.hypot(*(points - np.median(points, axis=0)).T), kind="stable")
    for place in order.tolist():
        apart = (np.abs(points[place] - other) >= (_LETTER * (letters + more) / 2, _LINE) for other, more in taken)
        if all(one.any() for one in apart):
            return int(place)
    return None


def _legend(axes: Axes, num_groups: int, without: int = 0) -> None:
    """Names of the groups, the largest first, after the first ``without`` entries, which are no groups."""
    handles, names = axes.get_legend_handles_labels()
    shown = _LEGEND + without
    legend = axes.legend(
        handles[:shown], names[:shown], fontsize=8, markerscale=1.6, frameon=False, ncols=4, loc="upper center",
        bbox_to_anchor=(0.5, -0.1), title=None if num_groups <= _LEGEND else f"the {_LEGEND} largest of {num_groups}",
        title_fontsize=8, columnspacing=1.2, handletextpad=0.2,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)


def _count(clusters: np.ndarray) -> str:
    """``7 clusters found, 6 with ≥ 0.5 % of the items``."""
    counts = cluster_counts(clusters, int(clusters.max()) + 1)
    note = "" if counts["used"] == counts["occupied"] else f", {counts['used']} with ≥ 0.5 % of the items"
    return f"{counts['occupied']} clusters found{note}"


@dataclass(frozen=True)
class Panel:
    """Points in the plane, coloured by their group; circles by centre and radius."""

    title: str
    points: Float[np.ndarray, "N 2"]
    groups: Int[np.ndarray, "N"]
    circles: Float[np.ndarray, "C 3"] | None = None


def draw_panels(title: str, panels: Sequence[Panel], path: Path) -> None:
    """Draw the panels in two columns and write them as an image.

    Groups of later panels take the colour of the group of the first panel that they share most items with.
    """
    rows = -(-len(panels) // 2)
    width, height = np.ptp(np.concatenate([panel.points for panel in panels]), axis=0).tolist()
    # A unit is as long on both axes; beyond the points a panel has its title and labels.
    figure = new_figure(9.6, (0.8 + 4 * min(max(height / max(width, 1e-9), 0.4), 1)) * rows, title)
    axes = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False).ravel()
    reference = panels[0].groups
    for axis, panel in zip(axes, panels, strict=False):
        for group, colour, marker in in_rank_order(ranks_like(panel.groups, reference)):
            points = panel.points[panel.groups == group]
            axis.scatter(points[:, 0], points[:, 1], s=12, alpha=0.75, linewidths=0, color=colour, marker=marker)
        for *centre, radius in () if panel.circles is None else panel.circles:
            axis.add_patch(Circle(centre, radius, fill=False, color=MUTED, lw=1.2))
        axis.set_aspect("equal")
        tidy(axis, fill(panel.title, 48), "feature 1", "feature 2")
        axis.label_outer()
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    save(figure, path)
