"""Tables 1 to 3 of the SLPD paper: sizes; balanced Rand index on test folds of k-means, CKM, LPD and SLPD."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from semicrowd.pipeline.slpd.plan import FOLDER, SETS, SHARES
from semicrowd.pipeline.slpd.tables import ALONE, CHOSEN, SIZE, read_rows
from semicrowd.report.cells import PAIRED, Cell, Summary, summarise
from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.papers.slpd.paper_values import COLUMNS, QUANTITY, cell_name
from semicrowd.report.papers.slpd.resplits import corrected_p
from semicrowd.report.runs import Collected

#: Ours alone: other choices where the paper leaves one open.
OTHERS = (
    CHOSEN, f"slpd, {ALONE}", f"ckm, {ALONE}", "slpd, one start", "ckm, one start", "ckm, standardised", "ckm, range",
    "ckm, as they are",
)  # fmt: skip
TEXT = (
    "Balanced Rand index of the items of a test fold, each from its features alone; n counts trials, and the standard "
    "deviation is that of the single folds, as large as the paper's. Every method has the same folds, items and labels "
    "of a trial. SLPD and CKM are told K, the number of classes, which nobody who clusters new data knows; the "
    "paper does not say whether its own were. The rows \"K by held-out likelihood\" (iris and wine) are SLPD without "
    "it: it takes the K of 2 to 6 under which a third of the training items, held out, is likeliest (three starts). "
    "The paper does not say how features are scaled, how methods start, and how often: here 10 starts each "
    "(SLPD on the microarrays 4), the best by the method's own objective; features standardised on the training items, "
    "in the microarrays each sample instead. SLPD starts from CKM's clusters; the last rows of a set have other "
    "choices. Differences between SLPD and CKM are paired by fold; their mean and standard deviation are over trials. "
    "The trials split one data set again and again, so a usual t test finds p far too small; p is of the corrected "
    "resampled t test (Nadeau & Bengio 2003), n the folds of all trials, n_test/n_train one half, of leukaemia one. "
    "Letter, pen and leukaemia are drawn anew from larger sets in every trial and share fewer items than it supposes: "
    "their p are too large rather than too small."
)
#: What Table 3 says besides: the paper can be read in several ways, and the numbers depend on which is meant.
LEUKAEMIA = (
    " Leukaemia: the paper trains on three classes and scores the other three, and does not say in how many clusters. "
    "Clusters that are fitted to three classes say nothing of the other three (BRI .50 for all methods), so all 90 "
    "samples are clustered in six, with labels of three classes, and those of the other three are scored. Under "
    "another reading the tested classes are clustered alone, in three clusters, and the labels have no part: rows "
    "\"tested classes alone\". Its values are others, and depend much on which three classes are tested; none of the "
    "readings is known to be the paper's."
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
    text = TEXT + (LEUKAEMIA if "leukaemia" in names else "")
    return Result(tuple(cells), text, commands=(*dict.fromkeys(commands),))


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
                part = found[method, share]
                cells.append(Cell(label, QUANTITY, ours=_summary(part), remark=_counts(part, method)))
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


def _counts(part: pd.DataFrame, method: str) -> str:
    """How many folds took which number of clusters, where it was not told."""
    if method != CHOSEN:
        return ""
    return ", ".join(f"K = {count}: {folds}" for count, folds in part["clusters"].value_counts().sort_index().items())


def _paired(name: str, share: float, slpd: pd.DataFrame, ckm: pd.DataFrame) -> Cell:
    """Mean over trials of SLPD's index less CKM's on the same folds."""
    of_fold = [part.set_index(["trial", "fold"])["bri"] for part in (slpd, ckm)]
    difference = (of_fold[0] - of_fold[1]).dropna()
    p = corrected_p(difference.to_numpy(), 1 / (SETS[name].folds - 1))
    of_trial = difference.groupby("trial").mean()
    summary = summarise(of_trial.to_list(), [int(trial) for trial in of_trial.index])
    remark = f"corrected p = {p:.2g}" if np.isfinite(p) else ""
    return Cell(f"{name}, SLPD less CKM, {share:.0%} of the labels", f"{QUANTITY}{PAIRED}", ours=summary, remark=remark)
