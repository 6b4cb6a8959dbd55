"""Measurements of the project's own: the generality suite (our defaults against baselines that are told the number of
clusters), and the embedded track (features by a network that others trained, never in a table with raw pixels).
"""

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
from semicrowd.report.cells import format_value, summarise
from semicrowd.report.exhibits import Image, Study, StudyTable
from semicrowd.report.experiments import metric, remarks_on
from semicrowd.report.runs import Collected

#: Where the suite writes, in the folder of the report.
FOLDER = Path("generality")
COMMAND = "make generality"
NOT_MEASURED = f"not measured yet: {COMMAND}"
_SEEDS = range(5)
_HEADER = ("data", "regime", "method", "NMI", "n", "seeds", "clusters", "kinds", "best baseline (told K)",
           "its NMI", "difference", "close enough", "remark")  # fmt: skip


def generality(folder: Path) -> tuple[Study, ...]:
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


#: Row → the experiment.
EMBEDDED_ROWS = {
    "co-training, with answers": "cifar_embedded_cotrain_tasks",
    "co-training, without": "cifar_embedded_cotrain_none",
    "answers and logistic regression, told ten": "cifar_embedded_crowd_logistic",
    "constrained k-means, told ten": "cifar_embedded_constrained_kmeans",
    "k-means, told ten, without": "cifar_embedded_kmeans",
    "Gaussian mixture, told ten, without": "cifar_embedded_gmm",
}
#: Column → metric of a run, and the kind of number it is.
_EMBEDDED_MEASURES = {
    "NMI, all images": ("final/nmi", "nmi"),
    "accuracy": ("final/acc", "accuracy"),
    "NMI, test images": ("test/nmi", "nmi"),
    "clusters": ("clusters/used", "clusters"),
}
_EMBEDDED_TEXT = (
    "CIFAR-10's images as 1280 features by EfficientNet-Lite0, a network that was trained with a million labelled "
    "photographs: it knows most of these kinds of things. The images, the answers and their errors are those of the "
    "rows on raw pixels (SCDC paper, Fig. 4b), the numbers are not to be compared with those. Co-training is not told "
    "how many kinds there are."
)


def embedded(collected: Collected) -> Study:
    """What the runs of the profile say."""
    rows = tuple(_embedded_row(collected, label, experiment) for label, experiment in EMBEDDED_ROWS.items())
    missing = tuple(not collected.finished(experiment) for experiment in EMBEDDED_ROWS.values())
    return Study(
        "embedded", "The embedded track: CIFAR-10 by a network trained on photographs",
        "not measured yet" if all(missing) else "partly done" if any(missing) else "done", _EMBEDDED_TEXT,
        table=StudyTable(("method", *_EMBEDDED_MEASURES, "n", "remark"), rows, missing), command="make reproduce",
    )  # fmt: skip


def _embedded_row(collected: Collected, label: str, experiment: str) -> tuple[str, ...]:
    runs = collected.finished(experiment)
    return (label, *_numbers(collected, experiment), str(len(runs)), "; ".join(remarks_on(collected, experiment)))


def _numbers(collected: Collected, experiment: str) -> Iterator[str]:
    for name, kind in _EMBEDDED_MEASURES.values():
        read, runs = metric(name), collected.finished(experiment)
        found = [(value, run.seed) for run in runs if (value := read(run)) is not None]
        ours = summarise([value for value, _ in found], [seed for _, seed in found])
        yield "–" if ours is None else format_value(ours.mean, ours.sd, kind)
