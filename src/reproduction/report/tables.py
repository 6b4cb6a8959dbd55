"""Tables of the report: summaries of runs, differences between rows, and whether a paper's conclusions hold here.

A cell is the mean ± standard deviation of the runs that have the values of ``where``. Whether a conclusion of a paper
holds here is computed from the differences between two rows.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from reproduction.report.runs import select
from semicrowd.errors import UserError

#: Columns beside the paper's, in their order; a table has those with a run.
COLUMNS = {
    "protocol": "the paper's protocol", "released": "the authors' code, rebuilt", "alone": "the paper's model alone",
    "ours": "our default",
}  # fmt: skip
#: Marks of :func:`mark`, and none, from the best on: what our number is beside a printed one.
STATES = {"↑": "beaten", "=": "reached", "↓": "missed", "": "no data"}
#: Printed beside ours, but no results: numbers of clusters, sizes, and seconds of other machines.
_UNMARKED = ("clusters", "number", "seconds")
#: Runs are compared that are equal in these.
_PAIRED = ("seed", "data.data_seed", "data.fold")


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation of one number over runs.

    Attributes
    ----------
    mean, sd : in the unit of the metric; ``sd`` is the sample standard deviation, None for a single number
    n : how many numbers are averaged: runs, or the kept partitions of a sampler's chains
    runs : the runs' rows, each with its number in the column ``value``
    remark : runs that failed; of a difference its standard error, of chains whether they have mixed
    """

    mean: float
    sd: float | None
    n: int
    runs: pd.DataFrame
    remark: str = ""


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes
    ----------
    label : its name, the paper's as far as possible
    key : short name by which differences and figures refer to the row
    at : values of the settings that ``each`` varies
    paper : quantity → the printed number and its standard deviation
    cells : quantity → column → summaries of the pipeline's runs and of recorded runs, as far as there are some
    spec : the row in printed.yaml, with what it has from its exhibit
    """

    label: str
    key: str
    at: tuple[Any, ...]
    paper: dict[str, list[Any]]
    cells: dict[str, dict[str, list[Summary]]]
    spec: Mapping[str, Any] = field(default_factory=dict)

    def counts(self, quantity: str) -> bool:
        """Whether this is a result that the paper prints, here for the first time."""
        return quantity in self.paper and not quantity.startswith(_UNMARKED) and "repeats" not in self.spec

    def number(self, quantity: str, column: str = "ours") -> Summary | None:
        """The number of the pipeline's runs, or else of recorded ones; None if there are none."""
        return next(iter(self.cells.get(quantity, {}).get(column, ())), None)

    def first_run(self, column: str = "ours") -> pd.Series | None:
        """The first finished run of the pipeline, whose folder has files; None if there is none."""
        found = (one.runs for columns in self.cells.values() for one in columns.get(column, ()))
        return next((runs.iloc[0] for runs in found if not runs["recorded"].iloc[0]), None)

    @property
    def has_runs(self) -> bool:
        """Whether any column has a number."""
        return any(summaries for columns in self.cells.values() for summaries in columns.values())


def summarise(runs: pd.DataFrame, metric: str | Sequence[str], take: str = "mean") -> Summary | None:
    """The first of some metrics that the runs have, over those that have it; None without such runs.

    Numbers of one sampler's run (``samples/…``) have the standard deviation of its chains' kept partitions;
    ``take="max"`` gives the highest.

    Raises
    ------
    UserError
        If a number is infinite: such a run has failed and must not hide in a mean.
    """
    ends = zip(runs["seed"], runs["status"], strict=True)
    remark = "; ".join(f"seed {seed} {status}" for seed, status in ends if status != "finished")
    for name in [metric] if isinstance(metric, str) else metric:
        values = runs[name][runs["status"] == "finished"].dropna() if name in runs else pd.Series()
        if values.empty:
            continue
        values = values.astype(float)
        found = runs.loc[values.index].assign(value=values)
        if not np.isfinite(values).all():
            raise UserError(f"{name}: not finite in {', '.join(found['folder'][~np.isfinite(values)])}")
        if take == "max":
            return Summary(float(values.max()), None, len(found), found, "the best run by the labels (oracle)")
        if name.startswith("samples/") and len(found) == 1:
            run = found.iloc[0]
            kept = run["params.n_chains"] * min(run["params.n_kept"], run["params.n_sweeps"])
            of = (("K", "clusters"), ("ln p(x | z)", "log_likelihood"))
            known = ", ".join(f"of {what} {run.get(f'chains/rhat_{one}', np.inf):.2f} (ESS "
                              f"{run.get(f'chains/ess_{one}', np.inf):.0f})" for what, one in of)  # fmt: skip
            mixed = "mixed" if run["chains/mixed"] else "NOT MIXED"
            remark = f"{run['params.n_chains']} chains, {mixed}: R-hat {known}"
            return Summary(float(values.iloc[0]), float(run[f"{name}_sd"]), int(kept), found, remark)
        return _mean(values, found, remark)
    return None


def _mean(values: pd.Series, runs: pd.DataFrame, remark: str) -> Summary:
    return Summary(float(values.mean()), float(values.std()) if len(values) > 1 else None, len(values), runs, remark)


def fill(exhibit: Mapping[str, Any], runs: pd.DataFrame) -> list[Row]:
    """The rows of an exhibit; a row with ``each`` comes once for every value that it names, or that runs have."""
    rows = []
    for spec in exhibit.get("rows", ()):
        own = {name: {**exhibit.get(name, {}), **spec.get(name, {})} for name in ("settings", "where")}
        merged = {**exhibit, **spec, **own}
        found = {name: select(runs, {**own["where"], **spec[name]}) for name in COLUMNS if name in spec}
        each = spec.get("each", {})
        values = [
            wanted
            or sorted({one for of in found.values() for one in of.get(name, pd.Series()).dropna()} - {"null"})
            or ["…"]
            for name, wanted in each.items()
        ]
        for at in product(*values):
            here = {name: select(of, dict(zip(each, at, strict=True))) for name, of in found.items()}
            # The pipeline's runs, and recorded ones: they are not mixed.
            parts = {name: [of[of["recorded"] == kept] for kept in (False, True)] for name, of in here.items()}
            cells = {
                quantity: {
                    name: [one for of in both if (one := summarise(of, metric, spec.get("take", "mean"))) is not None]
                    for name, both in parts.items()
                }
                for quantity, metric in merged["metrics"].items()
            }
            label = spec["row"].format(*(f"{one:g}" if isinstance(one, float) else one for one in at))
            paper = {name: one if isinstance(one, list) else [one, None] for name, one in spec.get("paper", {}).items()}
            rows.append(Row(label, spec.get("key", spec["row"]), at, paper, cells, merged))
    return [*rows, *_differences(exhibit, rows)]


def _differences(exhibit: Mapping[str, Any], rows: Sequence[Row]) -> Iterator[Row]:
    """A row for each pair of cells, ``key.column``, that an exhibit subtracts from each other."""
    by_key = {(row.key, row.at): row for row in rows}
    for spec in _over(exhibit.get("differences", ())):
        (first, of_column), (second, minus_column) = (spec[name].rpartition(".")[::2] for name in ("of", "minus"))
        if not {first, second} <= {row.key for row in rows}:  # a misspelt key would otherwise give no row
            raise UserError(f"{exhibit['key']}: {spec['of']}, {spec['minus']}: expected keys of rows")
        for row in (row for row in rows if row.key == first and (second, row.at) in by_key):
            cells: dict[str, dict[str, list[Summary]]] = {}
            for quantity in exhibit.get("compared", row.cells):
                of, minus = (
                    [one.runs for one in at.cells.get(quantity, {}).get(column, ())]
                    for at, column in ((row, of_column), (by_key[second, row.at], minus_column))
                )
                summary = paired(pd.concat(of), pd.concat(minus), spec.get("test_to_train")) if of and minus else None
                cells[f"{quantity}, paired difference"] = {"ours": [summary] if summary else []}
            label = ", ".join([spec["row"], *map(str, row.at)])
            yield Row(label, spec["row"], (), {}, cells, {"row": label, "settings": {}})


def paired(of: pd.DataFrame, minus: pd.DataFrame, test_to_train: float | None = None) -> Summary | None:
    """Mean of ``value`` of one run minus that of the other, over runs of the same seed, draw, fold, items and answers.

    Parameters
    ----------
    of, minus : runs with their number in the column ``value``; of two of the same seed, draw and fold the first counts
    test_to_train : size of a test split over that of its training split; the remark then has :func:`corrected_p`
    """
    pairs = _pairs(of, minus)
    values = pairs["value"] - pairs["value/other"]
    if values.empty:
        return None
    remark = f"standard error {values.sem():.3f}" if len(values) > 1 else "one pair"
    if test_to_train is not None and np.isfinite(p := corrected_p(values.to_numpy(), test_to_train)):
        remark += f", corrected p = {p:.2g}"
    runs = pd.concat([one[one["seed"].isin(pairs["seed"])] for one in (of, minus)])
    return _mean(values, runs, remark)


def _pairs(of: pd.DataFrame, minus: pd.DataFrame) -> pd.DataFrame:
    """Pairs of runs: ``value`` is that of the first, ``value/other`` that of the second run."""
    compared = ("value", "data", "answers.num_pairs", "answers.simulated", *_PAIRED)
    first, second = (
        one[[name for name in one if name in compared or (str(name).startswith("data.") and one[name].notna().any())]]
        .drop_duplicates([name for name in _PAIRED if name in one]) for one in (of, minus)
    )  # fmt: skip
    pairs = first.merge(second, on=[name for name in _PAIRED if name in of and name in minus], suffixes=("", "/other"))
    same, same_data = pd.Series(True, pairs.index), pairs.get("data", 0) == pairs.get("data/other", 0)
    for name in first:
        if f"{name}/other" in pairs and name not in ("value", "data"):
            one, other = pairs[name], pairs[f"{name}/other"]
            equal = one.isna() | other.isna() | (one == other)  # a run without answers has all
            same &= equal | ~same_data if str(name).startswith("data.") else equal
    return pairs[same].astype({"value": float, "value/other": float})


def corrected_p(differences: np.ndarray, test_to_train: float) -> float:
    """Two-sided p of the corrected resampled t test of Nadeau & Bengio (2003); nan where nothing varies.

    Each value is of one split into training and test items. Splits share items, so that the variance of the mean does
    not decrease as 1/n: the test assumes (1/n + n_test/n_train) s², with n − 1 degrees of freedom. The p of a usual t
    test (``test_to_train`` = 0) becomes arbitrarily small if the same items are split often enough.
    """
    n = len(differences)
    variance = float(np.var(differences, ddof=1)) if n > 1 else 0.0
    if not variance:
        return float("nan")
    t = float(np.mean(differences)) / np.sqrt((1 / n + test_to_train) * variance)
    return float(2 * stats.t.sf(abs(t), n - 1))


def format_number(mean: float, sd: float | None, quantity: str) -> str:
    """``mean ± sd``: three digits, one for counts and seconds; a difference has its sign."""
    count = quantity.startswith(("clusters", "number"))
    texts = [f"{one:.1f}".removesuffix(".0") if count else f"{one:.{1 if quantity.startswith('seconds') else 3}f}"
             for one in (mean, sd) if one is not None]  # fmt: skip
    sign = "+" if quantity.endswith("paired difference") and mean >= 0 else ""
    return sign + " ± ".join(texts).replace("-", "−")


def conclusions(paper: Mapping[str, Any], tables: Mapping[str, Sequence[Row]]) -> list[dict[str, Any]]:
    """Whether what a paper concludes holds here: a row for each of its claims and quantities.

    A claim says that ``of``, the key of a row, has higher numbers than ``minus``. Both are compared within each column
    unless a key names one, ``key.column``. ``at`` has pairs of values at which rows with ``each`` are compared. A
    difference is that of :func:`paired`, averaged over the values of ``each`` for each seed, or for each value of
    ``unit``; ``test_to_train`` as in :func:`corrected_p`. A claim with ``ratio`` is about the factor between two rows,
    one with ``columns`` about these alone.

    Parameters
    ----------
    tables : key of an exhibit → its rows
    """
    found = []
    for claim in _over(paper.get("conclusions", ())):
        keys = claim["of"], claim["minus"]
        named = [key.rpartition(".") if key.endswith(tuple(f".{name}" for name in COLUMNS)) else (key, "", "")
                 for key in keys]  # fmt: skip
        first, second = ({row.at: row for row in tables[claim["exhibit"]] if row.key == key} for key, _, _ in named)
        if not first or not second:
            raise UserError(f"{claim['exhibit']}: {', '.join(keys)}: expected keys of rows")
        if "at" in claim:
            rows = [(first.get((one,)), second.get((other,))) for one, other in claim["at"]]
        else:
            rows = [(row, second.get(at, second.get(()))) for at, row in first.items()]
        for quantity in claim["quantities"]:
            cells = {
                column: _verdict(rows, quantity, [own or column for _, _, own in named], claim)
                for column in ([named[0][2]] if named[0][2] else claim.get("columns", COLUMNS))
            }
            kept = {column: cell for column, cell in cells.items() if cell is not None}
            found.append({**claim, "quantity": quantity, "cells": kept})
    return found


def mark(quantity: str, paper: float, sd: float | None, ours: float) -> str:
    """↑ if ours is better than the paper's by more than the printed sd, or .01 without one, ↓ if worse, = between."""
    if quantity.startswith(_UNMARKED):
        return ""
    return "=" if abs(ours - paper) <= (sd or 0.01) + 1e-9 else "↑" if ours > paper else "↓"


def scoreboard(tables: Mapping[str, Sequence[Row]]) -> list[dict[str, Any]]:
    """How many of a paper's printed results are beaten, reached, missed (:func:`mark`), or have no run of ours.

    One entry for each column, first one of the best column of each result (``column`` "best"): its ``name``, how many
    ``numbers`` it could have, and state → key of an exhibit → how many.

    Parameters
    ----------
    tables : key of an exhibit → its rows
    """
    counts = {column: {state: Counter[str]() for state in STATES.values()} for column in ("best", *COLUMNS)}
    for exhibit, row in ((exhibit, row) for exhibit, rows in tables.items() for row in rows):
        for quantity, (printed, sd) in row.paper.items():
            if not row.counts(quantity):
                continue
            ours = {column: row.number(quantity, column) for column in row.cells.get(quantity, ())}
            marks = {column: mark(quantity, printed, sd, one.mean) if one else "" for column, one in ours.items()}
            best = min(marks.values(), key=list(STATES).index, default="")
            for column, found in {"best": best, **marks}.items():
                counts[column][STATES[found]][exhibit] += 1
    names = {"best": "the best of these, result by result", **COLUMNS}
    return [{"column": column, "name": names[column], "numbers": total, **states}
            for column, states in counts.items() if (total := sum(one.total() for one in states.values()))]  # fmt: skip


def _over(specs: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each specification once for every combination of the values in its ``over``, which are put into its texts."""
    for spec in specs:
        for values in product(*spec.get("over", ())):
            yield {name: one.format(*values) if isinstance(one, str) else one for name, one in spec.items()}


def _verdict(
    rows: Sequence[tuple[Row | None, Row | None]], quantity: str, columns: Sequence[str], claim: Mapping[str, Any]
) -> tuple[str, str] | None:
    """Whether a claim holds, and the number that says so; None without pairs of runs.

    Of three pairs at least: above two standard errors the claim holds, below minus two it is reversed. A factor of at
    least half of the paper's holds, a smaller one above 1 is weaker.
    """
    pairs = []
    for both in ((one, other) for one, other in rows if one is not None and other is not None):
        of, minus = ([one.runs for one in row.cells.get(quantity, {}).get(column, ())]
                     for row, column in zip(both, columns, strict=True))  # fmt: skip
        pairs += [_pairs(pd.concat(of), pd.concat(minus))] if of and minus else []
    if not pairs or (all_pairs := pd.concat(pairs)).empty:
        return None
    unit = claim.get("unit", [name for name in _PAIRED if name in all_pairs])
    mean = all_pairs.groupby(unit, dropna=False)[["value", "value/other"]].mean()
    n = len(mean)
    if "ratio" in claim:
        printed = [row.paper[quantity][0] for row in rows[0] if row is not None]
        ratio, paper = mean["value"].mean() / mean["value/other"].mean(), printed[0] / printed[1]
        verdict = "holds" if ratio >= paper / 2 else "weaker" if ratio > 1 else "reversed"
        return verdict, f"{ratio:.1f} times (paper: {paper:.1f}), n {n}"
    values = mean["value"] - mean["value/other"]
    error = float(np.sqrt((1 / n + claim.get("test_to_train", 0)) * values.var())) if n > 1 else np.nan
    decided = n > 2 and abs(values.mean()) > 2 * error
    verdict = "not decided" if not decided else "holds" if values.mean() > 0 else "reversed"
    number = format_number(float(values.mean()), error if n > 1 else None, f"{quantity}, paired difference")
    return verdict, f"{number}, n {n}"
