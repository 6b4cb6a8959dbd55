"""Tables 1 to 3 of the SLPD paper: sizes; balanced Rand index on test folds of k-means, CKM, LPD and SLPD.

And a table of ours: SLPD fed with the majority of noisy annotators, beside BayesSCDC on the same answers.
"""

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from semicrowd.pipeline.slpd.plan import FOLDER, SETS, SHARES
from semicrowd.pipeline.slpd.tables import ALONE, CHOSEN, SIZE, read_rows
from semicrowd.report.cells import PAIRED, Cell, PaperValue, Summary, summarise
from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.experiments import Measure, Row, cells_of_rows, metric
from semicrowd.report.runs import Collected

#: Columns of both tables: method here, share of the training labels that is known.
COLUMNS = (("ckm", 0.0), ("ckm", 0.25), ("ckm", 0.5), ("slpd", 0.0), ("slpd", 0.25), ("slpd", 0.5))
#: Names of the columns as the paper has them.
NAMES = {("ckm", 0.0): "UKM", ("slpd", 0.0): "ULPD"}
QUANTITY = "BRI"


def cell_name(data: str, method: str, share: float) -> str:
    """``wine, CKM, 25 % of the labels``."""
    name = NAMES.get((method, share))
    return f"{data}, {name}" if name else f"{data}, {method.upper()}, {share:.0%} of the labels"


def _row(data: str, *numbers: tuple[float, float]) -> tuple[PaperValue, ...]:
    return tuple(
        PaperValue(cell_name(data, *column), QUANTITY, *number)
        for column, number in zip(COLUMNS, numbers, strict=True)
    )


TABLE_1_PRINTED = tuple(
    PaperValue(f"{data}, {of}", "count", number)
    for data, numbers in {
        "letter": (150, 16, 2), "wine": (178, 13, 3), "iris": (150, 4, 3), "pen": (174, 16, 3),
        "leukaemia": (90, 500, 6), "lung": (203, 500, 5),
    }.items()
    for of, number in zip(("samples", "features", "classes"), numbers, strict=True)
)  # fmt: skip
TABLE_2_PRINTED = (
    *_row("letter", (0.501, 0.005), (0.502, 0.010), (0.501, 0.009), (0.519, 0.025), (0.521, 0.031), (0.527, 0.039)),
    *_row("wine", (0.877, 0.052), (0.885, 0.051), (0.893, 0.047), (0.930, 0.032), (0.926, 0.032), (0.935, 0.032)),
    *_row("iris", (0.824, 0.036), (0.825, 0.035), (0.828, 0.041), (0.872, 0.037), (0.910, 0.043), (0.920, 0.038)),
    *_row("pen", (0.751, 0.068), (0.758, 0.069), (0.772, 0.078), (0.736, 0.046), (0.747, 0.045), (0.755, 0.045)),
)
TABLE_3_PRINTED = (
    *_row("leukaemia", (0.786, 0.065), (0.782, 0.061), (0.798, 0.062), (0.838, 0.053), (0.846, 0.049), (0.851, 0.048)),
    *_row("lung", (0.578, 0.030), (0.583, 0.033), (0.599, 0.041), (0.660, 0.033), (0.665, 0.032), (0.670, 0.039)),
)


def corrected_p(differences: np.ndarray, test_to_train: float) -> float:
    """Two-sided p of the corrected resampled t test of Nadeau & Bengio (2003); nan where nothing varies.

    Each value is the difference on one split into training and test items. Splits share items, so their values vary
    less than those of fresh data would, and the variance of their mean does not shrink as 1/n. The test therefore
    takes it for (1/n + n_test/n_train) s², with n − 1 degrees of freedom. A usual t test, the case
    ``test_to_train`` = 0, becomes as small as one likes when the same items are split often enough.

    A value must be of a single split: means over the folds of a cross-validation, whose test parts are all items
    together, hardly vary from one shuffle to the next, whatever other items would have given.
    """
    n = len(differences)
    variance = float(np.var(differences, ddof=1)) if n > 1 else 0.0
    if not variance:
        return float("nan")
    t = float(np.mean(differences)) / np.sqrt((1 / n + test_to_train) * variance)
    return float(2 * stats.t.sf(abs(t), n - 1))


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


def rand_index(exhibit: Exhibit, collected: Collected, folder: Path, *, names: Sequence[str]) -> Result:  # noqa: ARG001
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


CROWD_DATA = ("iris", "wine", "pen")
CROWD_METHODS = {
    "slpd": "SLPD", "slpd_alone": "SLPD, no answers", "ckm": "CKM", "constrained_kmeans": "constrained k-means",
    "bayes": "BayesSCDC",
}  # fmt: skip
_CROWD_MEASURES: dict[str, Measure] = {
    "BRI": metric("final/bri"), "nmi": metric("final/nmi"), "accuracy": metric("final/acc"),
}  # fmt: skip
_CROWD_TEXT = (
    "Five annotators with sensitivity and specificity .95 to .75 answer 200 pairs each (annotations=quota), the same "
    "for every method of a seed. All items are scored, answers included. SLPD and CKM take the groups that the "
    "majority joins on balance as blocks, and believe them; BayesSCDC weighs every annotator. All are told the number "
    "of classes but BayesSCDC."
)


def crowd(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """A row for each data set, method and score."""
    rows = [Row(f"crowd_{data}_{method}", f"{data}, {label}", with_answers=method != "slpd_alone")
            for data, (method, label) in product(CROWD_DATA, CROWD_METHODS.items())]  # fmt: skip
    less = [(f"{data}, {CROWD_METHODS[a]} less {CROWD_METHODS[b]}", f"crowd_{data}_{a}", f"crowd_{data}_{b}")
            for data, (a, b) in product(CROWD_DATA, (("bayes", "slpd"), ("slpd", "slpd_alone")))]  # fmt: skip
    cells = cells_of_rows(collected, exhibit, rows, _CROWD_MEASURES, less=less)
    return Result(tuple(cells), _CROWD_TEXT, commands=collected.commands_of(*(row.experiment for row in rows)))
