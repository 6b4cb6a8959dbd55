"""The same points side by side, each panel coloured by another partition."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import numpy as np
from matplotlib.patches import Circle

from semicrowd.figures.style import MUTED, in_rank_order, new_figure, ranks_by_size, ranks_like, save, tidy


@dataclass(frozen=True)
class Panel:
    """Points [N, 2] in the plane, coloured by their group [N]; circles [C, 3] by centre and radius."""

    title: str
    points: np.ndarray
    groups: np.ndarray
    circles: np.ndarray | None = None


def draw(title: str, panels: Sequence[Panel], path: Path) -> None:
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
        ranks = ranks_by_size(reference) if panel is panels[0] else ranks_like(panel.groups, reference)
        for group, colour, marker in in_rank_order(ranks):
            points = panel.points[panel.groups == group]
            axis.scatter(points[:, 0], points[:, 1], s=12, alpha=0.75, linewidths=0, color=colour, marker=marker)
        for *centre, radius in () if panel.circles is None else panel.circles:
            axis.add_patch(Circle(centre, radius, fill=False, color=MUTED, lw=1.2))
        axis.set_aspect("equal")
        tidy(axis, fill(panel.title, 48), "feature 1", "feature 2")
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    save(figure, path)
