"""The papers' printed numbers beside those of recorded runs: what docs/results.md shows of each paper.

The number of runs is a text, ``5×10`` for ten starts each, and says what failed and which runs were shorter.
"""

import re
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from reproduction.report.engine import deviations, read_papers
from reproduction.report.tables import Row, Summary, conclusions, fill, format_number, mark

#: Column of the report → whose a line is.
WHOSE = {"protocol": "its protocol", "released": "its code, rebuilt", "alone": "its model", "ours": "our default"}
#: A folder without runs of the pipeline, whose numbers are not kept.
NO_RESULTS = Path("nowhere")
_STARTS = ("params.restarts", "model.restarts", "params.n_init", "model.n_init")
#: Rows of a table, its head first.
Table = list[list[str]]


class Number(NamedTuple):
    """A mean over n, and the anchor of its source."""

    mean: float
    sd: float | None
    n: str
    source: str


def short(mean: float, sd: float | None = None, quantity: str = "") -> str:
    """A number as the page has it, ``.978±.063``; a dash for one that is not there."""
    text = "–" if pd.isna(mean) else format_number(mean, None if pd.isna(sd) else sd, quantity)
    return re.sub(r"(?<![\d.])0(?=\.)", "", text).replace(" ± ", "±")


#: Column → quantity → number.
Numbers = dict[str, dict[str, Number]]


def _numbers(row: Row, measured: pd.DataFrame) -> Numbers:
    """Numbers of recorded runs, and of what was measured once, which counts as ours."""
    found: Numbers = {}
    for column in WHOSE:
        for quantity, columns in row.cells.items():
            for one in columns.get(column, ())[:1]:
                source = one.runs["experiment"].iloc[0].replace("../slpd/", "slpd_")
                found.setdefault(column, {})[quantity] = Number(one.mean, one.sd, _runs(row, column, one), source)
    named = measured[(measured["method"] == row.label) | (measured["data"] + ", " + measured["method"] == row.label)]
    for one in named.itertuples():
        for quantity in (name for name in row.cells if name.lower() == one.quantity):
            found.setdefault("ours", {}).setdefault(quantity, Number(one.mean, one.sd, f"{one.n}", "measured"))
    return found


def _runs(row: Row, column: str, one: Summary) -> str:
    starts = pd.to_numeric(one.runs.reindex(columns=_STARTS).stack(), errors="coerce").max()
    failed = [f"{number} failed"] if (number := one.remark.count(" failed")) else []
    differs = deviations(row, one) if row.paper and column in ("protocol", "released") else []
    epochs = [f"{text.split()[1]} epochs" for text in differs if text.startswith("epochs ")]
    runs = f"{one.n}×{starts:.0f}" if starts > 1 else str(one.n)
    return "; ".join([runs, *failed, *epochs])


def papers(runs: pd.DataFrame, measured: pd.DataFrame) -> list[dict[str, Any]]:
    """What the page shows of each paper; ``cells``: exhibit, key and what varies → a row and its numbers."""
    shown = []
    for paper, content in read_papers().items():
        own = import_module(f"reproduction.report.{paper}.figures").prepare(runs, NO_RESULTS)
        scores, count, exhibits = {column: Counter[str]() for column in WHOSE}, Counter[str](), []
        cells: dict[tuple[Any, ...], tuple[Row, Numbers]] = {}
        computed = [one for one in content["exhibits"] if one.get("computed", True)]
        tables = {one["key"]: fill({**one, "differences": ()}, own) for one in computed}
        for spec, rows in zip(computed, tables.values(), strict=True):
            once = measured[(measured["paper"] == paper) & (measured["exhibit"] == spec["label"])]
            numbers = [_numbers(row, once) for row in rows]
            for row, columns in zip(rows, numbers, strict=True):
                cells[spec["key"], row.key, *row.at] = row, columns
                for quantity, (printed, sd) in row.paper.items():
                    if not row.counts(quantity):
                        continue
                    had = [column for column, of in columns.items() if quantity in of]
                    state = "no data" if row.spec.get("no_data") else "ours" if had else "no run"
                    count.update(["printed", state, *(["other data"] if had and "other_data" in row.spec else [])])
                    for column in had:
                        scores[column][mark(quantity, printed, sd, columns[column][quantity].mean)] += 1
            exhibits.append({**spec, "rows": rows, "numbers": numbers})
        shown.append({**content, "scores": scores, "count": count, "exhibits": exhibits, "cells": cells,
                      "claims": conclusions(content, tables)})  # fmt: skip
    return shown
