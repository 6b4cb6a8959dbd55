"""Held-out answers: what is held out, folds, the gain of known clusters, the standard error by Monte Carlo."""

from dataclasses import replace

import numpy as np
import pytest

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.evaluation.held_out import FOLDS, SHARE, folds_of_answers, gain, mean_difference, split

KINDS = np.repeat(np.arange(4), 50)


def pairs(rate: float, seed: int) -> PairAnnotations:
    """2400 answers of six people."""
    return simulate.two_coin(
        KINDS, np.random.default_rng(seed), num_annotators=6, pairs_per_annotator=400, num_annotated=150,
        sensitivity=rate, specificity=rate,
    )  # fmt: skip


def tasks(seed: int) -> PairAnnotations:
    """A hundred and twenty tasks of eight items each, by five people."""
    return simulate.tasks(
        KINDS, np.random.default_rng(seed), num_annotators=5, num_tasks=120, task_size=8, num_annotated=100,
        sensitivity=0.85, specificity=0.9,
    )  # fmt: skip


def units(answers: PairAnnotations) -> list[tuple[int, ...]]:
    if answers.task is not None:
        return [(int(one),) for one in answers.task]
    return [(min(i, j), max(i, j)) for i, j in zip(answers.i.tolist(), answers.j.tolist(), strict=True)]


def rows(answers: PairAnnotations) -> list[tuple[int, ...]]:
    return sorted(zip(*(getattr(answers, name).tolist() for name in ("i", "j", "worker", "label")), strict=True))


@pytest.mark.parametrize("answers", [pairs(0.85, 0), tasks(0)], ids=["pairs", "tasks"])
def test_a_tenth_is_held_out_as_a_whole_always_the_same_and_nobody_is_left_without(answers: PairAnnotations) -> None:
    told, asked = split(answers)
    assert sorted(rows(told) + rows(asked)) == rows(answers)
    whole = len(set(units(answers)))
    if answers.task is None:
        assert not set(units(told)) & set(units(asked))
        assert len(set(units(asked))) == round(SHARE * whole)
    else:
        assert (told.num_tasks, asked.num_tasks) == (whole - round(SHARE * whole), round(SHARE * whole))
    assert set(told.worker.tolist()) == set(range(answers.num_annotators))
    assert rows(split(answers)[1]) == rows(asked)


def test_too_few_answers_are_not_split() -> None:
    assert split(PairAnnotations.from_arrays([0] * 50, [1] * 50, range(50), [1] * 50, num_items=2)) is None
    few = PairAnnotations.from_arrays(range(20), range(1, 21), [0] * 20, [1] * 20, num_items=21)
    assert split(few) is None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [lambda seed: pairs(0.85, seed), tasks], ids=["pairs", "tasks"])
def test_good_clusters_are_above_worse_ones_and_those_above_random_ones(make: object, seed: int) -> None:
    parts = split(make(seed))  # type: ignore[operator]
    rng = np.random.default_rng(seed)
    worse = np.where(rng.random(200) < 0.35, rng.integers(4, size=200), KINDS)
    good, middling, random = (gain(kinds, *parts) for kinds in (KINDS, worse, rng.permutation(KINDS)))
    assert good.nats > middling.nats > random.nats
    assert good.real
    assert abs(random.nats) < max(3 * random.error, 0.01)
    one_hot = np.eye(4)[KINDS]
    assert gain(one_hot, *parts) == pytest.approx(good)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_gained_where_answers_are_chance_even_by_clusters_made_from_them(seed: int) -> None:
    parts = told, _ = split(pairs(0.5, seed))
    # Each item goes with those that it was called the same as: the answers told agree, new ones do not.
    fitted = np.random.default_rng(seed).integers(4, size=200)
    sign = 2.0 * told.label - 1
    for _ in range(10):
        for item in range(200):
            of_i, of_j = told.i == item, told.j == item
            fitted[item] = np.argmax(
                np.bincount(fitted[told.j[of_i]], sign[of_i], 4) + np.bincount(fitted[told.i[of_j]], sign[of_j], 4)
            )
    assert np.mean((fitted[told.i] == fitted[told.j]) == told.label) > 0.55
    for kinds in (KINDS, fitted):
        found = gain(kinds, *parts)
        assert abs(found.nats) < max(3 * found.error, 0.01)


@pytest.mark.parametrize("answers", [pairs(0.85, 0), tasks(0)], ids=["pairs", "tasks"])
def test_no_answer_of_a_task_or_about_a_pair_is_in_two_folds(answers: PairAnnotations) -> None:
    fold = folds_of_answers(answers)
    assert set(fold) == set(range(FOLDS))
    for one in set(units(answers)):
        assert len(set(fold[[each == one for each in units(answers)]])) == 1
    size = np.bincount(fold)
    assert size.max() < 2 * size.min()
    if answers.task is not None:  # tasks may have any numbers
        np.testing.assert_array_equal(folds_of_answers(replace(answers, task=10**9 * (1 + answers.task))), fold)


def test_the_two_orders_of_a_pair_are_one_pair() -> None:
    i, j = np.array([0, 1, 2, 3, 4, 5, 0]), np.array([1, 0, 3, 2, 5, 4, 5])
    fold = folds_of_answers(PairAnnotations.from_arrays(i, j, np.arange(7), i % 2, num_items=6))
    assert (fold[0], fold[2], fold[4]) == (fold[1], fold[3], fold[5])


def test_folds_where_one_person_has_sorted_all_items() -> None:
    """One task could not be divided; known links, a task of one pair each, change nothing; of two tasks each is one."""
    first, second = np.triu_indices(12, 1)
    number, links = len(first), 6

    def folds(*tasks: np.ndarray) -> np.ndarray:
        task = np.concatenate(tasks)
        i, j = np.resize(first, len(task)), np.resize(second, len(task))
        answers = PairAnnotations.from_arrays(i, j, 0 * i, 0 * i + 1, task=task, num_items=12)
        return folds_of_answers(answers)

    sorting = np.zeros(number, int)
    assert np.ptp(np.bincount(folds(sorting), minlength=FOLDS)) <= 1
    assert set(folds(sorting, 1 + np.arange(links))[:number]) == set(range(FOLDS))
    both = folds(sorting, sorting + 1)
    assert len(set(both[:number])) == len(set(both[number:])) == 1


@pytest.mark.parametrize(
    ("of_item", "of_pair", "own"), [(0, 0, 1), (1, 0, 0), (1, 0, 1), (0, 1, 0.5)],
    ids=["answers", "items", "items and answers", "pairs and answers"],
)  # fmt: skip
def test_the_standard_error_of_a_lead_is_the_spread_of_leads_over_other_items(
    of_item: float, of_pair: float, own: float
) -> None:
    """Monte Carlo: differences that go with items, with pairs and with single answers are drawn again and again."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(80, size=(2, 600))
    i, j = i[i != j], j[i != j]
    asked, of = np.unique(np.sort(np.stack([i, j], 1), 1), axis=0, return_inverse=True)
    answers = PairAnnotations.from_arrays(i, j, np.arange(len(i)), (i + j) % 2, num_items=80)
    leads, errors = [], []
    for _ in range(600):
        item = of_item * rng.normal(size=80)
        difference = item[i] + item[j] + of_pair * rng.normal(size=len(asked))[of.ravel()]
        difference += own * rng.normal(size=len(i))
        found, error = mean_difference(difference, np.zeros(len(i)), answers)
        assert found == pytest.approx(difference.mean())
        leads.append(found)
        errors.append(error)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(leads), rel=0.12)
