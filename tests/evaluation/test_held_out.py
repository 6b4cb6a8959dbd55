"""The score by answers that were held out: it orders clusterings, and chance gains nothing."""

import numpy as np
import pytest

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.evaluation.held_out import SHARE, gain, split

LABELS = np.repeat(np.arange(4), 50)


def pairs(rate: float, seed: int) -> PairAnnotations:
    """2400 answers of six people."""
    return simulate.two_coin(
        LABELS, np.random.default_rng(seed), num_annotators=6, pairs_per_annotator=400, num_annotated=150,
        sensitivity=rate, specificity=rate,
    )  # fmt: skip


def tasks(seed: int) -> PairAnnotations:
    """A hundred and twenty tasks of eight items each, by five people."""
    return simulate.tasks(
        LABELS, np.random.default_rng(seed), num_annotators=5, num_tasks=120, task_size=8, num_annotated=100,
        sensitivity=0.85, specificity=0.9,
    )  # fmt: skip


def units(answers: PairAnnotations) -> list[tuple[int, ...]]:
    if answers.task is not None:
        return [(int(one),) for one in answers.task]
    return [(min(i, j), max(i, j)) for i, j in zip(answers.i.tolist(), answers.j.tolist(), strict=True)]


def rows(answers: PairAnnotations) -> list[tuple[int, ...]]:
    return sorted(zip(*(getattr(answers, name).tolist() for name in ("i", "j", "worker", "label")), strict=True))


def parts_of(answers: PairAnnotations) -> tuple[PairAnnotations, PairAnnotations]:
    """Training answers and those held out, which there must be."""
    parts = split(answers)
    assert parts is not None
    return parts


@pytest.mark.parametrize("answers", [pairs(0.85, 0), tasks(0)], ids=["pairs", "tasks"])
def test_a_tenth_is_held_out_as_a_whole_always_the_same_and_nobody_is_left_without(answers: PairAnnotations) -> None:
    told, asked = parts_of(answers)
    assert sorted(rows(told) + rows(asked)) == rows(answers)
    whole = len(set(units(answers)))
    if answers.task is None:
        assert not set(units(told)) & set(units(asked))
        assert len(set(units(asked))) == round(SHARE * whole)
    else:
        assert (told.num_tasks, asked.num_tasks) == (whole - round(SHARE * whole), round(SHARE * whole))
    assert set(told.worker.tolist()) == set(range(answers.num_annotators))
    assert rows(parts_of(answers)[1]) == rows(asked)


def test_too_few_answers_are_not_split() -> None:
    assert split(PairAnnotations.from_arrays([0] * 50, [1] * 50, range(50), [1] * 50, num_items=2)) is None
    few = PairAnnotations.from_arrays(range(20), range(1, 21), [0] * 20, [1] * 20, num_items=21)
    assert split(few) is None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [lambda seed: pairs(0.85, seed), tasks], ids=["pairs", "tasks"])
def test_good_clusters_are_above_worse_ones_and_those_above_random_ones(make: object, seed: int) -> None:
    parts = parts_of(make(seed))  # type: ignore[operator]
    rng = np.random.default_rng(seed)
    worse = np.where(rng.random(200) < 0.35, rng.integers(4, size=200), LABELS)
    good, middling, random = (gain(kinds, *parts) for kinds in (LABELS, worse, rng.permutation(LABELS)))
    assert good.nats > middling.nats > random.nats
    assert good.real
    assert abs(random.nats) < max(3 * random.error, 0.01)
    one_hot = np.eye(4)[LABELS]
    assert gain(one_hot, *parts) == pytest.approx(good)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_gained_where_answers_are_chance_even_by_clusters_made_from_them(seed: int) -> None:
    parts = told, _ = parts_of(pairs(0.5, seed))
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
    for kinds in (LABELS, fitted):
        found = gain(kinds, *parts)
        assert abs(found.nats) < max(3 * found.error, 0.01)
