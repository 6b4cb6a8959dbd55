"""Reversed annotators are found by their answers against cells; nobody else is."""

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import reversed_annotators


def answers(kinds: np.ndarray, right: list[float], pairs: int, rng: np.random.Generator) -> PairAnnotations:
    """``pairs`` random pairs for each annotator, who is right with the given probability."""
    worker = np.repeat(np.arange(len(right)), pairs)
    i = rng.integers(len(kinds), size=len(worker))
    j = (i + rng.integers(1, len(kinds), size=len(worker))) % len(kinds)
    truth = kinds[i] == kinds[j]
    label = np.where(rng.random(len(worker)) < np.array(right)[worker], truth, ~truth).astype(np.int64)
    return PairAnnotations.from_arrays(i, j, worker, label, num_items=len(kinds))


def test_annotators_who_say_the_opposite_are_found_with_cells_that_are_not_the_kinds() -> None:
    rng = np.random.default_rng(0)
    kinds = rng.integers(5, size=400)
    cells = 4 * kinds + rng.integers(4, size=400)  # every kind in four cells
    cells[rng.random(400) < 0.2] = 0  # and a fifth of the items astray
    found = reversed_annotators(cells, answers(kinds, [0.95, 0.1, 0.9, 0.05, 0.8], 600, rng))
    assert found.tolist() == [False, True, False, True, False]


def test_cells_that_say_nothing_reverse_nobody() -> None:
    """At a level of one in a thousand, some 2,000 annotators with every kind of skill."""
    rng = np.random.default_rng(1)
    kinds, cells = rng.integers(2, size=300), rng.integers(6, size=300)
    found = [
        reversed_annotators(cells, answers(kinds, list(rng.uniform(0, 1, 200)), 60, rng)).sum() for _ in range(10)
    ]
    assert sum(found) <= 8  # expected at most 2; more than 8 has a chance below 1e-3
