"""Cells joined by answers, against loops; inverted annotators; signed graphs of known spectrum."""

import itertools
import math

import numpy as np
import pytest
from tests.made import signs_of_all_pairs

from semicrowd.crowd import cells as module
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells, reversed_annotators, signed_embedding
from semicrowd.random import stream


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


def given_by(kinds: np.ndarray, right: list[float], pairs: int, rng: np.random.Generator) -> PairAnnotations:
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
    found = reversed_annotators(cells, given_by(kinds, [0.95, 0.1, 0.9, 0.05, 0.8], 600, rng))
    assert found.tolist() == [False, True, False, True, False]


def test_cells_that_say_nothing_reverse_nobody() -> None:
    """At a level of one in a thousand, some 2,000 annotators with every kind of skill."""
    rng = np.random.default_rng(1)
    kinds, cells = rng.integers(2, size=300), rng.integers(6, size=300)
    found = [
        reversed_annotators(cells, given_by(kinds, list(rng.uniform(0, 1, 200)), 60, rng)).sum() for _ in range(10)
    ]
    assert sum(found) <= 8  # expected at most 2; more than 8 has a chance below 1e-3


def test_three_blocks_are_the_corners_of_a_triangle() -> None:
    # The balanced complete graph: two positive eigenvalues, so that the blocks are three points 120° apart.
    labels = np.repeat([0, 1, 2], 4)
    embedding = signed_embedding(*signs_of_all_pairs(labels), num_items=12, num=3)
    corners = embedding[::4]
    np.testing.assert_allclose(embedding, corners[labels], atol=1e-10)
    np.testing.assert_allclose(corners @ corners.T, np.where(np.eye(3), 1, -0.5), atol=1e-10)


def test_large_graphs_take_the_sparse_way_to_the_same_place(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.arange(90) % 3
    i, j, weight = (column[stream(0, "test").permutation(4005)[:1500]] for column in signs_of_all_pairs(labels))
    dense = signed_embedding(i, j, weight, 90, 3)
    monkeypatch.setattr(module, "_DENSE", 0)
    np.testing.assert_allclose(np.abs(signed_embedding(i, j, weight, 90, 3)), np.abs(dense), atol=1e-8)
