"""Cells joined and torn apart by answers, against loops over the items."""

import itertools
import math

import numpy as np
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells, mixed_cells


def answers(labels: np.ndarray, rng: np.random.Generator, number: int, right: float) -> PairAnnotations:
    i = rng.integers(len(labels), size=number)
    j = (i + rng.integers(1, len(labels), size=number)) % len(labels)
    truth = labels[i] == labels[j]
    label = np.where(rng.random(number) < right, truth, ~truth).astype(np.int64)
    return PairAnnotations.from_arrays(i, j, np.zeros(number, int), label, num_items=len(labels))


@pytest.mark.parametrize("weight", [-1.0, 0.5, 1.5, 1.7, 3.0])
def test_cells_are_joined_where_the_answers_outweigh_the_prior_odds(weight: float) -> None:
    """Two answers between two of five cells against ln 5 = 1.61, the prior odds against any two being one kind."""
    pairs = PairAnnotations.from_arrays([0, 6], [1, 5], [0, 0], [1, 1], num_items=10)
    joined = join_cells(np.arange(10) % 5, pairs, np.full(2, weight / 2), num_clusters=5)
    assert (joined[0] == joined[1]) == (weight > math.log(5))
    assert len(set(joined)) == (4 if weight > math.log(5) else 5)


def test_cells_are_joined_one_by_one_as_the_items_say() -> None:
    """The greedy agglomeration with all odds added up anew from the answers before each join."""
    sizes = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        cells, (i, j) = np.r_[np.arange(7), rng.integers(7, size=13)], rng.integers(20, size=(2, 60))
        i, j = i[i != j], j[i != j]
        weight = rng.normal(scale=1.5, size=len(i))
        pairs = PairAnnotations.from_arrays(i, j, 0 * i, (weight > 0).astype(int), num_items=20)
        joined = cells.copy()
        while True:
            odds = {
                (a, b): sum(weight[((joined[i] == a) & (joined[j] == b)) | ((joined[i] == b) & (joined[j] == a))])
                for a, b in itertools.combinations(np.unique(joined), 2)
            }
            keep, gone = max(odds, key=lambda pair: odds[pair])
            if odds[keep, gone] <= math.log(5) and len(np.unique(joined)) <= 5:
                break
            joined[joined == gone] = keep
        found = join_cells(cells, pairs, weight, num_clusters=5)
        assert (np.equal.outer(found, found) == np.equal.outer(joined, joined)).all()
        sizes.append(len(set(found)))
    assert len(set(sizes)) > 2, "some by the answers, some by force"


def mixed_by_loops(cells: np.ndarray, pairs: PairAnnotations, weight: np.ndarray, num_clusters: int) -> list[bool]:
    mixed, num_cells = [], cells.max() + 1
    for cell in range(num_cells):
        leaving = []
        for item in set(np.flatnonzero(cells == cell)) & {*pairs.i, *pairs.j}:
            odds = np.zeros(num_cells)
            for i, j, w in zip(pairs.i, pairs.j, weight, strict=True):
                if item in (i, j):
                    odds[cells[j if item == i else i]] += w
            elsewhere = np.delete(odds, cell).max()
            leaving.append(elsewhere > odds[cell] + math.log(num_clusters))
        mixed.append(2 * sum(leaving) > len(leaving))
    return mixed


def test_cells_of_few_items_are_mixed_as_loops_say() -> None:
    """Four cells of random answers, where an item and an answer more or less decide; half of an even number too."""
    seen: list[bool] = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        cells = np.r_[np.arange(4), rng.integers(4, size=12)]
        pairs = answers(rng.integers(3, size=16), rng, 40, right=0.9)
        weight = rng.normal(scale=1.5, size=40)
        expected = mixed_by_loops(cells, pairs, weight, num_clusters=4)
        assert mixed_cells(cells, pairs, weight, num_clusters=4).tolist() == expected
        seen += expected
    assert 0.1 < np.mean(seen) < 0.9
