"""Time and memory of what starts are made of, against the number of items.

Fifteen Gaussian kinds in 50 columns; a tenth of the items, at most 100,000, are annotated, one in ten of them wrongly.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from curves import LINEAR, Curve
from process import measured_apart
from semicrowd.estimators.base import threads_of_a_fit
from semicrowd.random import stream
from semicrowd.starts.item_classifiers import GaussianClassifier, ItemClassifier, LabelPropagation, LogisticClassifier
from semicrowd.starts.neighbours import NUM_NEIGHBOURS, Nearest, communities
from semicrowd.starts.of_features import round_clusters
from table import at_most, print_table

_KINDS, _COLUMNS, _MOST_ANNOTATED, _FOLDS, _WRONG = 15, 50, 100_000, 5, 0.1
#: Principal components that the two kinds of Gaussians look at, as a start does.
_FULL, _SHARED = 8, 50
#: Items whose neighbours are compared with the true ones.
_CHECKED = 500


def growth(quick: bool = False) -> None:
    """CPU seconds of one thread, bytes at the peak beyond what was there before; each size in a process of its own."""
    sizes = (300, 600) if quick else (10_000, 30_000, 100_000, 300_000, 1_000_000)
    found = [_measure(size) for size in sizes]
    rows = []
    for what in found[0]:
        seconds, memory, quality = zip(*(one[what] for one in found), strict=True)
        slope = Curve(what, sizes, np.maximum(seconds, 1e-3).tolist()).slope
        rows.append((what, _list(seconds, ".1f"), f"{slope:.2f}", at_most(slope, LINEAR),
                     _list([one / 2**20 for one in memory], ".0f"), _list(quality, ".3f")))  # fmt: skip
    print(f"Items: {', '.join(map(str, sizes))}\n")
    print_table(("of all items", "CPU s", "slope of the logs", "bar", "MiB", "NMI, or recall"), rows)


def _list(values: Sequence[float], form: str) -> str:
    return ", ".join("–" if np.isnan(value) else f"{value:{form}}" for value in values)


def _measure(items: int) -> dict[str, tuple[float, float, float]]:
    return {what: tuple(cost) for what, cost in measured_apart(__file__, items).items()}


def _run(items: int) -> dict[str, tuple[float, float, float]]:
    rng = stream(0, "data")
    labels = rng.integers(_KINDS, size=items)
    features = 0.7 * rng.normal(size=(_KINDS, _COLUMNS))[labels] + rng.normal(size=(items, _COLUMNS))
    rows = np.sort(rng.permutation(items)[: min(items // 10, _MOST_ANNOTATED)])
    said = np.where(rng.random(len(rows)) < _WRONG, (labels[rows] + 1) % _KINDS, labels[rows])
    known, fold = np.eye(_KINDS)[said], rng.permutation(len(rows)) % _FOLDS
    costs: dict[str, tuple[float, float, float]] = {}
    most = 0.0
    for what, work, judge in _pieces(features, labels, rows, known, fold):
        _forget_peak()
        before, start = _memory("VmRSS"), time.process_time()
        found = work()
        seconds, peak = time.process_time() - start, _memory("VmHWM")
        most = max(most, peak)
        costs[what] = seconds, max(0.0, peak - before), judge(found)
    costs["all, with the items"] = sum(cost[0] for cost in costs.values()), most, float("nan")
    return costs


def _pieces(
    features: np.ndarray, labels: np.ndarray, rows: np.ndarray, known: np.ndarray, fold: np.ndarray
) -> Iterator[tuple[str, Callable[[], np.ndarray], Callable[[np.ndarray], float]]]:
    """What it is, how it is done, and how good the result is."""

    def everywhere(found: np.ndarray) -> float:
        return float(normalized_mutual_info_score(labels, found if found.ndim == 1 else found.argmax(1)))

    def of_annotated(found: np.ndarray) -> float:
        return float(normalized_mutual_info_score(labels[rows], found.argmax(1)))

    search = Nearest(features)
    yield "search of 15 neighbours", lambda: search.others(NUM_NEIGHBOURS), lambda near: _recall(features, near)
    yield "communities, search included", lambda: communities(features, _KINDS, stream(0, "bench")), everywhere
    yield "k-means by silhouette", lambda: round_clusters(features, _KINDS, stream(0, "bench"))[1], everywhere
    made: list[LabelPropagation] = []

    def graph() -> np.ndarray:
        made.append(LabelPropagation(features))
        return labels

    yield "graph of neighbours", graph, lambda _: float("nan")
    (neighbours,) = made
    spreads: dict[str, ItemClassifier] = {
        "logistic": LogisticClassifier(features),
        "neighbours": neighbours,
        "Gaussians, 8 columns": GaussianClassifier(features, neighbours, _FULL, shared=False),
        "Gaussians, one covariance": GaussianClassifier(features, neighbours, _SHARED, shared=True),
    }
    for name, spread in spreads.items():
        yield f"{name}, all items", lambda spread=spread: spread(rows, known), everywhere  # type: ignore[misc]
    for name, spread in spreads.items():
        yield f"{name}, out of sample", lambda spread=spread: spread.out_of_sample(rows, known, fold), of_annotated  # type: ignore[misc]


def _recall(features: np.ndarray, found: np.ndarray) -> float:
    rows = stream(0, "bench/checked").permutation(len(features))[:_CHECKED]
    shares, squares = [], (features**2).sum(1)
    for row in rows:
        apart = squares - 2 * features @ features[row]
        apart[row] = np.inf
        shares.append(np.isin(found[row], np.argpartition(apart, NUM_NEIGHBOURS)[:NUM_NEIGHBOURS]).mean())
    return float(np.mean(shares))


def _forget_peak() -> None:
    """The next peak of memory is that of what comes next (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


def _memory(what: str) -> float:
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{what}:"))
    return 1024 * float(line.split()[1])


if __name__ == "__main__":
    with threads_of_a_fit():
        print(json.dumps(_run(int(sys.argv[1]))))
