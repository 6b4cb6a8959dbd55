"""Time and memory against the numbers of items and answers: epochs, the search of neighbours, what answers take."""

import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from measuring import StepTimer, apart, batches, growth_row, memory, module_of, parameters, print_table, train
from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.index import AnswerIndex
from semicrowd.crowd.samplers import NodeSampler, PairSampler, RelationalSampler, TaskSampler
from semicrowd.inference.neighbours import NUM_NEIGHBOURS, Nearest
from semicrowd.random import stream


def pairs(quick: bool = False) -> None:
    """An epoch of BayesSCDC: pairs grow at 100,000 items, items at 100,000 pairs; each size has a process of its own.

    Half of the items have answers. A step takes 128 of the others, and answers in the same proportion (App. B).
    """
    numbers, sizes, many, steps = [10_000, 30_000, 100_000, 300_000, 1_000_000], [10_000, 30_000, 100_000], 100_000, 60
    if quick:
        numbers, sizes, many, steps = [400, 800], [1000, 2000], 1000, 2
    rows = []
    for what, axis, cases in (
        (f"P, pairs of {many} items", numbers, [(many, number) for number in numbers]),
        (f"N, items with {many} pairs", sizes, [(items, many) for items in sizes]),
    ):
        found = [apart(_epoch, items, number, steps) for items, number in cases]
        rows.append(growth_row(f"{what}: s an epoch", axis, [seconds for seconds, _ in found]))
        rows.append(growth_row(f"{what}: MiB at the peak", axis, [peak / 2**20 for _, peak in found], ".0f"))
    print_table(("BayesSCDC, 20 features", "sizes", "measured", "slope of the logs", "bar"), rows)


def _epoch(items: int, number: int, steps: int) -> tuple[float, float]:
    """Seconds of a step times the steps of an epoch, and bytes beyond what the process had before the data."""
    before, clusters, annotators, rng = memory(), 10, 20, stream(0, "data")
    labels = rng.integers(clusters, size=items)
    features = rng.normal(size=(clusters, 20))[labels] + 0.5 * rng.normal(size=(items, 20))
    answers = simulate.two_coin(
        labels, stream(0, "annotations"), num_annotators=annotators, pairs_per_annotator=number // annotators,
        num_annotated=items // 2,
    )  # fmt: skip
    params = parameters("bayes", {"n_clusters": clusters, "latent_dim": 8, "sampler": "pairs", "final_refits": 0}, None)
    module, timer = module_of("bayes", params, features.astype(np.float32), answers), StepTimer(skip=1)
    train(module, [timer], steps)
    return timer.seconds * len(batches(module)), max(1.0, memory() - before)


def growth(quick: bool = False) -> None:
    """Co-training's search of 15 neighbours in 50 columns, 15 Gaussian kinds; recall of 500 items."""
    sizes = (300, 600) if quick else (10_000, 30_000, 100_000, 300_000, 1_000_000)
    found = [apart(_search, size) for size in sizes]
    row = growth_row("search of 15 neighbours", sizes, [max(seconds, 1e-3) for seconds, *_ in found])
    recall, mib = (", ".join(f"{one[number]:{form}}" for one in found) for number, form in ((1, ".3f"), (2, ".0f")))
    print_table(("of all items", "sizes", "CPU s", "slope of the logs", "bar", "recall", "MiB"), [(*row, recall, mib)])


def _search(items: int) -> tuple[float, float, float]:
    """CPU seconds, recall, and MiB at the peak beyond what was there before."""
    rng = stream(0, "data")
    labels = rng.integers(15, size=items)
    features = 0.7 * rng.normal(size=(15, 50))[labels] + rng.normal(size=(items, 50))
    before, start = memory("VmRSS"), time.process_time()
    found = Nearest(features).others(NUM_NEIGHBOURS)
    seconds, peak = time.process_time() - start, memory()
    shares, squares = [], (features**2).sum(1)
    for row in stream(0, "bench/checked").permutation(items)[:500]:
        distances = squares - 2 * features @ features[row]
        distances[row] = np.inf
        shares.append(np.isin(found[row], np.argpartition(distances, NUM_NEIGHBOURS)[:NUM_NEIGHBOURS]).mean())
    return seconds, float(np.mean(shares)), max(0.0, peak - before) / 2**20


def large(quick: bool = False) -> None:
    """What a million answers take, piece by piece, in tasks of 36 items (630 pairs each), by 1,000 annotators.

    Kept and at the peak, by tracemalloc, which knows all arrays of NumPy and SciPy. The last columns are a thousand
    times as much: a calculation, for what is in proportion.
    """
    number, times = 10_000 if quick else 1_000_000, 1000
    tracemalloc.start()
    found: list[tuple[str, float, int, int]] = []

    def made(what: str, make: Callable[[], Any]) -> Any:
        before, begun = tracemalloc.get_traced_memory()[0], time.process_time()
        tracemalloc.reset_peak()
        result = make()
        seconds, (after, peak) = time.process_time() - begun, tracemalloc.get_traced_memory()
        found.append((what, seconds, after - before, peak - before))
        return result

    answers: PairAnnotations = made("the table: i, j, worker, label, task", lambda: _in_tasks(number))
    index: AnswerIndex = made("numbers of the annotated items (AnswerIndex)", lambda: answers.index)
    made("connected components", lambda: index.component)
    made("number of each placement", lambda: index.placement)
    made("counts by annotator and answer (graph)", lambda: index.graph)
    made("all answers as tensors (whole)", lambda: index.whole)
    rng = stream(0, "answers")
    kinds: tuple[tuple[str, Callable[[PairAnnotations, int], RelationalSampler], int], ...] = (
        ("pairs", PairSampler, 200), ("tasks", TaskSampler, 3), ("nodes", NodeSampler, 108),
    )  # fmt: skip
    for name, kind, size in kinds:
        sampler: RelationalSampler = made(f"the sampler {name}", partial(kind, answers, size))
        made(f"one draw of {size} {name}", partial(sampler.sample, rng))
    tracemalloc.stop()
    rows = [
        (what, f"{kept / number:.1f}", f"{peak / number:.1f}", f"{seconds:.3g}", f"{times * kept / 2**30:.3g}",
         f"{times * peak / 2**30:.3g}", f"{times * seconds:.3g}")
        for what, seconds, kept, peak in found
    ]  # fmt: skip
    header = f"of {times * number:.0e} answers, calculated: GiB kept", "GiB at the peak", "s"
    print_table((f"{number} answers", "bytes an answer, kept", "at the peak", "s", *header), rows)


def _in_tasks(number: int) -> PairAnnotations:
    rng, size = stream(0, "data"), 36
    tasks, items = number // (size * (size - 1) // 2), number // 10
    shown = rng.integers(items - size, size=tasks)[:, None] + np.arange(size)
    first, second = np.triu_indices(size, 1)
    i, j = shown[:, first].ravel(), shown[:, second].ravel()
    task = np.repeat(np.arange(tasks), len(first))
    worker, label = rng.permutation(tasks)[task] % 1000, (i % 10 == j % 10).astype(np.int64)
    return PairAnnotations(i, j, worker, label, task, items, tuple(map(str, range(1000))))
