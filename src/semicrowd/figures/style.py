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
MAIN, ACCENT, MUTED = COLOURS[0], COLOURS[3], "#8a8a8a"


def new_figure(width: float, height: float, title: str) -> Figure:
    """An empty figure, in inches, that belongs to no window."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, fontsize=12, parse_math=False)
    return figure


def tidy(axes: Axes, title: str, x: str, y: str) -> None:
    """Title, axis labels, a faint grid, no box."""
    axes.set_title(title, fontsize=10)
    axes.set(xlabel=x, ylabel=y, axisbelow=True)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def short(name: str, longest: int = 24) -> str:
    """A name of somebody's own in one line that fits, no formula of matplotlib's."""
    line = " ".join(name.split())
    return (line if len(line) <= longest else f"{line[: longest - 1]}…").replace("$", r"\$")


def look(rank: int) -> tuple[str, str]:
    """Colour and marker of the group of this rank."""
    return COLOURS[rank % len(COLOURS)], MARKERS[rank // len(COLOURS) % len(MARKERS)]


def ranks_like(groups: np.ndarray, reference: np.ndarray) -> dict[int, int]:
    """Ranks of ``groups`` [N], 0 for the largest of ``reference`` [N].

    A group has the rank of the reference's that it shares most items with. Each rank is given once; groups without a
    partner come after all of the reference.
    """
    names = np.unique(groups).tolist()
    sizes = np.unique(reference, return_counts=True)[1]
    rank = np.argsort(np.argsort(-sizes, kind="stable"))
    rows, columns = linear_sum_assignment(contingency_matrix(groups, reference), maximize=True)
    ranks = {names[r]: int(rank[c]) for r, c in zip(rows, columns, strict=True)}
    rest = (name for name in names if name not in ranks)
    return ranks | {name: len(sizes) + number for number, name in enumerate(rest)}


def in_rank_order(ranks: dict[int, int]) -> Iterator[tuple[int, str, str]]:
    """Groups with colour and marker, first rank first."""
    for name, rank in sorted(ranks.items(), key=lambda item: item[1]):
        yield name, *look(rank)


def save(figure: Figure, path: Path) -> Path:
    """Write a PNG as a whole or not at all; the path."""
    # "tight": beside images of a fixed aspect the layout may leave too little room for the names of rows.
    write_atomic(path, lambda temporary: figure.savefig(temporary, dpi=120, format="png", bbox_inches="tight"))
    return path
