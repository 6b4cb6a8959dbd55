"""Items to ask about: those that an answer promises most about come first, and there are always some."""

import numpy as np
import pytest

from semicrowd import MixtureOnly
from semicrowd.fitting.result import Assignment
from semicrowd.page.advice import Question, questions, uncertainty
from semicrowd.page.clusters import SURE, Distances

#: Two groups of a line, ten items each.
LINE = np.concatenate([np.linspace(-6, -4, 10), np.linspace(4, 6, 10)])[:, None]
KINDS = np.repeat([0, 1], 10)


def members(*unsure: tuple[int, float]) -> np.ndarray:
    """Memberships [20, 2] of the two groups: sure ones, but for items whose own has a probability of theirs."""
    found = np.where(KINDS[:, None] == np.arange(2), 0.999, 0.001)
    for item, probability in unsure:
        found[item] = np.where(np.arange(2) == KINDS[item], probability, 1 - probability)
    return found


def ask(final: np.ndarray, features: np.ndarray, answers: np.ndarray) -> list[Question]:
    both = Assignment.of(final), Assignment.of(features)
    return questions(*both, Distances(LINE, both[0].cluster), answers)


def test_of_a_fit_whose_items_are_all_sure_there_are_items_to_ask_about() -> None:
    """Three far groups; half of the items have answers, and one of the others lies between two groups."""
    draws = np.random.default_rng(0)
    kinds = np.repeat([0, 1, 2], 20)
    X = np.array([[0, 0], [9, 0], [0, 9]])[kinds] + draws.normal(size=(60, 2))
    X[33] = [5.2, 0.0]
    answers = np.where(np.arange(60) % 2, 0, 5)
    found = MixtureOnly(n_clusters=3).fit(X).result_
    assert (found.final.probability > SURE).all()  # by which alone nothing would be worth an answer
    asked = questions(found.final, found.features, Distances(X, found.final.cluster), answers)
    assert len(asked) == 10
    assert asked[0].item == 33
    assert set(asked[0].clusters) == set(found.final.cluster[[0, 20]])
    near = "the mean of another cluster is nearly as close as that of its own"
    assert asked[0].why == ("there are no answers about it", near)
    assert all(not answers[one.item] and len(one.why) > 1 for one in asked)


def test_who_has_no_answers_comes_before_who_has() -> None:
    answers = np.array([9, 0] * 10)
    found = ask(members((0, 0.6), (1, 0.6)), members((0, 0.6), (1, 0.6)), answers)
    assert found[0].item == 1
    why = ("there are no answers about it", "its cluster is uncertain given its features alone (probability 0.60)")
    assert found[0].why[:2] == why
    assert [one.item for one in found if answers[one.item]] == [0]  # as unsure, and worth more than what is typical
    plenty = ask(members((0, 0.6)), members(), np.full(20, 9))
    assert plenty[0].item == 0
    assert plenty[0].why == ("9 answers so far", "its cluster is uncertain (probability 0.60)")


def test_features_that_say_another_cluster_come_first_and_are_told() -> None:
    features = members((12, 0.3), (3, 0.7))
    found = ask(members(), features, np.zeros(20, np.int64))
    assert [one.item for one in found[:2]] == [12, 3]
    assert found[0].clusters == (1, 0)
    assert "its features alone predict cluster 0" in found[0].why
    other = found[0].partners[1]
    assert other is not None
    assert KINDS[other] == 0


def test_there_are_always_some() -> None:
    none = np.zeros(20, np.int64)
    assert len(ask(members(), members(), none)) == 10
    hard = Assignment.hard(KINDS)
    by_place = questions(hard, hard, Distances(LINE, KINDS), none)
    assert {by_place[0].item, by_place[1].item} == {9, 10}  # the ends that face each other
    one = Assignment.hard(np.zeros(20))
    alone = questions(one, one, Distances(LINE, one.cluster), none)
    assert {alone[0].item, alone[1].item} == {0, 19}
    assert (alone[0].clusters, len(alone[0].partners), alone[0].probability) == ((0,), 1, None)


def test_doubt_is_the_mean_of_three_views() -> None:
    final, features = Assignment.of(members((4, 0.8))), Assignment.of(members((4, 0.7), (12, 0.1)))
    distance = Distances(LINE, KINDS)
    own, other = (LINE[4] - LINE[:10].mean()) ** 2, (LINE[4] - LINE[10:].mean()) ** 2
    place = 1 - float(((other - own) / (other + own))[0])
    found = uncertainty(final, features, distance)
    assert found[4] == pytest.approx((place + 0.4 + 0.6) / 3)
    assert found[12] == pytest.approx((distance.ambiguity[12] + 0.002 + 1.0) / 3)
