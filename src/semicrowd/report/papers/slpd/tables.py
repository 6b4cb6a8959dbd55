"""Tables 1 to 3 of the SLPD paper: sizes; balanced Rand index on test folds of k-means, CKM, LPD and SLPD."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from semicrowd.pipeline.slpd.plan import FOLDER, SETS, SHARES
from semicrowd.pipeline.slpd.tables import SIZE, read_rows
from semicrowd.report.cells import Cell, Summary, summarise
from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.papers.slpd.paper_values import COLUMNS, QUANTITY, cell_name
from semicrowd.report.runs import Collected

#: Ours alone: other choices where the paper leaves one open.
OTHERS = (
    "slpd, one start", "ckm, one start", "ckm, standardised", "ckm, range", "ckm, as they are",
)
TEXT = (
    "Balanced Rand index of the items of a test fold, each from its features alone; n counts trials, and the standard "
    "deviation is that of the single folds, as large as the paper's. Every method has the same folds, items and labels "
    "of a trial. The paper does not say how features are scaled, how methods start, and how often: here 10 starts each "
    "(SLPD on the microarrays 4), the best by the method's own objective; features standardised on the training items, "
    "in the microarrays each sample instead. SLPD starts from CKM's clusters; the last rows of a set have other "
    "choices. Differences between SLPD and CKM are paired by trial, with the p of a t test and the standard deviation "
    "over trials. Leukaemia: clusters that are fitted to three classes say nothing of the other three (BRI .50 for all "
    "methods), so all 90 samples are clustered in six, with labels of three classes, and those of the other three are "
    "scored."
)


def build(exhibit: Exhibit, collected: Collected, folder: Path, *, names: Sequence[str]) -> Result:  # noqa: ARG001
    """Cells and paired differences of some data sets."""
    cells: list[Cell] = []
    commands: list[str] = []
    for name in names:
        rows = read_rows(name)
        cells += _cells(exhibit, name, rows)
        trials = rows["trial"].nunique()
        commands += [SETS[name].command(method, share, trials) for method, share in COLUMNS] if trials else []
    return Result(tuple(cells), TEXT, commands=(*dict.fromkeys(commands),))


def sizes(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - of the data alone
    """Table 1: sizes of the data sets as they were loaded."""
    cells = []
    for value in exhibit.values:
        name, _, of = value.cell.partition(", ")
        path = FOLDER / "tables" / name / SIZE
        found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        ours = summarise([found[of]], [0]) if found else None
        cells.append(Cell(value.cell, value.quantity, value, ours, "" if found else _why_missing(name)))
    return Result(tuple(cells), "Sizes of the data that the tables below are made of; nothing is computed.")


def _cells(exhibit: Exhibit, name: str, rows: pd.DataFrame) -> list[Cell]:
    remark = _why_missing(name) if rows.empty else ""
    found = {key: part for key, part in rows.groupby(["method", "share"])}
    cells = [
        Cell(label, QUANTITY, exhibit.value(label, QUANTITY), _summary(found.get(column)), remark, _notes(name, rows))
        for column in COLUMNS
        for label in [cell_name(name, *column)]
    ]
    for share in (one for one in SHARES if ("slpd", one) in found):  # of a stage that was stopped perhaps not all
        cells.append(_paired(name, share, found["slpd", share], found["ckm", share]))
    for method in OTHERS:
        for share in SHARES:
            if (method, share) in found:
                label = f"{name}, {method}, {share:.0%} of the labels"
                cells.append(Cell(label, QUANTITY, ours=_summary(found[method, share])))
    return cells


def _why_missing(name: str) -> str:
    path = FOLDER / "tables" / name / "unavailable.json"
    message = json.loads(path.read_text(encoding="utf-8"))["message"] if path.is_file() else ""
    return f"data not available here: {message}" if message else "not run in this profile"


def _notes(name: str, rows: pd.DataFrame) -> tuple[str, ...]:
    paper, trials = 50 if name in ("leukaemia", "lung") else 100, rows["trial"].nunique()
    return () if trials in (0, paper) else (f"{trials} trials (paper: {paper})",)


def _summary(part: pd.DataFrame | None) -> Summary | None:
    if part is None:
        return None
    trials = tuple(sorted(int(trial) for trial in part["trial"].unique()))
    return Summary(float(part["bri"].mean()), float(part["bri"].std(ddof=1)), trials)


def _paired(name: str, share: float, slpd: pd.DataFrame, ckm: pd.DataFrame) -> Cell:
    """Mean over trials of SLPD's index less CKM's on the same folds."""
    of_trial = [part.groupby("trial")["bri"].mean() for part in (slpd, ckm)]
    difference = (of_trial[0] - of_trial[1]).dropna()
    spread = float(np.std(difference, ddof=1)) if len(difference) > 1 else 0.0
    p = stats.ttest_1samp(difference, 0).pvalue if spread else np.nan
    summary = summarise(difference.to_list(), [int(trial) for trial in difference.index])
    return Cell(f"{name}, SLPD less CKM, {share:.0%} of the labels", "BRI, paired", ours=summary, remark=f"p = {p:.2g}")
