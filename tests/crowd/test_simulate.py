"""Simulated answers against the rates that they are asked for, by Monte Carlo with fixed seeds."""

import re
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import blocks_of
from semicrowd.crowd.simulate import grouping, labels_of_some, pair_of_number, quota, taken_for, tasks, two_coin

LABELS = np.random.default_rng(0).permutation(np.repeat(np.arange(5), 100))


def _pairs(answers: PairAnnotations, worker: int) -> set[frozenset[int]]:
    mine = answers.worker == worker
    return {frozenset(pair) for pair in zip(answers.i[mine].tolist(), answers.j[mine].tolist(), strict=True)}


def test_pairs_are_numbered_without_gaps() -> None:
    a, b = pair_of_number(np.arange(45))
    assert set(zip(a.tolist(), b.tolist(), strict=True)) == set(combinations(range(10), 2))
    # Where floating point would be off by one: both ends of a row far out.
    for row in (94_906_267, 3_000_000_000):
        start = row * (row - 1) // 2
        a, b = pair_of_number(np.array([start - 1, start, start + row - 1]))
        assert b.tolist() == [row - 1, row, row]
        assert a.tolist() == [row - 2, 0, row - 1]


def test_two_coin_rates() -> None:
    alpha, beta = (0.95, 0.6, 0.75), (0.7, 0.99, 0.8)
    answers = two_coin(
        LABELS, np.random.default_rng(2), num_annotators=3, pairs_per_annotator=30_000, num_annotated=None,
        sensitivity=alpha, specificity=beta,
    )
    sensitivity, specificity = answers.empirical_quality(LABELS)
    # About 6,000 and 24,000 pairs: five standard errors are .03 and .015 at most.
    assert sensitivity == pytest.approx(alpha, abs=0.03)
    assert specificity == pytest.approx(beta, abs=0.015)
    # Pairs are uniform: 99 of 499 partners share the class.
    same = LABELS[answers.i] == LABELS[answers.j]
    assert same.mean() == pytest.approx(99 / 499, abs=0.01)


@pytest.mark.parametrize("count", [200, 201])
def test_quota_is_on_the_true_relation(count: int) -> None:
    answers = quota(LABELS, np.random.default_rng(4), pairs_per_annotator=count, num_annotated=100)
    same = LABELS[answers.i] == LABELS[answers.j]
    for m in range(5):
        assert same[answers.worker == m].sum() == count // 2
        assert len(_pairs(answers, m)) == count
    assert len(answers.annotated) <= 100
    assert answers.true_specificity.tolist() == [0.95, 0.9, 0.85, 0.8, 0.75]


def test_quota_draws_pairs_uniformly_from_classes_of_unequal_size() -> None:
    labels = np.repeat([3, 1, 2], [30, 6, 2])
    answers = quota(labels, np.random.default_rng(5), sensitivity=[1.0] * 200, specificity=1.0, pairs_per_annotator=40)
    one, other = np.sort([labels[answers.i], labels[answers.j]], axis=0)
    share = {(a, b): np.mean((one == a) & (other == b)) for a, b in [(3, 3), (1, 1), (2, 2), (1, 3), (2, 3), (1, 2)]}
    same, different = 435 + 15 + 1, 180 + 60 + 12
    expected = {
        (3, 3): 435 / same, (1, 1): 15 / same, (2, 2): 1 / same,
        (1, 3): 180 / different, (2, 3): 60 / different, (1, 2): 12 / different,
    }
    assert share == pytest.approx({pair: rate / 2 for pair, rate in expected.items()}, abs=0.02)
    # Perfect annotators: every answer is the truth.
    assert np.array_equal(answers.label == 1, one == other)


@pytest.mark.parametrize(("alpha", "beta"), [(0.98, 0.99), (0.7, 0.8), (0.9, 0.1), (1.0, 1.0), (0.6, 1.0), (1.0, 0.5)])
def test_groupings_have_the_rates_asked_for(alpha: float, beta: float) -> None:
    rng = np.random.default_rng(7)
    labels = np.repeat(np.arange(4), 3)
    first, second = np.triu_indices(len(labels), k=1)
    same = labels[first] == labels[second]
    groups = np.stack([grouping(labels, alpha, beta, rng) for _ in range(4000)])
    together = groups[:, first] == groups[:, second]
    for rate, got in ((alpha, together[:, same].mean(1)), (beta, 1 - together[:, ~same].mean(1))):
        # Pairs of one grouping depend on each other; groupings do not: the standard error is theirs.
        assert abs(got.mean() - rate) <= 4.5 * got.std() / np.sqrt(len(got))


def test_every_pair_of_classes_meets_equally_often() -> None:
    rng = np.random.default_rng(8)
    groups = np.stack([grouping(np.arange(4), 1.0, 0.7, rng) for _ in range(6000)])
    for a, b in combinations(range(4), 2):
        # Five standard errors.
        assert np.mean(groups[:, a] == groups[:, b]) == pytest.approx(0.3, abs=0.03)


def test_tasks_have_the_scheme_of_the_mnist_crowd() -> None:
    labels = np.random.default_rng(9).integers(10, size=6000)
    answers = tasks(labels, np.random.default_rng(10))
    assert (answers.num_pairs, answers.num_tasks, answers.num_annotators) == (57_330, 91, 48)
    assert len(answers.annotated) == 2759
    placements = np.zeros(6000, int)
    for t in range(91):
        rows = answers.task == t
        items = np.unique(np.concatenate([answers.i[rows], answers.j[rows]]))
        assert len(items) == 36
        assert rows.sum() == 630
        assert len(np.unique(answers.worker[rows])) == 1
        placements[items] += 1
        # Transitive: the same-relation is that of its connected groups.
        position = {item: k for k, item in enumerate(items.tolist())}
        relation = np.eye(36, dtype=int)
        a, b = ([position[x] for x in column[rows].tolist()] for column in (answers.i, answers.j))
        relation[a, b] = relation[b, a] = answers.label[rows]
        assert np.array_equal(relation @ relation > 0, relation > 0)
    assert set(placements[answers.annotated]) == {1, 2}


def test_tasks_of_several_sizes() -> None:
    labels = np.random.default_rng(0).integers(6, size=600)
    answers = tasks(
        labels, np.random.default_rng(1), num_annotators=12, num_tasks=120, task_size=(12, 20), num_annotated=300,
        sensitivity=1.0, specificity=1.0,
    )
    sizes = {size * (size - 1) // 2: size for size in range(12, 21)}
    assert {sizes[count] for count in np.bincount(answers.task).tolist()} == set(range(12, 21))
    assert np.array_equal(answers.label == 1, labels[answers.i] == labels[answers.j])
    placements = np.bincount(np.concatenate([
        np.unique(np.concatenate([column[answers.task == t] for column in (answers.i, answers.j)])) for t in range(120)
    ]), minlength=600)[answers.annotated]  # fmt: skip
    assert placements.max() - placements.min() <= 1


#: P(an item of class k is taken for one of class l).
SEEN_AS = np.array([[0.9, 0.1, 0.0], [0.3, 0.7, 0.0], [0.0, 0.0, 1.0]])


def test_classes_are_confused_as_often_as_given() -> None:
    labels = np.repeat([0, 1, 2], 20_000)
    seen = taken_for(labels, SEEN_AS, np.random.default_rng(0))
    share = np.stack([np.bincount(seen[labels == kind], minlength=3) / 20_000 for kind in range(3)])
    np.testing.assert_allclose(share, SEEN_AS, atol=5 * 0.5 / 20_000**0.5)
    # Without other errors, two items are put together if they are taken for the same class.
    labels = np.repeat([0, 1, 2], 100)
    answers = tasks(
        labels, np.random.default_rng(0), SEEN_AS, num_annotators=4, num_tasks=400, task_size=30, num_annotated=None,
        sensitivity=1.0, specificity=1.0,
    )
    together = SEEN_AS @ SEEN_AS.T
    for one, other in product(range(3), repeat=2):
        both = (labels[answers.i] == one) & (labels[answers.j] == other)
        assert answers.label[both].mean() == pytest.approx(together[one, other], abs=0.03)
    assert answers.true_sensitivity.mean() == pytest.approx(together.diagonal().mean(), abs=0.02)


@pytest.mark.parametrize(
    ("simulator", "options", "name"),
    [
        (two_coin, {"sensitivity": 1.2}, "sensitivity"),
        (two_coin, {"specificity": [0.9, 0.8]}, "specificity"),
        (two_coin, {"num_annotated": 1}, "num_annotated"),
        (two_coin, {"num_annotated": 5}, "49 distinct pairs"),
        (quota, {"pairs_per_annotator": 50_000}, "25000 distinct pairs"),
        (tasks, {"num_tasks": 10}, "num_tasks=10"),
        (tasks, {"task_size": 501}, "task_size=501"),
        (tasks, {"task_size": (20, 12)}, "task_size=(20, 12)"),
        (tasks, {"sensitivity": 0.3, "specificity": 0.5}, "sensitivity"),
        (labels_of_some, {"fraction": 1.5}, "fraction"),
        (labels_of_some, {"fraction": 0.001}, "annotations=labels"),
    ],
)
def test_refused_options_are_named(simulator: Any, options: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=re.escape(name)):
        simulator(LABELS, np.random.default_rng(15), **options)


def test_labels_of_some_make_a_block_of_each_class() -> None:
    labels = np.random.default_rng(0).integers(3, size=80)
    found = {share: labels_of_some(labels, np.random.default_rng(1), fraction=share) for share in (0.25, 0.5, 1)}
    for share, answers in found.items():
        assert (answers.label == 1).all()
        assert (labels[answers.i] == labels[answers.j]).all()
        sizes = np.bincount(blocks_of(answers))
        assert (sizes > 1).sum() == 3
        assert sizes[sizes > 1].sum() == round(share * 80)
    assert set(found[0.25].annotated) < set(found[0.5].annotated)
