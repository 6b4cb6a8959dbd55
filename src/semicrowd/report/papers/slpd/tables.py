"""Tables 1 to 3 of the SLPD paper: sizes; balanced Rand index on test folds of k-means, CKM, LPD and SLPD.

A table of our own compares SLPD, with the majority votes of noisy annotators, and BayesSCDC on the same answers.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from semicrowd.data import load_dataset
from semicrowd.errors import UserError
from semicrowd.files import read_object, write_csv, write_json
from semicrowd.fitting.progress import threads_of_a_fit
from semicrowd.pipeline.experiments import DATA, RECORDED
from semicrowd.pipeline.slpd.plan import FOLDER, SETS, SHARES, num_trials_of
from semicrowd.pipeline.slpd.tables import ALONE, CHOSEN, COLUMNS, KEYS, SIZE, read_rows, run
from semicrowd.report.cells import PAIRED, Cell, PaperValue, Summary, summarise
from semicrowd.report.collect import Collected
from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.experiments import Measure, Row, cells_of_rows, metric
from semicrowd.run.files.provenance import provenance

#: Folder of recorded trials; a data set has two files, the index of each fold (csv) and its provenance (json).
KEPT = Path("recorded/slpd")
#: Methods whose rows are recorded; the profile's runs have further ones.
METHODS = ("ckm", "slpd", CHOSEN)


def command(name: str) -> str:
    """The command that records a data set's trials."""
    return f"make record EXPERIMENT=slpd.{name}"


def record(name: str, place: Path, processor: str) -> Path:
    """Run the trials of a data set and keep their rows; trials that ``place`` has are not run again.

    Parameters
    ----------
    name : of the data set
    place : folder of the rows while they are made
    processor : of this machine, for the json file
    """
    if name not in SETS:
        raise UserError(f"slpd.{name}: expected a data set, one of {', '.join(SETS)}")
    of, trials, origin = SETS[name], num_trials_of(name, RECORDED), place / f"{name}.json"
    now = provenance(load_dataset("benchmark", DATA, **of.options), None)
    if not origin.exists():  # else some of its rows were made before
        known = {key: now[key] for key in ("git_commit", "started", "data_hashes", "versions")}
        write_json(origin, {"command": command(name), **known, "processor": processor})
    with threads_of_a_fit():
        run(name, trials, place)
    rows = read_rows(name, place)
    kept = rows[rows["method"].isin(METHODS) & (rows["trial"] < trials)].sort_values(list(KEYS)).round(6)
    methods = len(METHODS) if of.choose else len(METHODS) - 1
    if len(kept) != methods * len(SHARES) * trials * of.folds:
        raise UserError(f"{place / name}: rows are missing, {KEPT} stays as it is; run the command again")
    path = KEPT / f"{name}.csv"
    write_csv(path, COLUMNS, kept.itertuples(index=False))
    write_json(path.with_suffix(".json"), {**read_object(origin), "trials": trials})
    return path


def read_trials(name: str) -> pd.DataFrame:
    """The recorded rows of a data set; no rows if it is not recorded."""
    path = KEPT / f"{name}.csv"
    return pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=COLUMNS)


#: Columns of Tables 2 and 3: our name of the method, and the share of training labels that is known.
PRINTED_COLUMNS = (("ckm", 0.0), ("ckm", 0.25), ("ckm", 0.5), ("slpd", 0.0), ("slpd", 0.25), ("slpd", 0.5))
#: The paper's names of columns without labels.
NAMES = {("ckm", 0.0): "UKM", ("slpd", 0.0): "ULPD"}
QUANTITY = "BRI"


def cell_name(data: str, method: str, share: float) -> str:
    """``wine, CKM, 25 % of the labels``."""
    name = NAMES.get((method, share))
    return f"{data}, {name}" if name else f"{data}, {method.upper()}, {share:.0%} of the labels"


def _row(data: str, *numbers: tuple[float, float]) -> tuple[PaperValue, ...]:
    return tuple(
        PaperValue(cell_name(data, *column), QUANTITY, *number)
        for column, number in zip(PRINTED_COLUMNS, numbers, strict=True)
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
    less than those of new data would, and the variance of their mean does not decrease as 1/n. The test therefore
    assumes the variance (1/n + n_test/n_train) s², with n − 1 degrees of freedom. The p of a usual t test, the case
    ``test_to_train`` = 0, becomes arbitrarily small if the same items are split often enough.

    Each value must be from a single split. The test parts of a cross-validation together contain all items, so that
    means over its folds hardly vary between shuffles and do not show how results vary with other items.
    """
    n = len(differences)
    variance = float(np.var(differences, ddof=1)) if n > 1 else 0.0
    if not variance:
        return float("nan")
    t = float(np.mean(differences)) / np.sqrt((1 / n + test_to_train) * variance)
    return float(2 * stats.t.sf(abs(t), n - 1))


#: Rows that the paper does not have: other choices where the paper leaves one open.
OTHERS = (
    CHOSEN, f"slpd, {ALONE}", f"ckm, {ALONE}", "slpd, one start", "ckm, one start", "ckm, standardised", "ckm, range",
    "ckm, as they are",
)  # fmt: skip
TEXT = (
    "Balanced Rand index of the items of a test fold, each clustered from its features alone. The column n counts "
    "trials. The standard deviation is over single folds, because that of the paper has this size. In each trial, all "
    "methods have the same folds, items and labels. SLPD and CKM are told K, the number of classes, which is not known "
    "when new data are clustered; the paper does not say whether its methods were. The rows \"K by held-out "
    "likelihood\" (iris and wine) are SLPD without this knowledge: a third of the training items is held out, and the "
    "K from 2 to 6 with the highest likelihood of these items is used (three starts). The paper does not say how "
    "features are scaled, how the methods start, and how many starts they have. Here each method has 10 starts (SLPD "
    "on the microarrays: 4), of which the best by the method's own objective is used. Features are standardised on the "
    "training items; in the microarrays each sample is standardised instead. SLPD starts from CKM's clusters. The last "
    "rows of each data set have other choices. Rows marked \"recorded\" have all of the paper's trials; they take "
    "longer than a profile allows, and recorded/slpd has the numbers of each fold. Differences between SLPD and CKM "
    "are paired by fold; their mean and standard deviation are over trials. All trials split the same data set, so "
    "that a usual t test gives a p that is far too small. Our p is that of the corrected resampled t test (Nadeau & "
    "Bengio 2003), where n is the number of folds of all trials, and n_test/n_train is one half (leukaemia: one). "
    "Letter, pen and leukaemia are drawn from larger sets in every trial, so that their trials share fewer items than"
    " the test assumes: their p are too large rather than too small."
)
#: Additional text of Table 3, because the paper can be read in several ways, on which the numbers depend.
LEUKAEMIA = (
    " On leukaemia the paper trains on three classes and scores the other three, but does not give the number of "
    "clusters. Clusters that are fitted to three classes do not separate the other three (BRI .50 for all methods). "
    "Therefore all 90 samples are clustered into six clusters, with labels of three classes, and the samples of the "
    "other three classes are scored. The rows \"tested classes alone\" follow another reading: only the tested classes "
    "are clustered, into three clusters, and the labels are not used. Their values differ, and depend strongly on "
    "which three classes are tested. It is not known which reading is the paper's."
)


def rand_index(exhibit: Exhibit, collected: Collected, folder: Path, *, names: Sequence[str]) -> Result:  # noqa: ARG001
    """Cells and paired differences of some data sets."""
    cells: list[Cell] = []
    commands: list[str] = []
    for name in names:
        rows = read_rows(name)
        cells += [*_recorded(exhibit, name), *_cells(exhibit, name, rows)]
        trials = rows["trial"].nunique()
        commands += [SETS[name].command(method, share, trials) for method, share in PRINTED_COLUMNS] if trials else []
    text = TEXT + (LEUKAEMIA if "leukaemia" in names else "")
    return Result(tuple(cells), text, commands=(*dict.fromkeys(commands),))


def _recorded(exhibit: Exhibit, name: str) -> list[Cell]:
    """Cells of the recorded trials, as many as the paper has; none if they are not recorded."""
    rows, how = read_trials(name), f"recorded: {command(name)}"
    return [
        replace(cell, cell=f"{cell.cell} (recorded)", remark="; ".join(filter(None, (how, cell.remark))))
        for cell in (_cells(exhibit, name, rows) if len(rows) else ())
    ]


def sizes(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - of the data alone
    """Table 1: sizes of the data sets as they were loaded."""
    cells = []
    for value in exhibit.values:
        name, _, of = value.cell.partition(", ")
        found = read_object(FOLDER / "tables" / name / SIZE)
        ours = summarise([found[of]], [0]) if found else None
        cells.append(Cell(value.cell, value.quantity, value, ours, "" if found else _why_missing(name)))
    return Result(tuple(cells), "Sizes of the data sets of the tables below; nothing is computed.")


def _cells(exhibit: Exhibit, name: str, rows: pd.DataFrame) -> list[Cell]:
    remark = _why_missing(name) if rows.empty else ""
    found = {key: part for key, part in rows.groupby(["method", "share"])}
    cells = [
        Cell(label, QUANTITY, exhibit.value(label, QUANTITY), _summary(found.get(column)), remark, _notes(name, rows))
        for column in PRINTED_COLUMNS
        for label in [cell_name(name, *column)]
    ]
    for share in (one for one in SHARES if ("slpd", one) in found):  # a stage that was stopped may lack some shares
        cells.append(_paired(name, share, found["slpd", share], found["ckm", share]))
    for method in OTHERS:
        for share in SHARES:
            if (method, share) in found:
                label = f"{name}, {method}, {share:.0%} of the labels"
                part = found[method, share]
                cells.append(Cell(label, QUANTITY, ours=_summary(part), remark=_counts(part, method)))
    return cells


def _why_missing(name: str) -> str:
    message = read_object(FOLDER / "tables" / name / "unavailable.json").get("message")
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
    if method != CHOSEN:
        return ""
    return ", ".join(f"K = {count}: {folds}" for count, folds in part["clusters"].value_counts().sort_index().items())


def _paired(name: str, share: float, slpd: pd.DataFrame, ckm: pd.DataFrame) -> Cell:
    """Mean over trials of SLPD's index minus CKM's on the same folds."""
    of_fold = [part.set_index(["trial", "fold"])["bri"] for part in (slpd, ckm)]
    difference = (of_fold[0] - of_fold[1]).dropna()
    p = corrected_p(difference.to_numpy(), 1 / (SETS[name].folds - 1))
    of_trial = difference.groupby("trial").mean()
    summary = summarise(of_trial.to_list(), [int(trial) for trial in of_trial.index])
    remark = f"corrected p = {p:.2g}" if np.isfinite(p) else ""
    label = f"{name}, SLPD minus CKM, {share:.0%} of the labels"
    return Cell(label, f"{QUANTITY}{PAIRED}", ours=summary, remark=remark)


CROWD_DATA = ("iris", "wine", "pen")
CROWD_METHODS = {
    "slpd": "SLPD", "slpd_alone": "SLPD, no answers", "ckm": "CKM", "constrained_kmeans": "constrained k-means",
    "bayes": "BayesSCDC",
}  # fmt: skip
_CROWD_MEASURES: dict[str, Measure] = {
    "BRI": metric("final/bri"), "nmi": metric("final/nmi"), "accuracy": metric("final/acc"),
}  # fmt: skip
_CROWD_TEXT = (
    "Five annotators with sensitivity and specificity from .95 to .75 answer 200 pairs each (annotations=quota). All "
    "methods have the same answers for a seed. All items are scored, and annotated items also use their answers. SLPD "
    "and CKM join items into blocks by majority votes and treat the blocks as certain, whereas BayesSCDC estimates how "
    "reliable each annotator is. All methods except BayesSCDC are told the number of classes."
)


def crowd(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """A row for each data set, method and score."""
    rows = [Row(f"crowd_{data}_{method}", f"{data}, {label}", with_answers=method != "slpd_alone")
            for data, (method, label) in product(CROWD_DATA, CROWD_METHODS.items())]  # fmt: skip
    less = [(f"{data}, {CROWD_METHODS[a]} minus {CROWD_METHODS[b]}", f"crowd_{data}_{a}", f"crowd_{data}_{b}")
            for data, (a, b) in product(CROWD_DATA, (("bayes", "slpd"), ("slpd", "slpd_alone")))]  # fmt: skip
    cells = cells_of_rows(collected, exhibit, rows, _CROWD_MEASURES, less=less)
    return Result(tuple(cells), _CROWD_TEXT, commands=collected.commands_of(*(row.experiment for row in rows)))
