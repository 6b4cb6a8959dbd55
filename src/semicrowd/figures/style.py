"""One look for all figures: colours, markers, sizes, and how a figure becomes a file."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from semicrowd.files import write_atomic

#: Okabe and Ito (2008), told apart with any colour vision; yellow is darkened to be seen on white.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#000000", "#b8a800")
#: With more groups than colours, the colours come again with another marker.
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
MAIN = COLOURS[0]
ACCENT = COLOURS[3]
MUTED = "#8a8a8a"
DPI = 120


def new_figure(width: float, height: float, title: str) -> Figure:
    """An empty figure, in inches, that belongs to no window."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, fontsize=12, parse_math=False)
    return figure


def tidy(axes: Axes, title: str, x: str, y: str) -> None:
    """Title, axis labels, a faint grid, no box."""
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def short(name: str, longest: int = 24) -> str:
    """A name of somebody's own in one line that fits."""
    line = " ".join(name.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def percent(share: float) -> str:
    """A share of 1, such as ``19.4 %``."""
    return f"{100 * share:.1f} %"


def look(rank: int) -> tuple[str, str]:
    """Colour and marker of the group of this rank."""
    return COLOURS[rank % len(COLOURS)], MARKERS[rank // len(COLOURS) % len(MARKERS)]


def ranks_by_size(groups: np.ndarray) -> dict[int, int]:
    """Rank of every group that occurs in ``groups`` [N]: 0 for the largest."""
    names, sizes = np.unique(groups, return_counts=True)
    return {int(name): rank for rank, name in enumerate(names[np.argsort(-sizes, kind="stable")])}


def ranks_like(groups: np.ndarray, reference: np.ndarray) -> dict[int, int]:
    """Ranks of ``groups`` [N] such that a group looks like the one of ``reference`` [N] it shares most items with.

    Each rank is given once; groups without a partner come after all of ``reference``.
    """
    reference_ranks = ranks_by_size(reference)
    names, reference_names = np.unique(groups), np.unique(reference)
    rows, columns = linear_sum_assignment(contingency_matrix(groups, reference), maximize=True)
    ranks = {int(names[r]): reference_ranks[int(reference_names[c])] for r, c in zip(rows, columns, strict=True)}
    rest = (int(name) for name in names if int(name) not in ranks)
    return ranks | {name: len(reference_ranks) + number for number, name in enumerate(rest)}


def in_rank_order(ranks: dict[int, int]) -> Iterator[tuple[int, str, str]]:
    """Groups with colour and marker, first rank first."""
    for name, rank in sorted(ranks.items(), key=lambda item: item[1]):
        yield name, *look(rank)


def save(figure: Figure, path: Path) -> Path:
    """Write a PNG as a whole or not at all; the path.

    Raises
    ------
    UserError
        Where the file cannot be written.
    """
    # "tight": beside images of a fixed aspect the layout may leave too little room for the names of rows.
    write_atomic(path, lambda temporary: figure.savefig(temporary, dpi=DPI, format="png", bbox_inches="tight"))
    return path
