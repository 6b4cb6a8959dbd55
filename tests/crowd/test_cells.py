"""Cells joined and torn apart by answers, against loops over the items."""

import math

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells, mixed_cells
from semicrowd.metrics import clustering_scores


def answers(labels: np.ndarray, rng: np.random.Generator, number: int, right: float) -> PairAnnotations:
    i = rng.integers(len(labels), size=number)
    j = (i + rng.integers(1, len(labels), size=number)) % len(labels)
    truth = labels[i] == labels[j]
    label = np.where(rng.random(number) < right, truth, ~truth).astype(np.int64)
    return PairAnnotations.from_arrays(i, j, np.zeros(number, int), label, num_items=len(labels))


def weights(pairs: PairAnnotations, right: float) -> np.ndarray:
    return np.where(pairs.label == 1, 1.0, -1.0) * math.log(right / (1 - right))


def agreement(clusters: np.ndarray, pairs: PairAnnotations, weight: np.ndarray) -> float:
    return sum(w for i, j, w in zip(pairs.i, pairs.j, weight, strict=True) if clusters[i] == clusters[j])


def test_pieces_of_a_kind_are_joined_by_noisy_answers() -> None:
    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1, 2], 40)
    cells = 4 * kinds + rng.integers(4, size=120)
    pairs = answers(kinds, rng, 600, right=0.8)
    joined = join_cells(cells, pairs, weights(pairs, 0.8), num_clusters=12)
    assert clustering_scores(kinds, joined)["ari"] == 1.0


def test_a_join_that_k_forces_loses_the_least_log_odds() -> None:
    rng = np.random.default_rng(1)
    kinds = np.arange(40)  # no two are the same
    cells = np.arange(40) % 5
    pairs = answers(kinds, rng, 200, right=0.7)
    weight = weights(pairs, 0.7)
    joined = join_cells(cells, pairs, weight, num_clusters=4)
    gains = {}
    for a in range(5):
        for b in range(a):  # by force, from the items
            gains[a, b] = agreement(np.where(cells == a, b, cells), pairs, weight) - agreement(cells, pairs, weight)
    (a, b), best = max(gains.items(), key=lambda item: item[1])
    assert best < 0, "a join that no answer asks for"
    assert joined.max() == 3
    assert agreement(joined, pairs, weight) - agreement(cells, pairs, weight) == best
    assert len(set(joined[(cells == a) | (cells == b)])) == 1


def test_cells_without_answers_between_them_stay_apart() -> None:
    pairs = PairAnnotations.from_arrays([0], [1], [0], [0], num_items=6)
    cells = np.array([0, 1, 2, 0, 1, 2])
    assert join_cells(cells, pairs, np.array([-2.0]), num_clusters=5).tolist() == cells.tolist()


def test_a_mixed_cell_is_one_that_most_of_its_annotated_items_would_leave() -> None:
    rng = np.random.default_rng(2)
    kinds = np.repeat([0, 1, 2], 30)
    cells = kinds.copy()
    cells[[0, 1, 2, 30, 31, 32, 60, 61]] = 3  # pieces of all kinds
    pairs = answers(kinds, rng, 1500, right=0.9)
    weight = weights(pairs, 0.9)
    expected = []
    for cell in range(4):
        leaving = []
        for item in np.flatnonzero(cells == cell):
            odds = np.zeros(4)
            for i, j, w in zip(pairs.i, pairs.j, weight, strict=True):
                if item in (i, j):
                    odds[cells[j if item == i else i]] += w
            elsewhere = np.delete(odds, cell).max()
            leaving.append(elsewhere > odds[cell] + math.log(10))
        expected.append(2 * sum(leaving) > len(leaving))
    assert mixed_cells(cells, pairs, weight, num_clusters=10).tolist() == expected == [False, False, False, True]


def test_a_cell_without_answers_is_not_mixed() -> None:
    pairs = PairAnnotations.from_arrays([0, 0], [1, 2], [0, 0], [1, 0], num_items=5)
    cells = np.array([0, 0, 1, 2, 2])
    assert not mixed_cells(cells, pairs, np.array([2.0, -2.0]), num_clusters=5).any()
