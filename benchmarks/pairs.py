"""Time and memory of BayesSCDC against the numbers of simulated pairs and of items, 20 features.

Half of the items have answers. A step takes 128 of the others, and answers in the same proportion (App. B).
"""

import json
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from curves import LINEAR, Curve
from process import measured_apart
from semicrowd.crowd import simulate
from semicrowd.data import Dataset
from semicrowd.estimators.base import threads_of_a_fit
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.training_data import TrainingData
from semicrowd.random import stream
from semicrowd.training.module import ClusteringModule
from steps import StepTimer, batches_of, parameters, train
from table import at_most, print_table

_CLUSTERS, _FEATURES, _ANNOTATORS = 10, 20, 20


class Cost(NamedTuple):
    """Seconds an epoch, and bytes at the peak beyond what the process had before it drew the data."""

    seconds: float
    memory: float


def pairs(quick: bool = False) -> None:
    """Pairs grow at 100,000 items; items grow at 100,000 pairs. Each size has a process of its own."""
    numbers, items, many, steps = [10_000, 30_000, 100_000, 300_000, 1_000_000], [10_000, 30_000, 100_000], 100_000, 60
    if quick:
        numbers, items, many, steps = [400, 800], [1000, 2000], 1000, 2
    of_pairs = [_measure(many, number, steps) for number in numbers]
    of_items = [_measure(number, many, steps) for number in items]
    rows = [
        *_rows(f"P, pairs of {many} items", numbers, of_pairs),
        *_rows(f"N, items with {many} pairs", items, of_items),
    ]
    print_table(("BayesSCDC, 20 features", "sizes", "what", "measured", "slope of the logs", "bar"), rows)


def _rows(what: str, sizes: Sequence[int], costs: Sequence[Cost]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, values, form in (
        ("s an epoch", [cost.seconds for cost in costs], ".2f"),
        ("MiB at the peak", [cost.memory / 2**20 for cost in costs], ".0f"),
    ):
        slope = Curve(what, sizes, values).slope
        rows.append((what, ", ".join(map(str, sizes)), name, ", ".join(f"{value:{form}}" for value in values),
                     f"{slope:.2f}", at_most(slope, LINEAR)))  # fmt: skip
    return rows


def _measure(items: int, number: int, steps: int) -> Cost:
    """The cost in a new process, whose peak of memory is nobody else's."""
    return Cost(**measured_apart(__file__, items, number, steps))


def _run(items: int, number: int, steps: int) -> Cost:
    before = peak()
    data = _draw(items)
    seconds = _epoch_seconds(data, number, steps)
    return Cost(seconds, max(1.0, peak() - before))


def _draw(items: int) -> Dataset:
    rng = stream(0, "data")
    labels = rng.integers(_CLUSTERS, size=items)
    centres = rng.normal(size=(_CLUSTERS, _FEATURES))
    features = (centres[labels] + 0.5 * rng.normal(size=(items, _FEATURES))).astype(np.float32)
    return Dataset("table", features, labels)


def _epoch_seconds(data: Dataset, number: int, steps: int) -> float:
    """Seconds of a step times the steps of an epoch: as many as half of the items make, the others have the answers."""
    assert data.labels is not None
    answers = simulate.two_coin(
        data.labels, stream(0, "annotations"), num_annotators=_ANNOTATORS, pairs_per_annotator=number // _ANNOTATORS,
        num_annotated=data.num_items // 2,
    )  # fmt: skip
    params = parameters("bayes", {"n_clusters": _CLUSTERS, "latent_dim": 8, "sampler": "pairs", "final_refits": 0})
    model = BayesSCDC(params, data.num_features, answers.num_annotators)
    module = ClusteringModule(model, TrainingData(torch.from_numpy(data.features), answers), begin=False)
    timer = StepTimer(skip=1)
    train(module, [timer], steps=steps)
    return timer.seconds * len(batches_of(module))


def peak() -> float:
    """Most bytes of memory that this process has had."""
    status = Path("/proc/self/status")
    if status.is_file():  # Linux, whose ru_maxrss begins with the parent's
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return 1024 * float(line.split()[1])
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


if __name__ == "__main__":
    with threads_of_a_fit():
        print(json.dumps(_run(*map(int, sys.argv[1:]))._asdict()))
