"""Time of a default fit of a table with simulated answers, as a user of the estimators types it, and its growth.

Ten kinds of the same size, Gaussian around centres; a fifth of the items have answers of ten annotators, to pairs,
right nine times of ten, or in tasks of 15 items of which they misplace one in ten. Nothing is set. Each fit has a
process of its own, without OMP_NUM_THREADS.
"""

import json
import math
import sys
import time
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from curves import LINEAR, Curve
from process import measured_apart
from semicrowd.crowd import simulate
from semicrowd.methods import method
from semicrowd.random import stream
from table import at_most, print_table

_KINDS, _ANNOTATORS, _SHARE = 10, 10, 0.2
_MODELS = ("bayes", "scdc")
_TASK_SIZE = 15


class Size(NamedTuple):
    """Items, columns, answers, and whether these are of pairs or of tasks (then fewer by part of a task)."""

    items: int
    columns: int
    answers: int
    kind: str = "pairs"


class Cost(NamedTuple):
    """Seconds on the clock, seconds of CPU, clusters in use."""

    wall: float
    cpu: float
    clusters: int


#: Sizes with a bar, seconds on two cores.
BARS = {
    Size(items, columns, answers, kind): bar
    for items, columns, answers, bar in ((2000, 64, 10_000, 60.0), (5000, 200, 50_000, 120.0))
    for kind in ("pairs", "tasks")
}
#: Answers about 2,000 items, items with 10,000 answers.
ANSWERS: Sequence[int] = (2500, 5000, 10_000, 20_000)
ITEMS: Sequence[int] = (1000, 2000, 4000)


def tables(quick: bool = False) -> None:
    """Bars, then growth."""
    base, bars, answers, items = Size(2000, 64, 10_000), BARS, ANSWERS, ITEMS
    if quick:
        base = Size(60, 4, 210)
        bars, answers, items = {base: 60.0, base._replace(kind="tasks"): 60.0}, (210, 420), (60, 80)
    known: dict[tuple[str, Size], Cost] = {}

    def cost(model: str, size: Size) -> Cost:
        if (model, size) not in known:
            known[model, size] = _measure(model, size)
        return known[model, size]

    rows = []
    for size, bar in bars.items():
        for model in _MODELS:
            found = cost(model, size)
            rows.append((model, f"{size.items} × {size.columns}", f"{size.answers}, {size.kind}", f"{found.wall:.1f}",
                         f"{found.cpu:.1f}", str(found.clusters), at_most(found.wall, bar)))  # fmt: skip
    print_table(("model", "items × columns", "answers", "s", "CPU s", "clusters (10 kinds)", "bar, s"), rows)
    print(flush=True)
    growth = []
    for kind, (what, numbers), model in product(("pairs", "tasks"), (("answers", answers), ("items", items)), _MODELS):
        seconds = [cost(model, base._replace(kind=kind, **{what: number})).cpu for number in numbers]
        slope = Curve(what, numbers, seconds).slope
        sizes = ", ".join(map(str, numbers))
        growth.append((f"{what}, {kind}", model, sizes, ", ".join(f"{value:.1f}" for value in seconds),
                       f"{slope:.2f}", at_most(slope, LINEAR)))  # fmt: skip
    print_table(("growth", "model", "sizes", "CPU s", "slope of the logs", "bar"), growth)


def _tasks(size: Size) -> int:
    return size.answers // math.comb(_TASK_SIZE, 2)


def _measure(model: str, size: Size) -> Cost:
    """In a new process, in the environment that a user has."""
    return Cost(**measured_apart(__file__, model, *size, as_a_user=True))


def _fit(model: str, size: Size) -> Cost:
    rng = stream(0, "data")
    labels = rng.integers(_KINDS, size=size.items)
    features = 0.5 * rng.normal(size=(_KINDS, size.columns))[labels] + rng.normal(size=(size.items, size.columns))
    rng, annotated = stream(0, "answers"), max(20, round(_SHARE * size.items))
    if size.kind == "tasks":
        answers = simulate.tasks(
            labels, rng, num_annotators=min(_ANNOTATORS, _tasks(size)), num_tasks=_tasks(size), task_size=_TASK_SIZE,
            num_annotated=annotated, sensitivity=0.9, specificity=0.95,
        )  # fmt: skip
    else:
        answers = simulate.two_coin(
            labels, rng, num_annotators=_ANNOTATORS, pairs_per_annotator=size.answers // _ANNOTATORS,
            num_annotated=annotated, sensitivity=0.9, specificity=0.9,
        )  # fmt: skip
    estimator = method(model)(random_state=0)
    wall, cpu = time.perf_counter(), time.process_time()
    estimator.fit(features.astype(np.float32), answers)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Cost(wall, cpu, len(np.unique(estimator.labels_)))


if __name__ == "__main__":
    name, items, columns, number, kind = sys.argv[1:]
    print(json.dumps(_fit(name, Size(int(items), int(columns), int(number), kind))._asdict()))
