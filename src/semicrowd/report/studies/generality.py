"""The generality suite: our defaults against baselines that are told the number of clusters."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.pipeline.generality.baselines import BASELINES, EXPLAINED
from semicrowd.pipeline.generality.figures import NEAR, NEAR_ALONE
from semicrowd.pipeline.generality.plan import OURS, cells
from semicrowd.pipeline.generality.regimes import REGIMES, UNINFORMED
from semicrowd.pipeline.generality.summary import bars, cell_table, signed, with_error
from semicrowd.pipeline.generality.tables import DEVELOPMENT, LOCKED, Table
from semicrowd.report.exhibits import Image
from semicrowd.report.studies.study import Study, StudyTable

#: Where the suite writes, in the folder of the report.
FOLDER = Path("generality")
COMMAND = "make generality"
NOT_MEASURED = f"not measured yet: {COMMAND}"
_SEEDS = range(5)
_HEADER = ("data", "regime", "method", "NMI", "n", "seeds", "clusters", "kinds", "best baseline (told K)",
           "its NMI", "difference", "close enough", "remark")  # fmt: skip


def studies(folder: Path) -> tuple[Study, ...]:
    """On the development sets; on the locked ones once they have been looked at; embeddings always by themselves."""
    found = [*_split(folder, "generality", "the development sets", DEVELOPMENT, "")]
    if (folder / FOLDER / "locked_results.csv").is_file():
        found += _split(folder, "generality-locked", "the locked sets", LOCKED, "locked_")
    return tuple(found)


def _split(folder: Path, key: str, title: str, tables: Mapping[str, Table], prefix: str) -> Iterator[Study]:
    raw, embedded = ({n: t for n, t in tables.items() if t.embedded == one} for one in (False, True))
    yield _study(folder, key, f"Generality: {title}", raw, prefix)
    title = f"Generality, embedded track: {title} whose features a network trained on photographs has made"
    yield _study(folder, f"{key}-embedded", title, embedded, prefix)


def _study(folder: Path, key: str, title: str, tables: Mapping[str, Table], prefix: str) -> Study:
    text = (
        "Data sets under regimes of answers (pipeline/generality/), NMI of all items, mean ± standard deviation "
        f"over n seeds. {' and '.join(OURS)} run with default settings and get no number of clusters; every baseline "
        f"({', '.join(BASELINES)}) is an oracle in one thing: it is told the true number K. {EXPLAINED} The best "
        "baseline of a cell is chosen with hindsight. The difference is paired by seed, ± its standard error; it is "
        f"close enough from −{NEAR:g} on with answers; without, or with answers by chance, from −{NEAR_ALONE:g} on, "
        "against the better of k-means and GMM."
    )  # fmt: skip
    path = folder / FOLDER / f"{prefix}results.csv"
    measured = cell_table(pd.read_csv(path)) if path.is_file() else pd.DataFrame(columns=["data", "regime", "method"])
    measured = measured[measured["data"].isin(list(tables))]
    found = {(row["data"], row["regime"], row["method"]): row for row in measured.to_dict("records")}
    # In the order of the plan, which has more cells than have been measured.
    plan = cells(list(tables), list(REGIMES), OURS, [0], locked=bool(prefix))
    named = [(cell.data, cell.regime, cell.method) for cell in plan]
    rows = [_row(name, found) for name in named]
    missing = tuple(name not in found for name in named)
    image = Image(FOLDER / f"{prefix}difference.png", "NMI of ours less that of the best baseline, which is told K.")
    done = not any(missing) and all(found[name]["n"] >= len(_SEEDS) for name in named)
    locked = ' ARGS="--locked"' if prefix else ""
    return Study(
        key, title, "done" if done else "not measured yet" if all(missing) else "partly done", text,
        findings=tuple(bars(measured)) if found else (NOT_MEASURED,),
        images=(image,) if (folder / image.path).is_file() and not key.endswith("embedded") else (),
        table=StudyTable(_HEADER, tuple(rows), missing), command=COMMAND + locked,
    )  # fmt: skip


def _row(name: tuple[str, str, str], found: Mapping[tuple[str, str, str], dict[str, Any]]) -> tuple[str, ...]:
    ours = found.get(name)
    if ours is None:
        return (*name, *("–",) * 9, NOT_MEASURED)
    data, regime, _ = name
    best = found.get((data, regime, str(ours["best_baseline"])))
    against, near = ("to_plain", NEAR_ALONE) if regime in UNINFORMED else ("to_best", NEAR)
    behind = ours.get(against, np.nan)
    close = "–" if np.isnan(behind) and not np.isnan(ours["nmi"]) else "yes" if behind >= -near else "no"
    return (
        *name, _nmi(ours), str(ours["n"]), str(ours["seeds"]), str(ours["found"]), _number(ours["classes"]),
        "–" if best is None else str(ours["best_baseline"]), "–" if best is None else _nmi(best),
        _difference(ours), close, str(ours["status"]),
    )  # fmt: skip


def _nmi(row: Mapping[str, Any]) -> str:
    if np.isnan(row["nmi"]):
        return "–"
    return f"{row['nmi']:.3f}" + ("" if np.isnan(row["nmi_sd"]) else f" ± {row['nmi_sd']:.3f}")


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.1f}".removesuffix(".0")


def _difference(row: Mapping[str, Any]) -> str:
    difference, error = row.get("to_best", np.nan), row.get("to_best_se", np.nan)
    if np.isnan(difference):
        return "–"
    return signed(difference) if np.isnan(error) else with_error(difference, error)
