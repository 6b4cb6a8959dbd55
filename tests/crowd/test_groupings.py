"""What goes wrong in simulated groupings, against its definition, by Monte Carlo with fixed seeds."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import Families, grouping, misplaced, tasks
from semicrowd.errors import UserError

LABELS = np.random.default_rng(0).integers(6, size=600)


def _tasks(**options: Any) -> PairAnnotations:
    perfect = {"sensitivity": 1.0, "specificity": 1.0, "num_annotators": 12, "num_tasks": 120, "task_size": (12, 20)}
    return tasks(LABELS, np.random.default_rng(1), **{**perfect, "num_annotated": 300, **options})


def test_tasks_of_several_sizes() -> None:
    answers = _tasks()
    assert answers.task is not None
    pairs = np.bincount(answers.task)
    sizes = {size * (size - 1) // 2: size for size in range(12, 21)}
    assert {sizes[count] for count in pairs.tolist()} == set(range(12, 21))
    assert np.array_equal(answers.label == 1, LABELS[answers.i] == LABELS[answers.j])
    placements = np.bincount(np.concatenate([
        np.unique(np.concatenate([column[answers.task == t] for column in (answers.i, answers.j)])) for t in range(120)
    ]), minlength=600)[answers.annotated]  # fmt: skip
    assert placements.max() - placements.min() <= 1


def test_a_slip_goes_to_a_group_of_another_kind_or_alone() -> None:
    rng = np.random.default_rng(2)
    labels, share = np.repeat([0, 1], 5), 0.2
    before = labels * 3
    groups = np.stack([misplaced(before, labels, share, rng) for _ in range(20_000)])
    slipped = groups != before
    # Five standard errors of 200,000 placements; half of the slips go to the one other group.
    assert slipped.mean() == pytest.approx(share, abs=0.005)
    other = np.where(labels == 0, 3, 0)
    assert (groups[slipped] == np.broadcast_to(other, groups.shape)[slipped]).mean() == pytest.approx(0.5, abs=0.015)
    alone = slipped & (groups != other)
    assert all(len(np.unique(row[mask])) == mask.sum() for row, mask in zip(groups[:200], alone[:200], strict=True))
    # Two of one kind stay together: neither slips, or both to the other group.
    together = groups[:, 0] == groups[:, 1]
    assert together.mean() == pytest.approx((1 - share) ** 2 + (share / 2) ** 2, abs=0.02)
    # Two of different kinds come together: one slips to the group where the other stays.
    together = groups[:, 0] == groups[:, 9]
    assert together.mean() == pytest.approx(2 * share / 2 * (1 - share), abs=0.02)


def test_no_slip_stays_within_its_kind() -> None:
    rng = np.random.default_rng(3)
    labels = np.array([0, 0, 0, 1, 1])
    groups = np.stack([misplaced(np.array([0, 0, 7, 1, 1]), labels, 1.0, rng) for _ in range(200)])
    assert not np.isin(groups[:, :2], [0, 7]).any()
    assert not np.isin(groups[:, 2], [0, 7]).any()
    assert {1}.isdisjoint(groups[:, 3:].ravel().tolist())


def test_misplaced_items_in_tasks_and_the_rates_told_of_them() -> None:
    answers = _tasks(misplaced=0.1, num_tasks=2000)
    same = LABELS[answers.i] == LABELS[answers.j]
    # Both stay, or (rare) both slip to one group.
    assert answers.label[same].mean() == pytest.approx(0.81, abs=0.01)
    sensitivity, specificity = answers.empirical_quality(LABELS)
    assert answers.true_sensitivity is not None
    assert answers.true_specificity is not None
    assert np.array_equal(answers.true_sensitivity, sensitivity)
    assert np.array_equal(answers.true_specificity, specificity)


def test_who_merges_takes_the_same_two_kinds_for_one_in_every_task() -> None:
    answers = _tasks(merging=0.5)
    merged = {}
    for m in range(12):
        mine = answers.worker == m
        wrong = mine & ((answers.label == 1) != (LABELS[answers.i] == LABELS[answers.j]))
        kinds = {frozenset(pair) for pair in np.stack([LABELS[answers.i], LABELS[answers.j]], 1)[wrong].tolist()}
        if kinds:
            (merged[m],) = kinds
            between = [set(pair) == set(merged[m]) for pair in zip(LABELS[answers.i], LABELS[answers.j], strict=True)]
            assert answers.label[mine & np.array(between)].all()
    assert len(merged) == 6
    assert len(set(merged.values())) > 1


def test_who_guesses_knows_nothing_but_the_sizes() -> None:
    answers = _tasks(guessing=1 / 3, num_tasks=2400)
    assert answers.true_sensitivity is not None
    assert answers.true_specificity is not None
    guess = answers.true_sensitivity < 1
    assert guess.sum() == 4
    for m in np.flatnonzero(guess):
        mine = answers.worker == m
        same = LABELS[answers.i] == LABELS[answers.j]
        # As often "same" of pairs of one kind as of others, and as often as there are pairs of one kind.
        assert answers.true_sensitivity[m] == pytest.approx(1 - answers.true_specificity[m], abs=0.03)
        assert answers.label[mine].sum() == same[mine].sum()
    assert (answers.true_specificity[~guess] == 1).all()


def test_nobody_guesses_and_merges() -> None:
    answers = _tasks(guessing=0.5, merging=0.5)
    assert answers.true_sensitivity is not None
    # Who merges has no pair of one kind wrong, who guesses has.
    assert (answers.true_sensitivity == 1).sum() == 6


def test_kinds_of_a_family_meet_more_often_and_the_specificity_is_as_asked_for() -> None:
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(6), 2)
    families = Families.of(labels, np.arange(6), 2, 0.5)
    assert families.of_class.tolist() == [0, 0, 0, 1, 1, 1]
    # 6 of the 15 pairs of kinds are of one family.
    assert families.share == pytest.approx(0.4)
    specificity, sensitivity = 0.7, 0.9
    groups = np.stack([grouping(labels, sensitivity, specificity, rng, families) for _ in range(20_000)])
    rate = {(k, c): np.mean(groups[:, 2 * k] == groups[:, 2 * c + 1]) for k, c in combinations(range(6), 2)}
    inside = [rate[pair] for pair in rate if np.ptp(families.of_class[list(pair)]) == 0]
    across = [rate[pair] for pair in rate if np.ptp(families.of_class[list(pair)]) > 0]
    # x: any two groups of kinds meet; in a family with chance a + (1 − a) x, a = .5, and .4 a' + .6 x = .3 / .9.
    x = (0.3 / 0.9 - 0.2) / 0.8
    assert inside == pytest.approx([0.9 * (0.5 + 0.5 * x)] * 6, abs=0.02)
    assert across == pytest.approx([0.9 * x] * 9, abs=0.02)
    assert np.mean(inside + across) == pytest.approx(1 - specificity, abs=0.01)
    assert np.mean([groups[:, 2 * k] == groups[:, 2 * k + 1] for k in range(6)]) == pytest.approx(0.9, abs=0.01)


def test_rates_of_hard_groupings_in_tasks() -> None:
    labels = np.random.default_rng(5).choice(14, 4500, p=np.arange(1, 15) / 105)
    options: dict[str, Any] = {"num_annotated": 800, "num_annotators": 50, "num_tasks": 350, "task_size": (12, 20)}
    rates = [
        tasks(labels, np.random.default_rng(seed), **options, sensitivity=0.87, specificity=0.77, families=4, alike=0.7)
        .empirical_quality(labels)
        for seed in range(8)
    ]  # fmt: skip
    # Of 2,800 groupings: some five standard errors.
    assert np.nanmean([rate[0] for rate in rates]) == pytest.approx(0.87, abs=0.02)
    assert np.nanmean([rate[1] for rate in rates]) == pytest.approx(0.77, abs=0.03)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task_size": (12, 301)}, r"annotations\.task_size=\[12, 301\]: expected 2 to 300"),
        ({"task_size": (20, 12)}, r"annotations\.task_size=\[20, 12\]: expected \[minimum, maximum\]"),
        ({"task_size": [3, 4, 5]}, r"annotations\.task_size=\[3, 4, 5\]: expected a whole number >= 1 or a list"),
        ({"misplaced": 1.1}, r"annotations\.misplaced=1\.1: expected a number >= 0 and at most 1"),
        ({"merging": 0.7, "guessing": 0.5}, r"annotations\.guessing=0\.5: expected 0\.3 at most"),
        ({"families": 0}, r"annotations\.families=0: expected a whole number >= 1"),
        ({"families": 2, "alike": 0.9, "specificity": 0.9}, r"annotations\.alike=0\.9: expected 0\.2\d+ at most"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        _tasks(**options)
