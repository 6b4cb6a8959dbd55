"""The papers' printed numbers beside those of recorded runs: tables of docs/results.md, and the README's.

A result is better or worse than the paper's if it differs by more than the paper's standard deviation.
"""

import re
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from reproduction.report.engine import read_papers
from reproduction.report.tables import Row, fill, format_number, mark

#: Column of the report → whose a line is.
WHOSE = {"protocol": "its protocol", "released": "its code, rebuilt", "alone": "its model", "ours": "our default"}
#: Rows of a table, its head first.
Table = list[list[str]]


class Number(NamedTuple):
    """A mean over n, and the anchor of its source."""

    mean: float
    sd: float | None
    n: int
    source: str


def short(mean: float, sd: float | None = None, quantity: str = "") -> str:
    """A number as the page has it, ``.978±.063``; a dash for one that is not there."""
    text = "–" if pd.isna(mean) else format_number(mean, None if pd.isna(sd) else sd, quantity)
    return re.sub(r"(?<![\d.])0(?=\.)", "", text).replace(" ± ", "±")


#: Column → quantity → number.
Numbers = dict[str, dict[str, Number]]


def _numbers(row: Row, measured: pd.DataFrame) -> Numbers:
    """Numbers of recorded runs, and of what was measured once (which has a column and a source)."""
    found: Numbers = {}
    for column in WHOSE:
        for quantity, columns in row.cells.items():
            for one in columns.get(column, ())[:1]:
                source = one.runs["experiment"].iloc[0].replace("../slpd/", "slpd_")
                found.setdefault(column, {})[quantity] = Number(one.mean, one.sd, one.n, source)
    named = measured[(measured["method"] == row.label) | (measured["data"] + ", " + measured["method"] == row.label)]
    for one in named.itertuples():
        for quantity in (name for name in row.cells if name.lower() == one.quantity):
            found.setdefault(one.column, {}).setdefault(quantity, Number(one.mean, one.sd, one.n, one.source))
    return found


def named(label: str, column: str) -> str:
    """A line's name; of other lines than those of our default whose it is."""
    return label if column == "ours" else f"{label}, {WHOSE[column]}"


def _exhibit(rows: Sequence[Row], numbers: Sequence[Numbers], seen: set[tuple[float, str]]) -> Table:
    """A line for what the paper prints in a row and one for each column of ours; what stood above is left out."""
    asked = [name for row in rows for name in row.paper]
    wanted = dict.fromkeys([*asked, "clusters"] if asked else list(rows[0].cells)[:3])
    shown = [one for one in wanted if one in asked or any(one in of for row in numbers for of in row.values())]
    table = [["", "n", *shown]]
    for row, columns in zip(rows, numbers, strict=True):
        if row.paper:
            n = str(row.spec.get("n", "")) if columns else "no data" if row.spec.get("no_data") else "no run"
            printed = {name: short(mean, sd, name) for name, (mean, sd) in row.paper.items()}
            table.append([f"{row.label}: paper", n, *(printed.get(one, "") for one in shown)])
        for column, of in columns.items():
            first = next((of[one] for one in shown if one in of), None)
            if first is None or (not row.paper and (first.mean, first.source) in seen):
                continue
            seen.add((first.mean, first.source))
            ours = {name: short(one.mean, one.sd, name) for name, one in of.items()}
            for name, (mean, sd) in row.paper.items():
                ours[name] = ours.get(name, "") + (mark(name, mean, sd, of[name].mean) if name in of else "")
            remark = f" ({row.spec['remark']})" if column == "ours" and row.spec.get("remark") else ""
            name = WHOSE[column] + remark if row.paper else named(row.label, column)
            table.append([f"[{name}](#{first.source})", str(first.n), *(ours.get(one, "") for one in shown)])
    return table


def papers(runs: pd.DataFrame, measured: pd.DataFrame) -> list[dict[str, Any]]:
    """What the page shows of each paper; ``cells``: exhibit, key and what varies → a row and its numbers."""
    shown = []
    for paper, content in read_papers().items():
        own = import_module(f"reproduction.report.{paper}.figures").prepare(runs, Path("nowhere"))
        scores, count, exhibits = {column: Counter[str]() for column in WHOSE}, Counter[str](), []
        cells: dict[tuple[Any, ...], tuple[Row, Numbers]] = {}
        seen: set[tuple[float, str]] = set()
        for spec in (one for one in content["exhibits"] if one.get("computed", True)):
            rows = fill({**spec, "differences": ()}, own)
            once = measured[(measured["paper"] == paper) & (measured["exhibit"] == spec["label"])]
            numbers = [_numbers(row, once) for row in rows]
            for row, columns in zip(rows, numbers, strict=True):
                cells[spec["key"], row.key, *row.at] = row, columns
                for quantity, (mean, sd) in row.paper.items():
                    had = [column for column, of in columns.items() if quantity in of]
                    count.update(["printed", "no data" if row.spec.get("no_data") else "ours" if had else "no run"])
                    for column in had:
                        scores[column][mark(quantity, mean, sd, columns[column][quantity].mean)] += 1
            if len(table := _exhibit(rows, numbers, seen)) > 1:
                exhibits.append({"key": spec["key"], "label": spec["label"], "title": spec["title"], "table": table})
        shown.append({**content, "scores": scores, "count": count, "exhibits": exhibits, "cells": cells})
    return shown
