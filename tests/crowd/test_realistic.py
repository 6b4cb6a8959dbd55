"""Annotators with dependent errors: their rates against closed forms of what is described, with fixed seeds."""

from typing import Any

import numpy as np
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.realistic import confused_classes, like_and_hardness, realistic, realistic_tasks
from semicrowd.errors import UserError
from semicrowd.settings.realistic import EFFECTS

LABELS = np.random.default_rng(0).permutation(np.repeat(np.arange(5), 100))
K = 5
#: No effect, and no error beside them.
CLEAR: dict[str, Any] = {**dict.fromkeys(EFFECTS, 0.0), "sensitivity": 1.0, "specificity": 1.0}
PAIRS: dict[str, Any] = {**CLEAR, "num_annotators": 20, "pairs_per_annotator": 3000, "num_annotated": None}
TASKS: dict[str, Any] = {**CLEAR, "num_annotators": 20, "num_tasks": 400, "num_annotated": None}


def same_kind(answers: PairAnnotations, labels: np.ndarray = LABELS) -> np.ndarray:
    return labels[answers.i] == labels[answers.j]


def rates(answers: PairAnnotations, labels: np.ndarray = LABELS) -> tuple[float, float]:
    """Pooled shares of right answers."""
    same = same_kind(answers, labels)
    return float(answers.label[same].mean()), float(1 - answers.label[~same].mean())


@pytest.mark.parametrize(("simulator", "options"), [(realistic, PAIRS), (realistic_tasks, TASKS)])
def test_without_effects_every_answer_is_right(simulator: Any, options: dict[str, Any]) -> None:
    answers = simulator(LABELS, np.random.default_rng(1), **options)
    assert np.array_equal(answers.label == 1, same_kind(answers))
    assert answers.simulated
    assert len(answers.annotated) == 500
    assert answers.true_sensitivity is not None
    assert answers.true_sensitivity.tolist() == [1.0] * 20


def test_without_effects_errors_are_those_of_two_coins() -> None:
    answers = realistic(LABELS, np.random.default_rng(2), **{**PAIRS, "sensitivity": 0.8, "specificity": 0.7})
    # 12,000 and 48,000 pairs: five standard errors.
    assert rates(answers) == pytest.approx((0.8, 0.7), abs=0.018)


def test_errors_follow_the_hardness_of_items() -> None:
    h, tables = 0.2, []
    for seed in range(30):  # hardness is an item's: there are as many draws of it as items
        tables.append(rates(realistic(LABELS, np.random.default_rng(seed), **{**PAIRS, "hardness": h})))
    sensitivity, specificity = np.mean(tables, axis=0)
    # Both as they are, or both taken for the same other kind; different kinds, where one is taken for the other's, or
    # both for a third one.
    assert sensitivity == pytest.approx((1 - h) ** 2 + h**2 / (K - 1), abs=0.01)
    assert specificity == pytest.approx(1 - 2 * h * (1 - h) / (K - 1) - h**2 * (K - 2) / (K - 1) ** 2, abs=0.005)


def test_a_hard_item_is_misjudged_by_most_people_alike() -> None:
    h = 0.2
    labels = np.repeat([0, 1], 60)
    agreement = []
    for seed in range(40):
        answers = realistic(labels, np.random.default_rng(seed), **{
            **CLEAR, "hardness": h, "num_annotators": 6, "pairs_per_annotator": 120 * 119 // 2, "num_annotated": None,
        })  # fmt: skip
        place = np.lexsort((answers.j, answers.i, answers.worker))  # every annotator has every pair
        same, said = (part[place].reshape(6, -1) for part in (same_kind(answers, labels), answers.label))
        wrong = said[:, same[0]] == 0
        agreement.append([np.mean(wrong[0] & wrong[1]), wrong.mean()])
    both, one = np.mean(agreement, axis=0)
    # Of two kinds a pair is wrong if one item is misjudged and the other not. Given two hardnesses, two annotators are
    # wrong alike with chance p², p = h₁ (1 − h₂) + h₂ (1 − h₁); the moments are those of Beta(h, 1 − h).
    second = h * (1 + h) / 2
    mixed = h - second  # E[h (1 − h)]
    assert one == pytest.approx(2 * h * (1 - h), abs=0.02)
    assert both == pytest.approx(2 * second * (1 - 2 * h + second) + 2 * mixed**2, abs=0.02)
    assert both > 1.5 * one**2, "mistakes are shared"


def test_hardness_is_mostly_little_or_much() -> None:
    code = np.random.default_rng(3).integers(K, size=40_000)
    like, hardness = like_and_hardness(code, K, 0.1, np.random.default_rng(4))
    assert (like != code).all()
    assert np.bincount((like - code) % K, minlength=K)[1:] / 40_000 == pytest.approx([0.25] * 4, abs=0.02)
    assert hardness.mean() == pytest.approx(0.1, abs=0.01)
    assert hardness.var() == pytest.approx(0.1 * 0.9 / 2, abs=0.005)
    assert np.mean((hardness > 0.1) & (hardness < 0.9)) < 0.25


def test_some_pairs_of_classes_are_confused_by_everybody_and_the_others_by_nobody() -> None:
    for simulator, options in ((realistic, PAIRS), (realistic_tasks, TASKS)):
        answers = simulator(LABELS, np.random.default_rng(5), **{**options, "confused": 0.8, "confusion": 0.6})
        assert answers.true_sensitivity is not None
        assert answers.true_sensitivity.tolist() == [1.0] * 20
        share = np.zeros((K, K))
        for a in range(K):
            for b in range(K):
                here = (LABELS[answers.i] == a) & (LABELS[answers.j] == b)
                share[a, b] = answers.label[here].mean()
        often = share[~np.eye(K, dtype=bool) & (share > 0)]
        assert len(often) == 4, "two disjoint pairs, in both directions"
        # In tasks a coin is tossed for each of 400: five standard errors.
        assert often == pytest.approx([0.6] * 4, abs=0.12)


@pytest.mark.parametrize(
    ("num_classes", "share", "pairs"), [(10, 0.4, 2), (10, 1.0, 5), (5, 1.0, 2), (2, 0.1, 1), (7, 0, 0)]
)
def test_confused_classes_are_disjoint_pairs(num_classes: int, share: float, pairs: int) -> None:
    twin = confused_classes(num_classes, share, np.random.default_rng(6))
    assert (twin[twin] == np.arange(num_classes)).all()
    assert np.sum(twin != np.arange(num_classes)) == 2 * pairs


@pytest.mark.parametrize(("simulator", "options"), [(realistic, PAIRS), (realistic_tasks, TASKS)])
@pytest.mark.parametrize("given", [True, False])
def test_some_annotators_sort_by_other_labels(simulator: Any, options: dict[str, Any], given: bool) -> None:
    other = np.random.default_rng(7).integers(3, size=500) if given else None
    answers = simulator(
        LABELS, np.random.default_rng(8), other, **{**options, "other_axis": 0.25, "other_kinds": 3, "confused": 0.8}
    )
    right = np.array([np.mean(answers.label[mine] == same_kind(answers)[mine])
                      for mine in (answers.worker == m for m in range(20))])  # fmt: skip
    away = np.flatnonzero(right < 0.8)
    assert len(away) == 5
    mine = np.isin(answers.worker, away)
    if other is not None:
        assert np.array_equal(answers.label[mine] == 1, same_kind(answers, other)[mine])
    # Labels that know nothing of the kinds, three as likely as each other: same in a third, whatever the kinds are.
    assert answers.label[mine & same_kind(answers)].mean() == pytest.approx(1 / 3, abs=0.06)
    assert answers.label[mine & ~same_kind(answers)].mean() == pytest.approx(1 / 3, abs=0.06)


@pytest.mark.parametrize(("simulator", "options"), [(realistic, PAIRS), (realistic_tasks, TASKS)])
def test_lazy_annotators_always_say_the_same_thing(simulator: Any, options: dict[str, Any]) -> None:
    answers = simulator(LABELS, np.random.default_rng(9), **{**options, "lazy": 0.3, "drift": 0.1})
    said = [set(answers.label[answers.worker == m].tolist()) for m in range(20)]
    assert (said.count({1}), said.count({0})) == (3, 3)


def test_quality_falls_with_the_position_of_the_answer() -> None:
    options = {**PAIRS, "sensitivity": 0.9, "specificity": 0.9, "drift": 0.8}
    answers = realistic(LABELS, np.random.default_rng(10), **options)
    wrong = (answers.label != same_kind(answers)).reshape(20, 10, 300).mean((0, 2))
    middle = (np.arange(10) + 0.5) / 10
    # A guess is wrong in half of the cases. 6,000 answers in each tenth: five standard errors.
    assert wrong == pytest.approx(0.1 + 0.8 * middle * (0.5 - 0.1), abs=0.033)


def test_placements_slip_more_often_in_later_tasks() -> None:
    options = {**TASKS, "num_annotators": 1, "num_tasks": 2000, "drift": 0.5}
    answers = realistic_tasks(LABELS, np.random.default_rng(11), **options)
    assert answers.task is not None
    early = answers.task < 200
    late = answers.task >= 1800
    for part, slip in ((early, 0.025), (late, 0.475)):
        same = same_kind(answers)
        # Both as they are, or one at its kind by chance, or both at one by chance: 1/5 unless neither has slipped.
        stay = (1 - slip) ** 2
        assert answers.label[part & same].mean() == pytest.approx(stay + (1 - stay) / K, abs=0.03)
        assert answers.label[part & ~same].mean() == pytest.approx((1 - stay) / K, abs=0.03)


@pytest.mark.parametrize(("simulator", "options"), [(realistic, PAIRS), (realistic_tasks, TASKS)])
def test_some_annotators_copy_the_answers_of_another(simulator: Any, options: dict[str, Any]) -> None:
    answers = simulator(
        LABELS, np.random.default_rng(12), **{**options, "copying": 0.2, "sensitivity": 0.8, "specificity": 0.8}
    )
    rows = [set() for _ in range(20)]  # type: list[set[tuple[int, int, int]]]
    for i, j, m, label in zip(answers.i, answers.j, answers.worker, answers.label, strict=True):
        rows[m].add((int(i), int(j), int(label)))
    alike = [(a, b) for a in range(20) for b in range(20) if a != b and len(rows[a] & rows[b]) > 0.9 * len(rows[a])]
    copies = {a for a, _ in alike}
    # Pairs are as many for everybody; of tasks a copier has those of the other, as many as are asked of both.
    assert 4 <= len(copies) <= 8
    assert all(rows[a] <= rows[b] or rows[b] <= rows[a] for a, b in alike)


def test_tasks_of_many_sizes_are_groupings() -> None:
    answers = realistic_tasks(LABELS, np.random.default_rng(13), num_annotated=120, task_size=[5, 9])
    assert answers.task is not None
    assert answers.num_annotators == 20
    for t in range(answers.num_tasks):
        rows = answers.task == t
        assert len(np.unique(answers.worker[rows])) == 1
        items, place = np.unique(np.concatenate([answers.i[rows], answers.j[rows]]), return_inverse=True)
        assert 5 <= len(items) <= 9
        a, b = place[: rows.sum()], place[rows.sum() :]
        relation = np.eye(len(items), dtype=int)
        relation[a, b] = relation[b, a] = answers.label[rows]
        assert np.array_equal(relation @ relation > 0, relation > 0)


@pytest.mark.parametrize(
    ("simulator", "options", "message"),
    [
        (realistic, {"lazy": 0.6, "other_axis": 0.6}, "expected shares of less than 1 together"),
        (realistic, {"copying": 1.0, "lazy": 0.0, "other_axis": 0.0}, "expected shares of less than 1 together"),
        (realistic, {"drift": 2}, r"annotations\.drift=2: expected a number >= 0 and at most 1"),
        (realistic, {"pairs_per_annotator": 5000}, "5000 distinct pairs wanted, 100 annotated items have 4950"),
        (realistic_tasks, {"num_tasks": 3}, r"annotations\.num_tasks=3: expected one or more for each of 20"),
        (realistic_tasks, {"task_size": [9, 5]}, r"annotations\.task_size=\[9, 5\]: expected \[minimum, maximum\]"),
        (realistic_tasks, {"task_size": 200}, r"annotations\.task_size=200: expected 100 at most"),
        (realistic_tasks, {"sensitivity": 0.0}, "expected sensitivity > 0"),
    ],
)
def test_mistakes(simulator: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        simulator(LABELS, np.random.default_rng(0), **options)


def test_one_kind_cannot_be_confused() -> None:
    with pytest.raises(UserError, match="at least two classes"):
        realistic(np.zeros(200, np.int64), np.random.default_rng(0))
