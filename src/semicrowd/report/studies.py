"""Studies: the generality suite and the embedded track.

The generality suite compares our defaults with baselines that are told the number of clusters. The embedded track uses
features of a pretrained network; its numbers are never in a table together with those of raw pixels.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.pipeline.generality.figures import NEAR, NEAR_ALONE
from semicrowd.pipeline.generality.plan import BASELINES, EXPLAINED, OURS, base_of, cells
from semicrowd.pipeline.generality.record import FILES, recorded
from semicrowd.pipeline.generality.record import FOLDER as RECORDED
from semicrowd.pipeline.generality.summary import bars, cell_table
from semicrowd.pipeline.generality.tables import DEVELOPMENT, LOCKED, REGIMES, UNINFORMED, Table
from semicrowd.report.cells import PAIRED, format_value
from semicrowd.report.collect import Collected
from semicrowd.report.exhibits import Image, Study
from semicrowd.report.experiments import mean_of, metric, remarks_on

#: Folder into which the suite writes, in the folder of the report.
FOLDER = Path("generality")
COMMAND = "make generality"
NOT_MEASURED = f"not measured yet: {COMMAND}"
_SEEDS = range(5)
_HEADER = ("data", "regime", "method", "NMI", "n", "seeds", "clusters", "classes", "best baseline (told K)",
           "its NMI", "difference", "close enough", "remark")  # fmt: skip


def generality(folder: Path) -> tuple[Study, ...]:
    """The studies of the development sets and, if they were used, of the locked sets; embeddings have their own."""
    found = [*_split(folder, "generality", "the development sets", DEVELOPMENT, "")]
    locked = folder / FOLDER / "locked_results.csv", RECORDED / FILES["locked"]
    if any(path.is_file() for path in locked):
        found += _split(folder, "generality-locked", "the locked sets", LOCKED, "locked_")
    return tuple(found)


def _split(folder: Path, key: str, title: str, tables: Mapping[str, Table], prefix: str) -> Iterator[Study]:
    raw, embedded = ({n: t for n, t in tables.items() if t.embedded == one} for one in (False, True))
    measured = _measured(folder, prefix)
    yield _study(folder, key, f"Generality: {title}", raw, prefix, *measured)
    title = f"Generality, embedded track: {title} with features of a network trained on photographs"
    yield _study(folder, f"{key}-embedded", title, embedded, prefix, *measured)


def _measured(folder: Path, prefix: str) -> tuple[pd.DataFrame, bool]:
    """A row for each measured cell, and whether they are the recorded ones: those are shown where none are here."""
    path = folder / FOLDER / f"{prefix}results.csv"
    if path.is_file():
        return cell_table(pd.read_csv(path)), False
    rows = recorded(RECORDED / FILES["locked" if prefix else "development"])
    rows = rows[rows["method"].map(base_of) == rows["method"]]
    return (cell_table(rows), True) if len(rows) else (pd.DataFrame(columns=["data", "regime", "method"]), False)


def _study(
    folder: Path, key: str, title: str, tables: Mapping[str, Table], prefix: str, measured: pd.DataFrame,
    are_recorded: bool,
) -> Study:  # fmt: skip
    measured = measured[measured["data"].isin(list(tables))]
    found = {(row["data"], row["regime"], row["method"]): row for row in measured.to_dict("records")}
    plan = cells(list(tables), list(REGIMES), OURS, [0], locked=bool(prefix))
    named = [(cell.data, cell.regime, cell.method) for cell in plan]
    there = [name for name in named if name in found]
    command = COMMAND + (' ARGS="--locked"' if prefix else "")
    # The plan has more cells than have been measured.
    others = f"{len(there)} of {len(named)} cells are measured{', and recorded' * are_recorded}; the others: {command}"
    text = (
        "NMI of all items, mean ± standard deviation over n seeds, for data sets under several regimes of answers "
        f"(pipeline/generality/). {' and '.join(OURS)} run with default settings and are not told the number of "
        f"clusters. Every baseline ({', '.join(BASELINES)}) has one advantage: it is told the true number K. "
        f"{EXPLAINED} The best baseline of a row is the one with the highest NMI, which is only known from the labels. "
        "The difference is ours minus the best baseline, paired by seed, ± its standard error. With answers, a "
        f"difference of at least −{NEAR:g} counts as close enough. Without answers, or with answers given by chance, "
        f"ours is compared with the better of k-means and GMM, and at least −{NEAR_ALONE:g} counts as close enough."
    )  # fmt: skip
    caption = "NMI of our method minus that of the best baseline, which is told K."
    image = Image(FOLDER / f"{prefix}difference.png", caption)
    done = len(there) == len(named) and all(found[name]["n"] >= len(_SEEDS) for name in named)
    return Study(
        key, title, "done" if done else "partly done" if there else "not measured yet", text,
        _HEADER, tuple(_row(name, found) for name in there), (False,) * len(there),
        findings=(*bars(measured), others) if there else (NOT_MEASURED,),
        images=(image,) if (folder / image.path).is_file() and not key.endswith("embedded") else (), command=command,
    )  # fmt: skip


def _row(name: tuple[str, str, str], found: Mapping[tuple[str, str, str], dict[str, Any]]) -> tuple[str, ...]:
    ours = found[name]
    data, regime, _ = name
    best = found.get((data, regime, str(ours["best_baseline"])))
    against, near = ("to_plain", NEAR_ALONE) if regime in UNINFORMED else ("to_best", NEAR)
    behind = ours.get(against, np.nan)
    close = "–" if np.isnan(behind) and not np.isnan(ours["nmi"]) else "yes" if behind >= -near else "no"
    return (
        *name, _text(ours, "nmi", "nmi", "nmi_sd"), str(ours["n"]), str(ours["seeds"]), str(ours["found"]),
        _text(ours, "classes", "count"), "–" if best is None else str(ours["best_baseline"]),
        _text(best or {}, "nmi", "nmi", "nmi_sd"), _text(ours, "to_best", f"nmi{PAIRED}", "to_best_se"), close,
        str(ours["status"]),
    )  # fmt: skip


def _text(row: Mapping[str, Any], column: str, quantity: str, spread: str = "") -> str:
    """A number of a cell, with the column of its standard deviation or error if that is known."""
    value, sd = row.get(column, np.nan), row.get(spread, np.nan)
    return "–" if np.isnan(value) else format_value(value, None if np.isnan(sd) else sd, quantity)


#: Row of the embedded track → experiment.
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
    "CIFAR-10 with 1280 features of EfficientNet-Lite0 for each image. This network was trained on a million labelled "
    "photographs, which show most of the classes of CIFAR-10. The images, the answers and their errors are those of "
    "the rows on raw pixels (SCDC paper, Fig. 4b), but the numbers must not be compared with those rows. \"With\" and "
    "\"without\" refer to answers. Co-training is not told the number of classes; methods marked \"told ten\" are."
)


def embedded(collected: Collected) -> Study:
    """The study of the embedded track, from the runs of the profile."""
    rows = list[tuple[str, ...]]()
    missing = list[bool]()
    for label, experiment in EMBEDDED_ROWS.items():
        runs = collected.finished(experiment)
        means = [(mean_of(runs, metric(name)), kind) for name, kind in _EMBEDDED_MEASURES.values()]
        numbers = ("–" if ours is None else format_value(ours.mean, ours.sd, kind) for ours, kind in means)
        rows.append((label, *numbers, str(len(runs)), "; ".join(remarks_on(collected, experiment))))
        missing.append(not runs)
    return Study(
        "embedded", "The embedded track: CIFAR-10 by a network trained on photographs",
        "not measured yet" if all(missing) else "partly done" if any(missing) else "done", _EMBEDDED_TEXT,
        ("method", *_EMBEDDED_MEASURES, "n", "remark"), tuple(rows), tuple(missing), command="make reproduce",
    )  # fmt: skip
