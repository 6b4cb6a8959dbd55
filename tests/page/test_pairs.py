"""Pairs to ask about: doubtful items beside typical ones of the clusters between which they are."""

from collections import Counter

import numpy as np
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.fitting.result import Assignment
from semicrowd.page.advice import Need, questions
from semicrowd.page.clusters import Distances, typical_items
from semicrowd.page.pairs import number_of_pairs, pairs_to_ask

#: Three groups of a line, twelve items each.
LINE = np.concatenate([np.linspace(start, start + 2, 12) for start in (-9, 0, 9)])[:, None]
KINDS = np.repeat([0, 1, 2], 12)


def found(*unsure: tuple[int, int]) -> Assignment:
    """Sure memberships of the three groups, but for items that are nearly as likely in a second one."""
    members = np.where(KINDS[:, None] == np.arange(3), 0.998, 0.001)
    for item, second in unsure:
        members[item] = 0.001
        members[item, [KINDS[item], second]] = 0.55, 0.449
    return Assignment.of(members)


def answers_about(*pairs: tuple[int, int]) -> PairAnnotations:
    i, j = np.array(pairs).T
    return PairAnnotations.from_arrays(i, j, np.zeros(len(i), int), KINDS[i] == KINDS[j], num_items=36)


def ask(final: Assignment, answers: PairAnnotations | None, number: int) -> list[tuple[int, int]]:
    distance = Distances(LINE, final.cluster)
    ends = np.zeros(0, int) if answers is None else np.concatenate([answers.i, answers.j])
    return pairs_to_ask(final, final, distance, np.bincount(ends, minlength=36), answers, number)


def test_the_most_doubtful_items_are_compared_with_typical_ones_of_both_their_clusters() -> None:
    final, answers = found((14, 0), (30, 1)), answers_about((1, 2))
    pairs = ask(final, answers, 8)
    distance = Distances(LINE, final.cluster)
    annotated = np.isin(np.arange(36), [1, 2])
    typical = [set(typical_items(final, distance, k, annotated).tolist()) for k in range(3)]
    with_14, with_30 = ([other for item, other in pairs if item == one] for one in (14, 30))
    assert len(with_14) >= 2
    assert len(with_30) >= 2
    assert [other in typical[1] for other in with_14[:2]] == [True, False]
    assert [other in typical[0] for other in with_14[:2]] == [False, True]
    assert [other in typical[2] for other in with_30[:2]] == [True, False]
    # The page asks about the same items first.
    listed = questions(final, final, distance, np.bincount(np.concatenate([answers.i, answers.j]), minlength=36))
    assert {item for item, _ in pairs[:2]} == {one.item for one in listed[:2]} == {14, 30}


def test_no_pair_is_asked_about_twice_nor_one_that_has_an_answer() -> None:
    final = found((14, 0), (30, 1))
    first = ask(final, answers_about((1, 2)), 500)
    assert len({frozenset(pair) for pair in first}) == len(first) > 300
    assert all(i != j for i, j in first)
    done = answers_about(*((j, i) for i, j in first[:40]))
    again = ask(final, done, 40)
    assert not {frozenset(pair) for pair in again} & {frozenset(pair) for pair in first[:40]}


def test_items_that_have_been_compared_with_all_typical_ones_make_room_for_others() -> None:
    doubtful = (14, 15, 16, 30, 31)
    final = found(*((item, 0) for item in doubtful))
    done = answers_about(*((item, other) for item in doubtful for other in range(36) if other != item))
    pairs = ask(final, done, 5)
    assert len(pairs) == len({frozenset(pair) for pair in pairs}) == 5
    assert not {item for pair in pairs for item in pair} & set(doubtful)


def test_typical_items_are_used_equally_often_and_answered_items_less() -> None:
    final, answers = found(), answers_about(*[(k, k + 1) for k in range(6)] * 5)
    pairs = ask(final, answers, 60)
    used = Counter(other for _, other in pairs)
    annotated = np.arange(36) < 7
    typical = [typical_items(final, Distances(LINE, KINDS), k, annotated).tolist() for k in range(3)]
    for group in typical:
        assert max(used[one] for one in group) - min(used[one] for one in group) <= 1
    asked = Counter(item for item, _ in pairs)
    assert max(asked[item] for item in range(6)) < min(asked[item] for item in (11, 12, 23, 24))


def test_doubtful_items_are_compared_with_items_that_have_answers() -> None:
    """The ends of each group are the least typical of the half of it that is as sure as the rest."""
    final, answers = found((14, 0), (30, 1)), answers_about((0, 11), (12, 23), (24, 35))
    partners = {item: [other for one, other in ask(final, answers, 4) if one == item] for item in (14, 30)}
    assert {partners[14][0], partners[30][1]} <= {12, 23}
    assert partners[14][1] in {0, 11}
    assert partners[30][0] in {24, 35}


def test_without_answers_the_pairs_are_drawn_at_random() -> None:
    pairs = ask(found((14, 0)), None, 200)
    assert len({frozenset(pair) for pair in pairs}) == len(pairs) == 200
    assert all(0 <= i < j < 36 for i, j in pairs)
    assert pairs == ask(found(), None, 200)
    assert len(ask(found(), None, 10_000)) == 36 * 35 // 2
    kinds = np.bincount(KINDS[np.array(pairs)].ravel())
    assert kinds.min() > 90  # of 133 expected ends of pairs in each group


def test_one_cluster_and_clusters_without_probabilities_have_questions_too() -> None:
    one = Assignment.hard(np.zeros(36, int))
    pairs = ask(one, answers_about((1, 2)), 10)
    assert {pairs[0][0], pairs[1][0]} == {0, 35}  # the farthest ones
    assert len(pairs) == 10
    hard = ask(Assignment.hard(KINDS), answers_about((1, 2)), 10)
    assert {item for item, _ in hard[:2]} <= {11, 12, 23, 24}  # the ends that face another group
    alone = Assignment.hard(np.zeros(1, int))
    assert pairs_to_ask(alone, alone, Distances(np.zeros((1, 1)), alone.cluster), np.zeros(1, int), None, 5) == []


@pytest.mark.parametrize(("wanted", "number"), [(73, 73), (None, 200), (10**6, 10_000)])
def test_there_are_as_many_as_halve_the_doubts(wanted: int | None, number: int) -> None:
    assert number_of_pairs(Need(20, 0.2, wanted, 7.3, 0.9, 0.9)) == number
    assert number_of_pairs(None) == 200
