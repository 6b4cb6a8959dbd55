"""Items as points in the plane, coloured by cluster, and by true class if labels are known."""

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

from semicrowd.figures.style import MUTED, in_rank_order, new_figure, ranks_like, save, short, tidy
from semicrowd.metrics import USED_SHARE
from semicrowd.random import stream

#: Maximum number of points; more would only cover each other.
_MOST = 3000
#: Maximum number of groups in a legend.
_LEGEND = 16


def scatter(
    points: np.ndarray, clusters: np.ndarray, labels: np.ndarray | None, class_names: Sequence[str] | None, title: str,
    axis: str,
) -> Figure:  # fmt: skip
    """Points coloured by cluster and, where labels are known, once more by true class in the matching colours.

    Parameters
    ----------
    points : [N, D], D >= 2; with D > 2 the plane that separates the clusters most is drawn (linear discriminants;
        principal components if there are fewer than three clusters)
    clusters, labels : [N]
    class_names : of labels; None: numbers are shown
    axis : name of an axis, such as "feature"
    """
    number, (points, axis) = len(points), _plane(points, clusters, axis)
    shown = np.sort(stream(0, "figures/items").permutation(number)[:_MOST])
    drawn = "" if len(shown) == number else f" ({len(shown)} of {number} items drawn)"
    kinds = {"cluster": clusters} if labels is None else {"cluster": clusters, "class": labels}
    figure = new_figure(6.4 * len(kinds), 6.4, title + drawn)
    panels = figure.subplots(1, len(kinds), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (what, groups) in zip(panels, kinds.items(), strict=True):
        placed: list[np.ndarray] = []
        ranks = ranks_like(groups, clusters)
        for group, colour, marker in in_rank_order(ranks):
            own, share = points[shown[groups[shown] == group]], float((groups == group).mean())
            name = short(class_names[group], 16) if what == "class" and class_names else str(group)
            axes.scatter(own[:, 0], own[:, 1], s=14 if len(shown) <= 1000 else 9, alpha=0.7, linewidths=0, color=colour,
                         marker=marker, label=f"{what} {name}: {100 * share:.1f} %")  # fmt: skip
            if share < USED_SHARE or not len(own):
                continue
            # At a point of the group, as the median may lie outside a bent one, unless it would cover another name.
            place = own[np.abs(own - np.median(own, axis=0)).sum(1).argmin()]
            room = np.ptp(points, axis=0) * (0.026 * len(name), 0.05)
            if all((np.abs(place - other) >= room).any() for other in placed):
                placed.append(place)
                axes.annotate(name, place, ha="center", va="center", fontsize=11, fontweight="bold",
                              path_effects=[withStroke(linewidth=3, foreground="white")])  # fmt: skip
        _legend(axes)
        title = f"{len(ranks)} true classes" if what == "class" else f"{len(ranks)} clusters found"
        tidy(axes, title, axis.format(1), axis.format(2))
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
    """
    figure = new_figure(7.2, 6.4, title)
    axes = figure.subplots()
    x, y = points[stream(0, "figures/items").permutation(len(points))[:_MOST]].T
    axes.scatter(x, y, s=8, color=MUTED, alpha=0.4, linewidths=0)
    ranks = ranks_like(clusters, clusters)
    for cluster in np.argsort(-weights, kind="stable").tolist():
        ranks.setdefault(cluster, len(ranks))
    used = [entry for entry in in_rank_order(ranks) if weights[entry[0]] >= USED_SHARE]
    for k, colour, marker in used:
        x, y = samples[k].T
        label = f"cluster {k}: {100 * weights[k]:.1f} %"
        axes.scatter(x, y, s=16, alpha=0.8, linewidths=0, label=label, color=colour, marker=marker)
    tidy(axes, f"means of samples from {len(used)} clusters, over the data (grey)", "feature 1", "feature 2")
    _legend(axes)
    return figure


def _plane(points: np.ndarray, clusters: np.ndarray, axis: str) -> tuple[np.ndarray, str]:
    """The points in two dimensions, and the name of the axes, with {} for their number."""
    if points.shape[1] == 2:
        return points, f"{axis} {{}}"
    what = f"{{}} of {points.shape[1]} {axis}s"
    if 3 <= len(np.unique(clusters)) < len(clusters):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Variables are collinear")  # dimensions that are not in use
            projected = LinearDiscriminantAnalysis().fit(points, clusters).transform(points)
        if projected.shape[1] >= 2:  # fewer where the clusters' means lie on a line
            return projected[:, :2], f"discriminant {what}"
    return PCA(2, svd_solver="full").fit_transform(points), f"principal component {what}"


def _legend(axes: Axes) -> None:
    """Names of the groups below the axes, the largest first."""
    groups, names = axes.get_legend_handles_labels()
    title = f"the {_LEGEND} largest of {len(groups)}" if len(groups) > _LEGEND else None
    axes.legend(groups[:_LEGEND], names[:_LEGEND], fontsize=8, markerscale=1.6, frameon=False, ncols=4, title=title,
                loc="upper center", bbox_to_anchor=(0.5, -0.1), title_fontsize=8, columnspacing=1.2,
                handletextpad=0.2)  # fmt: skip


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
    figure = new_figure(9.6, 4.4 * rows, title)
    grid = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        for group, colour, marker in in_rank_order(ranks_like(panel.groups, panels[0].groups)):
            points = panel.points[panel.groups == group]
            axes.scatter(points[:, 0], points[:, 1], s=12, alpha=0.75, linewidths=0, color=colour, marker=marker)
        for *centre, radius in () if panel.circles is None else panel.circles:
            axes.add_patch(Circle(centre, radius, fill=False, color=MUTED, lw=1.2))
        axes.set_aspect("equal")
        tidy(axes, fill(panel.title, 48), "feature 1", "feature 2")
        axes.label_outer()
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    save(figure, path)
