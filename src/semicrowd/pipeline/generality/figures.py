"""Summary and heat map of the suite, from the table of cells: shares of the cells, ranks, differences in NMI.

A cell is a data set under a regime. A cell in which the baseline has no score does not count. A cell in which the
method itself has no score (its fit failed or took too long) counts against the method.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from semicrowd.figures.style import new_figure, save
from semicrowd.pipeline.generality.plan import OURS
from semicrowd.pipeline.generality.tables import UNINFORMED

#: NMI by which a method may be below another and still count as equal, in cells with answers.
NEAR = 0.02
#: The same in cells without answers.
NEAR_ALONE = 0.05


@dataclass(frozen=True)
class Share:
    """A number of cells out of all."""

    hits: int
    of: int

    def __str__(self) -> str:
        return f"{self.hits} of {self.of}"

    @property
    def percent(self) -> str:
        """In whole per cent."""
        return f"{100 * self.hits / self.of:.0f} %" if self.of else "–"

    @property
    def with_percent(self) -> str:
        """The share as a count and in per cent."""
        return f"{self} ({self.percent})" if self.of else str(self)


@dataclass(frozen=True)
class Figures:
    """The figures of one of our methods.

    Attributes
    ----------
    near : cells with answers in which it is above the best baseline or within NEAR of it
    below_kmeans, below_lr : cells with answers in which it is more than NEAR below k-means, below answers + LR
    worst : smallest difference to the best baseline in cells with answers, NaN if there is none
    rank : mean rank in cells with answers, NaN if there is none
    place, methods : place by mean rank, and number of methods with a mean rank
    alone : cells without answers in which it is within NEAR_ALONE of the better of k-means and GMM, or above
    chance : the same for cells with random answers
    exact, within_one : cells with answers in which the number of clusters (median over the seeds) equals the number of
        classes, or differs from it by at most one
    """

    near: Share
    below_kmeans: Share
    below_lr: Share
    worst: float
    rank: float
    place: int
    methods: int
    alone: Share
    chance: Share
    exact: Share
    within_one: Share


def with_answers(table: pd.DataFrame) -> pd.DataFrame:
    """The cells whose answers are informative."""
    return table[~table["regime"].isin(UNINFORMED)]


def figures(table: pd.DataFrame, method: str) -> Figures | None:
    """Figures of a method, from :func:`semicrowd.pipeline.generality.summary.cell_table`; None if it has no cells."""
    informed = with_answers(table)
    ranks = mean_ranks(informed)
    mine = informed[informed["method"] == method]
    alone, chance = (table[(table["method"] == method) & (table["regime"] == name)] for name in ("none", "chance"))
    if mine.empty and alone.empty and chance.empty:
        return None
    rank = float(ranks.get(method, np.nan))
    off = (mine["clusters_median"] - mine["classes"]).abs()
    return Figures(
        near=level(mine, "to_best", NEAR), below_kmeans=_below(mine, "to_kmeans"), below_lr=_below(mine, "to_lr"),
        worst=float(mine["to_best"].min()) if "to_best" in mine else np.nan, rank=rank,
        place=int((ranks < rank).sum()) + 1, methods=len(ranks), alone=level(alone, "to_plain", NEAR_ALONE),
        chance=level(chance, "to_plain", NEAR_ALONE), exact=Share(int((off == 0).sum()), len(mine)),
        within_one=Share(int((off <= 1).sum()), len(mine)),
    )  # fmt: skip


def level(cells: pd.DataFrame, column: str, near: float) -> Share:
    """Cells in which the difference is at least −near."""
    if column not in cells:
        return Share(0, 0)
    counted = cells[cells[column].notna() | cells["nmi"].isna()]
    return Share(int((counted[column] >= -near).sum()), len(counted))


def _below(cells: pd.DataFrame, column: str) -> Share:
    share = level(cells, column, NEAR)
    return Share(share.of - share.hits, share.of)


def mean_ranks(table: pd.DataFrame) -> pd.Series:
    """Mean rank of each method over the cells in which all methods have a rank."""
    return table.pivot(index=["data", "regime"], columns="method", values="rank").dropna().mean().dropna()


#: Differences of at least this size have the darkest colour.
_FULL = 0.3


def draw_differences(table: pd.DataFrame, data: Sequence[str], regimes: Sequence[str], path: Path) -> None:
    """Write a PNG with a panel for each of our methods that has a difference in the table of cells."""
    if "to_best" not in table:
        return
    ours = [m for m in OURS if table.loc[table["method"] == m, "to_best"].notna().any()]
    rows = [d for d in data if d in set(table["data"])]
    columns = [r for r in regimes if r in set(table["regime"])]
    if not ours:
        return
    figure = new_figure(1.5 + len(ours) * (1.2 + 0.75 * len(columns)), 1.6 + 0.45 * len(rows),
                        "NMI of all items, minus that of the best baseline (which is given K)")  # fmt: skip
    panels = figure.subplots(1, len(ours), squeeze=False, sharey=True)[0]
    for axes, method in zip(panels, ours, strict=True):
        mine = table[table["method"] == method].pivot(index="data", columns="regime", values="to_best")
        values = mine.reindex(index=rows, columns=columns).to_numpy(float)
        image = axes.imshow(values, cmap="RdBu", vmin=-_FULL, vmax=_FULL, aspect="auto")
        axes.set_title(method, fontsize=10)
        axes.set_xticks(range(len(columns)), columns, rotation=60, ha="right", fontsize=8)
        axes.set_yticks(range(len(rows)), rows, fontsize=8)
        fitted = set(zip(table["data"], table["regime"], table["method"], strict=True))
        for (row, column), value in np.ndenumerate(values):
            if np.isnan(value):
                missing = "no score" if (rows[row], columns[column], method) in fitted else ""
                axes.text(column, row, missing, ha="center", va="center", fontsize=6, color="black")
            else:
                colour = "white" if abs(value) > 0.6 * _FULL else "black"
                axes.text(column, row, f"{value:+.2f}", ha="center", va="center", fontsize=7, color=colour)
    figure.colorbar(image, ax=list(panels), shrink=0.8)
    save(figure, path)
