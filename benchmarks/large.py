"""What a million answers take in memory and time, piece by piece, and a thousand times that.

Answers in tasks of 36 items (630 pairs each); the items are a tenth as many as the answers. The last columns are the
measured bytes and seconds times a thousand: a calculation, for what is in proportion.
"""

import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.index import AnswerIndex
from semicrowd.crowd.samplers import NodeSampler, PairSampler, RelationalSampler, TaskSampler
from semicrowd.random import stream
from table import print_table

_ANSWERS, _TASK, _PER_ITEM, _ANNOTATORS = 1_000_000, 36, 10, 1000
_TIMES = 1000


def large(quick: bool = False) -> None:
    """Kept and at the peak, by tracemalloc, which knows all arrays of NumPy and SciPy."""
    number = 10_000 if quick else _ANSWERS
    tracemalloc.start()
    found: list[tuple[str, float, int, int]] = []

    def made(what: str, make: Callable[[], Any]) -> Any:
        before, begun = tracemalloc.get_traced_memory()[0], time.process_time()
        tracemalloc.reset_peak()
        result = make()
        seconds, (after, peak) = time.process_time() - begun, tracemalloc.get_traced_memory()
        found.append((what, seconds, after - before, peak - before))
        return result

    answers: PairAnnotations = made("the table: i, j, worker, label, task", lambda: _answers(number))
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
    made("an order of all items, each epoch", lambda: rng.permutation(index.items))
    tracemalloc.stop()
    rows = [
        (what, f"{kept / number:.1f}", f"{peak / number:.1f}", f"{seconds:.3g}", f"{_TIMES * kept / 2**30:.3g}",
         f"{_TIMES * peak / 2**30:.3g}", f"{_TIMES * seconds:.3g}")
        for what, seconds, kept, peak in found
    ]  # fmt: skip
    times = f"of {_TIMES * number:.0e} answers, calculated: "
    print_table(
        (f"{number} answers", "bytes an answer, kept", "at the peak", "s", f"{times}GiB kept", "GiB at the peak", "s"),
        rows,
    )


def _answers(number: int) -> PairAnnotations:
    rng, tasks = stream(0, "data"), number // (_TASK * (_TASK - 1) // 2)
    items = number // _PER_ITEM
    shown = rng.integers(items - _TASK, size=tasks)[:, None] + np.arange(_TASK)
    first, second = np.triu_indices(_TASK, 1)
    i, j = shown[:, first].ravel(), shown[:, second].ravel()
    task = np.repeat(np.arange(tasks), len(first))
    worker, label = rng.permutation(tasks)[task] % _ANNOTATORS, (i % 10 == j % 10).astype(np.int64)
    return PairAnnotations(i, j, worker, label, task, items, tuple(map(str, range(_ANNOTATORS))))
