"""Time of a default fit of a table with simulated answers, as a user of the estimators types it, and its growth.

Ten kinds of the same size, Gaussian around centres; a fifth of the items have answers of ten annotators, right nine
times of ten. Nothing is set. Each fit has a process of its own, without OMP_NUM_THREADS.
"""

import json
import os
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np

from curves import LINEAR, Curve
from semicrowd.crowd import simulate
from semicrowd.estimators import ESTIMATORS
from semicrowd.random import stream
from table import at_most, print_table

_KINDS, _ANNOTATORS, _SHARE = 10, 10, 0.2
_MODELS = ("bayes", "scdc")


class Size(NamedTuple):
    """Items, columns, answers."""

    items: int
    columns: int
    answers: int


class Cost(NamedTuple):
    """Seconds on the clock, seconds of CPU, clusters in use."""

    wall: float
    cpu: float
    clusters: int


#: Sizes with a bar, seconds on two cores.
BARS = {Size(2000, 64, 10_000): 60.0, Size(5000, 200, 50_000): 120.0}
#: Answers to 2,000 items, items with 10,000 answers.
ANSWERS = [Size(2000, 64, answers) for answers in (2500, 5000, 10_000, 20_000)]
ITEMS = [Size(items, 64, 10_000) for items in (1000, 2000, 4000)]


def tables(quick: bool = False) -> None:
    """Bars, then growth."""
    bars, of_answers, of_items = BARS, ANSWERS, ITEMS
    if quick:
        one, other = Size(60, 4, 100), Size(80, 4, 100)
        bars, of_answers, of_items = {one: 60.0}, [one, Size(60, 4, 200)], [one, other]
    known: dict[tuple[str, Size], Cost] = {}

    def cost(model: str, size: Size) -> Cost:
        if (model, size) not in known:
            known[model, size] = _measure(model, size)
        return known[model, size]

    rows = []
    for size, bar in bars.items():
        for model in _MODELS:
            found = cost(model, size)
            rows.append((model, f"{size.items} × {size.columns}", str(size.answers), f"{found.wall:.1f}",
                         f"{found.cpu:.1f}", str(found.clusters), at_most(found.wall, bar)))  # fmt: skip
    print_table(("model", "items × columns", "answers", "s", "CPU s", "clusters (10 kinds)", "bar, s"), rows)
    print(flush=True)
    growth = []
    for what, sizes in (("P, answers", of_answers), ("N, items", of_items)):
        for model in _MODELS:
            seconds = [cost(model, size).cpu for size in sizes]
            numbers = [size.answers if what[0] == "P" else size.items for size in sizes]
            slope = Curve(what, numbers, seconds).slope
            growth.append((what, model, ", ".join(map(str, numbers)), ", ".join(f"{value:.1f}" for value in seconds),
                           f"{slope:.2f}", at_most(slope, LINEAR)))  # fmt: skip
    print_table(("growth", "model", "sizes", "CPU s", "slope of the logs", "bar"), growth)


def _measure(model: str, size: Size) -> Cost:
    """In a new process, in the environment that a user has."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    command = [sys.executable, __file__, model, *map(str, size)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def _fit(model: str, size: Size) -> Cost:
    rng = stream(0, "data")
    labels = rng.integers(_KINDS, size=size.items)
    features = 0.5 * rng.normal(size=(_KINDS, size.columns))[labels] + rng.normal(size=(size.items, size.columns))
    answers = simulate.two_coin(
        labels, stream(0, "answers"), num_annotators=_ANNOTATORS, pairs_per_annotator=size.answers // _ANNOTATORS,
        num_annotated=max(20, round(_SHARE * size.items)), sensitivity=0.9, specificity=0.9,
    )  # fmt: skip
    estimator = ESTIMATORS[model](random_state=0)
    wall, cpu = time.perf_counter(), time.process_time()
    estimator.fit(features.astype(np.float32), answers)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Cost(wall, cpu, len(np.unique(estimator.labels_)))


if __name__ == "__main__":
    print(json.dumps(_fit(sys.argv[1], Size(*map(int, sys.argv[2:])))._asdict()))
