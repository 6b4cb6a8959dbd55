"""Heat map: differences in NMI between our methods and the best baseline of each cell."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from semicrowd.figures.style import new_figure, save
from semicrowd.pipeline.generality.plan import OURS

#: Differences of at least this size have the darkest colour.
_FULL = 0.3


def draw(table: pd.DataFrame, data: Sequence[str], regimes: Sequence[str], path: Path) -> None:
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
