"""Pairs to ask about: doubtful items beside typical ones of the clusters between which they are."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.data.answers import file as answers_of_file
from semicrowd.data.columns import Columns
from semicrowd.page.clusters import Distances, typical_items
from semicrowd.page.items import Items
from semicrowd.page.questions import pairs_to_ask, uncertainty, write_questions
from semicrowd.result import Assignment

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
    return pairs_to_ask(final, final, distance, answers, number)


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
    assert {item for item, _ in pairs[:2]} == {14, 30}


def test_no_pair_is_asked_about_twice_nor_one_that_has_an_answer() -> None:
    final = found((14, 0), (30, 1))
    first = ask(final, answers_about((1, 2)), 500)
    assert len({frozenset(pair) for pair in first}) == len(first) > 300
    assert all(i != j for i, j in first)
    done = answers_about(*((j, i) for i, j in first[:40]))
    again = ask(final, done, 40)
    assert not {frozenset(pair) for pair in again} & {frozenset(pair) for pair in first[:40]}
    # An item that has been compared with all others makes room.
    everybody = answers_about(*((14, other) for other in range(36) if other != 14))
    assert not any(14 in pair for pair in ask(final, everybody, 5))


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
    assert pairs_to_ask(alone, alone, Distances(np.zeros((1, 1)), alone.cluster), None, 5) == []


def test_who_has_no_answers_comes_before_who_has_and_features_may_say_another_cluster() -> None:
    final, features = found((0, 1), (1, 2)), found((0, 1), (1, 2), (20, 0))
    members = np.array(features.memberships)
    members[20] = 0.6, 0.4, 0.0
    features = Assignment.of(members)
    answers = answers_about(*((0, other) for other in range(2, 8)))
    distance = Distances(LINE, final.cluster)
    asked = [item for item, _ in pairs_to_ask(final, features, distance, answers, 3)]
    assert 20 in asked
    assert 1 in asked
    assert 0 not in asked


def test_doubt_is_the_mean_of_three_views() -> None:
    final = found((4, 1))
    members = np.array(found().memberships)
    members[4], members[14] = (0.7, 0.3, 0.0), (0.9, 0.1, 0.0)
    features, distance = Assignment.of(members), Distances(LINE, KINDS)
    own, other = (LINE[4] - LINE[:12].mean()) ** 2, (LINE[4] - LINE[12:24].mean()) ** 2
    place = 1 - float(((other - own) / (other + own))[0])
    views = uncertainty(final, features, distance)
    assert views[4] == pytest.approx((place + 1 - 0.101 + 0.6) / 3)
    assert views[14] == pytest.approx((distance.ambiguity[14] + 0.003 + 1.0) / 3)


def test_the_file_has_what_a_person_needs_to_answer_and_is_read_as_answers(tmp_path: Path) -> None:
    frame = pd.DataFrame({f"c{d}": [10 * d + n for n in range(6)] for d in range(12)}).assign(c1=list("abcabc"))
    frame["town"] = ["Rome", "Oslo"] * 3
    columns = Columns.of(frame, "")[0]
    data = Dataset("table", columns.features(frame, "")[0], ids=tuple("pqrstu"), columns=columns)
    path = tmp_path / "questions.csv"
    write_questions(path, [(0, 4), (1, 2)], Items(data))
    table = pd.read_csv(path)
    assert list(table)[:8] == ["i", "j", "worker", "label", "c0 (i)", "c0 (j)", "c1 (i)", "c1 (j)"]
    assert len(table.columns) == 4 + 2 * 10  # the first ten columns
    assert table.iloc[0, [0, 1, 4, 5, 6, 7]].tolist() == ["p", "t", 0, 4, "a", "b"]
    table.assign(worker="Ann", label=["same", "different"]).to_csv(path, index=False)
    answers = answers_of_file(data, path=path)
    assert (answers.i.tolist(), answers.j.tolist(), answers.label.tolist()) == ([0, 1], [4, 2], [1, 0])
    files = tuple(f"sub/{n}.png" for n in range(6))
    write_questions(path, [(0, 4)], Items(Dataset("images", np.zeros((6, 4)), files=files), Path("photos")))
    assert pd.read_csv(path).iloc[0].dropna().to_dict() == {
        "i": "sub/0.png", "j": "sub/4.png", "file (i)": "photos/sub/0.png", "file (j)": "photos/sub/4.png"
    }
    write_questions(tmp_path / "none.csv", [], Items(data))
    assert not (tmp_path / "none.csv").exists()
