"""Intervals of annotators' rates hold the rates that the answers are drawn from, by simulation."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import integrate, optimize, stats

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import FLAT_PRIOR, hits_and_misses
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.expfam.shared_prior import common_beta
from semicrowd.models.pair_quality import JEFFREYS, reported_quality, robust_rate, shared_item_effect

KINDS, SIZE, CROWD = 8, 24, 30
Crowd = tuple[PairAnnotations, np.ndarray, np.ndarray]


def grouped(rng: np.random.Generator, slip: float, num_tasks: int) -> tuple[np.ndarray, ...]:
    """Pairs of ``num_tasks`` tasks, each of items of its own: i, j, answer, task, and the items' kinds."""
    kinds = rng.integers(KINDS, size=(num_tasks, SIZE))
    i, j = np.triu_indices(SIZE, 1)
    answers = []
    for of_task in kinds:
        group = of_task.copy()
        for item in np.flatnonzero(rng.random(SIZE) < slip):  # misplaced: to a group of another kind, or alone
            others = np.setdiff1d(of_task, of_task[item])
            place = rng.integers(len(others) + 1)
            group[item] = others[place] if place < len(others) else KINDS + 1 + item
        answers.append(group[i] == group[j])
    offset = SIZE * np.arange(num_tasks)[:, None]
    task = np.repeat(np.arange(num_tasks), len(i))
    return (offset + i).ravel(), (offset + j).ravel(), np.concatenate(answers), task, kinds.ravel()


def rates(i: np.ndarray, j: np.ndarray, answer: np.ndarray, _: np.ndarray, kinds: np.ndarray) -> tuple[float, float]:
    same = kinds[i] == kinds[j]
    return float(answer[same].mean()), float(1 - answer[~same].mean())


def reported(answers: PairAnnotations, kinds: np.ndarray, number: int, **options: Any) -> WorkerPosterior:
    """Of items whose kinds are known."""
    z = torch.nn.functional.one_hot(torch.from_numpy(kinds), number)[None, answers.annotated].double()
    ones = np.ones((1, answers.num_annotators, 2))
    return reported_quality(WorkerPosterior(ones, ones), z, answers.index, **options)


def crowd(rng: np.random.Generator) -> Crowd:
    """Answers of :data:`CROWD` annotators who slip now and then, all items' kinds, and the long-run rates [2, M]."""
    slips, rows, kinds, truth, items, tasks = rng.beta(1.5, 30, CROWD), [], [], [], 0, 0
    for m, slip in enumerate(slips):
        i, j, answer, task, of_items = grouped(rng, slip, int(rng.integers(1, 5)))
        rows.append(np.stack([i + items, j + items, np.full(len(i), m), answer, task + tasks]))
        kinds.append(of_items)
        items, tasks = items + len(of_items), tasks + int(task.max()) + 1
        truth.append(rates(*grouped(rng, slip, 100)))
    i, j, worker, label, task = np.concatenate(rows, 1)
    answers = PairAnnotations.from_arrays(i, j, worker, label, task=task, num_items=items)
    return answers, np.concatenate(kinds), np.array(truth).T


@pytest.fixture(scope="module")
def crowds() -> list[Crowd]:
    return [crowd(np.random.default_rng(seed)) for seed in range(4)]


@pytest.mark.parametrize("tasks", [True, False])
def test_intervals_hold_what_the_answers_are_drawn_from(crowds: list[Crowd], tasks: bool) -> None:
    """Of 120 annotators, 90 % intervals: .80 to .97; counted pair by pair they would hold less than two thirds.

    Where nobody says which answers are one task, shared items tell that they are dependent.
    """
    held, of_pairs = np.zeros(2), np.zeros(2)
    for answers, kinds, truth in crowds:
        found = reported(answers if tasks else replace(answers, task=None), kinds, KINDS)
        counts = hits_and_misses(answers.same(kinds), answers.worker, answers.label, CROWD)
        for side, (interval, shape) in enumerate(zip(found.interval(), counts + JEFFREYS, strict=True)):
            for total, (low, high) in ((held, interval[0].T), (of_pairs, stats.beta(*shape.T).interval(0.9))):
                total[side] += ((low <= truth[side]) & (truth[side] <= high)).mean() / len(crowds)
    assert ((held >= 0.8) & (held <= 0.97)).all()
    assert (of_pairs < 2 / 3).all()


def test_the_effect_of_shared_items_is_a_double_sum_over_answers() -> None:
    """By loops over all pairs of answers of an annotator."""
    rng, num_items, people = np.random.default_rng(2), 9, 3
    i = rng.integers(num_items, size=90)
    j = (i + rng.integers(1, num_items, size=90)) % num_items
    worker, label = rng.integers(people, size=90), rng.integers(2, size=90)
    same = rng.beta(0.5, 0.5, 90)
    answers = PairAnnotations.from_arrays(i, j, worker, label, num_items=num_items)
    found = shared_item_effect(same, answers.index)
    for side, (relation, right) in enumerate(((same, label), (1 - same, 1 - label))):
        excess, most, others = np.zeros(people), np.zeros(people), np.zeros(people)
        for m in range(people):
            own = np.flatnonzero(worker == m)
            rate = (relation * right)[own].sum() / relation[own].sum()
            left = relation * (right - rate)
            products = shared = 0.0
            for p, q in itertools.permutations(own, 2):
                common = bool({i[p], j[p]} & {i[q], j[q]})
                products, shared = products + common * left[p] * left[q], shared + common * relation[p] * relation[q]
            alone, variance = np.square(relation[own]).sum(), np.square(left[own]).sum()
            chance = shared / (relation[own].sum() ** 2 - alone)
            others[m] = shared / alone
            excess[m], most[m] = products + chance * variance, (1 - chance) * variance * others[m]
        correlation = np.maximum(excess + excess.mean(), 0) / (most + most.mean())
        np.testing.assert_allclose(found[side], 1 + correlation * others)


def test_shapes_by_loops_over_answers_and_placements() -> None:
    """Two restarts that are not sure of the kinds, three annotators with tasks of different sizes; the last one's
    placements have less than one item of their cluster each, but no design effect is below 1."""
    rng, num_items, sizes, worker = np.random.default_rng(0), 12, (10, 9, 7, 2), (0, 1, 1, 2)
    rows = []
    for t, (size, annotator) in enumerate(zip(sizes, worker, strict=True)):
        members = rng.permutation(num_items)[:size]
        rows += [(a, b, annotator, rng.integers(2), t) for a, b in itertools.combinations(members, 2)]
    i, j, annotators, label, task = np.array(rows).T
    answers = PairAnnotations.from_arrays(i, j, annotators, label, task=task, num_items=num_items)
    z = rng.dirichlet(np.full(3, 0.4), (2, num_items))
    index = answers.index
    posterior = WorkerPosterior(np.ones((2, 3, 2)), np.ones((2, 3, 2)))
    found = reported_quality(posterior, torch.from_numpy(z)[:, index.items], index)
    for r in range(2):
        counts = np.zeros((2, 3, 2))
        mates: dict[tuple[int, int, int], float] = {}
        for a, b, annotator, answer, t in rows:
            same = float(z[r, a] @ z[r, b])
            counts[0, annotator, 1 - answer] += same  # right, wrong about pairs of one kind
            counts[1, annotator, answer] += 1 - same
            for item in (a, b):
                mates[annotator, t, item] = mates.get((annotator, t, item), 0.0) + same
        shared = shared_item_effect(np.einsum("pk,pk->p", z[r, i], z[r, j]), index)
        for m in range(3):
            own = np.array([number for (annotator, *_), number in mates.items() if annotator == m])
            unit = max(np.square(own).sum() / own.sum(), 1)
            assert (unit == 1) == (m == 2)
            for side, shapes in enumerate((found.sensitivity, found.specificity)):
                effect = max(unit, shared[side, m])
                np.testing.assert_allclose(shapes[r, m], counts[side, m] / effect + 0.5)  # Jeffreys' prior


def test_what_is_reported_is_nearer_to_the_long_run_than_the_answers_themselves(crowds: list[Crowd]) -> None:
    """Mean errors over 120 annotators; and the interval of who has made no error yet begins below .999."""
    errors = np.zeros((2, 2))
    for answers, kinds, truth in crowds:
        found = reported(answers, kinds, KINDS, robust=True)
        of_answers = answers.empirical_quality(kinds)
        for side, (mean, interval) in enumerate(zip(found.mean(), found.interval(), strict=True)):
            errors[side] += np.abs(mean[0] - truth[side]).mean(), np.abs(of_answers[side] - truth[side]).mean()
            assert (interval[..., 0] <= mean).all()
            assert (interval[..., 1] >= mean).all()
            assert interval[0, of_answers[side] == 1, 0].max() < 0.999
    assert (errors[:, 0] < 0.8 * errors[:, 1]).all()


def test_a_robust_rate_is_the_mean_under_a_mixture_of_priors() -> None:
    """By numerical integration, with the share of Jeffreys' prior at which it reproduces itself."""
    counts = np.array([[90, 10], [85, 15], [0.5, 0.2], [88, 12], [3.5, 14], [92, 8]])
    fitted, alone = stats.beta(*common_beta(counts, FLAT_PRIOR)), stats.beta(JEFFREYS, JEFFREYS)

    def expected(prior: Any, row: np.ndarray, power: int) -> float:
        right, wrong = row
        peak = [right / (right + wrong)]
        weight = integrate.quad(lambda x: prior.pdf(x) * x ** (right + power) * (1 - x) ** wrong, 0, 1, points=peak)
        return float(weight[0])

    (whole, right), (own_whole, own_right) = (
        np.array([[expected(prior, row, power) for row in counts] for power in (0, 1)]) for prior in (fitted, alone)
    )
    share = optimize.brentq(
        lambda s: (s * own_whole / (s * own_whole + (1 - s) * whole)).sum() + 1 - s * (len(counts) + 2), 1e-6, 1 - 1e-6
    )
    mean = (share * own_right + (1 - share) * right) / (share * own_whole + (1 - share) * whole)
    found = robust_rate(counts)
    np.testing.assert_allclose(found, mean, rtol=1e-4)


def test_point_estimates_stand_with_intervals_of_the_counts() -> None:
    """A model without posteriors of its annotators reports its own points, in intervals that the answers give."""
    labels = np.random.default_rng(0).integers(3, size=60)
    answers = simulate.two_coin(labels, np.random.default_rng(1), num_annotators=5, pairs_per_annotator=200)
    z = torch.nn.functional.one_hot(torch.from_numpy(labels), 3)[None, answers.annotated].double()
    point, nothing = np.full((2, 1, 5), 0.85), np.full((1, 5, 2), np.nan)
    found = reported_quality(WorkerPosterior(nothing, nothing, point), z, answers.index)
    np.testing.assert_array_equal(found.mean(), point)
    again = reported(answers, labels, 3)
    np.testing.assert_array_equal(again.mean(), 0.5)  # of the model
    np.testing.assert_array_equal(again.sensitivity, found.sensitivity)
