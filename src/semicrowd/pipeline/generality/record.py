"""Results of the suite that are kept in git, ``recorded/suite/*.csv``; claims are computed from them.

The suite writes a file for each fit, which git ignores, but a claim needs numbers that stay. Rows are sorted, and a fit
that is repeated replaces its row, so that a commit shows what has changed.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock

from semicrowd.files import write_text
from semicrowd.pipeline.generality.plan import VARIANTS, base_of

FOLDER = Path("recorded/suite")
#: Log of all evaluations on locked data sets, with date and commit; its lines are never deleted.
LOOKS = "locked_looks.csv"
#: List of data sets → file with the table of its fits.
FILES = {"development": "development.csv", "locked": "locked.csv"}
_KEY = ["data", "regime", "method", "settings", "seed"]
#: Columns on calibration: of the probabilities, of the annotators' intervals, and of the annotators' ranks.
TRUST = ["calibration_error", "interval_coverage", "sensitivity_rank", "specificity_rank"]
COLUMNS = ["data", "regime", "method", "seed", "nmi", "acc", "clusters", "classes", "seconds", "commit", "date",
           "settings", "status", *TRUST]  # fmt: skip
_CHANGED = "+changes"


def row_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a fit, from the numbers of its cell."""
    method = str(result["method"])
    commit = str(result.get("commit") or "unknown")[:10] + (_CHANGED if result.get("dirty", True) else "")
    return {name: result.get(name) for name in COLUMNS} | {
        "method": base_of(method), "commit": commit, "date": str(result.get("date", ""))[:10],
        "settings": settings_text(method),
    }  # fmt: skip


def settings_text(method: str) -> str:
    """What a method was given besides its defaults: settings of our method (``epochs=0``), or a baseline's variant."""
    if method not in VARIANTS:
        return method.partition("[")[2].removesuffix("]")
    variant = VARIANTS[method]
    given = {"columns": "standardised" if variant.scaled else "raw", **variant.options}
    return ";".join(f"{name}={value}" for name, value in given.items()) + (";predicted" if variant.predicted else "")


def record(results: Iterable[Mapping[str, Any]], path: Path, lock: Path) -> int:
    """Add fits to a table; a fit replaces an older one of the same method, data, regime, settings and seed.

    Parameters
    ----------
    lock : file that keeps two programs from writing at once

    Returns
    -------
    int
        Number of fits in the table.
    """
    new = pd.DataFrame([row_of(result) for result in results], columns=COLUMNS)
    lock.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):
        rows = new if not path.exists() else pd.concat([_read(path), new]) if len(new) else _read(path)
        rows = rows.drop_duplicates(_KEY, keep="last").sort_values(_KEY)
        rows = rows.astype({"seed": int, "clusters": "Int64", "classes": "Int64"})
        write_text(path, rows.to_csv(index=False, columns=COLUMNS))
    return len(rows)


def recorded(path: Path) -> pd.DataFrame:
    """The fits of a table; the name of a variant of our methods includes its settings, as the summary expects."""
    rows = _read(path)
    ours = (rows["settings"] != "") & ~rows["method"].isin(VARIANTS)
    rows.loc[ours, "method"] += "[" + rows.loc[ours, "settings"] + "]"
    return rows


def _read(path: Path) -> pd.DataFrame:
    if not path.exists():
        return pd.DataFrame(columns=COLUMNS)
    words = dict.fromkeys(("data", "regime", "method", "commit", "date", "settings", "status"), str)
    return pd.read_csv(path, dtype=words).fillna(dict.fromkeys(words, "")).reindex(columns=COLUMNS)
