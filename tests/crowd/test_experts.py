"""Experts with blind spots against their definition: what they have learnt, whom they misjudge, what slips."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from semicrowd.crowd.realistic import blind_spots, experts, learnt
from semicrowd.errors import UserError

DIGITS, LABELS = load_digits(return_X_y=True)
DIGITS = (DIGITS / 16).astype(np.float32)
#: Two kinds that a network tells apart after any number of examples.
TWO = np.repeat([0, 1], 100)
APART = np.random.default_rng(0).normal(20.0 * TWO[:, None] - 10, 1, (200, 4)).astype(np.float32)


@pytest.mark.parametrize(
    ("kinds", "number", "sizes"),
    [(10, 2, [5, 5]), (10, 3, [4, 3, 3]), (10, 10, [1] * 10), (20, 3, [7, 7, 6]), (4, 3, [2, 1, 1])],
)
def test_every_kind_is_one_experts_blind_spot(kinds: int, number: int, sizes: list[int]) -> None:
    spots = blind_spots(kinds, number)
    assert [len(spot) for spot in spots] == sizes
    assert np.concatenate(spots).tolist() == list(range(kinds))


def test_an_expert_has_learnt_a_share_of_each_kind_and_one_item_at_least() -> None:
    code = np.repeat([0, 1, 2], [300, 59, 1000])
    chosen = learnt(code, np.array([2]), 0.1, 0.0001, np.random.default_rng(1))
    assert np.bincount(code[chosen]).tolist() == [30, 5, 1]
    assert len(set(chosen.tolist())) == len(chosen)


def test_experts_err_about_their_blind_spots() -> None:
    answers = experts(DIGITS, LABELS, np.random.default_rng(2), familiar=0.5, corrupted=0.0)
    assert (answers.num_pairs, answers.num_annotators, answers.num_items) == (9000, 3, 1797)
    assert answers.simulated
    wrong = answers.label != (LABELS[answers.i] == LABELS[answers.j])
    ends = np.stack([LABELS[answers.i], LABELS[answers.j]])
    blind = np.array([np.isin(ends[:, p], blind_spots(10, 3)[m]).any() for p, m in enumerate(answers.worker)])
    for m in range(3):
        mine = answers.worker == m
        assert wrong[mine & ~blind].mean() < 0.02
        assert wrong[mine & blind].mean() > 0.1
    sensitivity, specificity = answers.empirical_quality(LABELS)
    assert answers.true_sensitivity is not None
    assert answers.true_specificity is not None
    assert answers.true_sensitivity.tolist() == sensitivity.tolist()
    assert answers.true_specificity.tolist() == specificity.tolist()


@pytest.mark.parametrize("corrupted", [0.0, 0.3, 1.0])
def test_half_of_what_is_corrupted_is_wrong(corrupted: float) -> None:
    answers = experts(
        APART, TWO, np.random.default_rng(3), num_annotators=2, familiar=0.5, unfamiliar=0.5, corrupted=corrupted
    )
    wrong = answers.label != (TWO[answers.i] == TWO[answers.j])
    # 6,000 answers: five standard errors are .032 at most.
    assert wrong.mean() == pytest.approx(corrupted / 2, abs=0.032 if corrupted else 0)
    # Pairs are uniform: 99 of 199 partners share the kind.
    assert np.mean(TWO[answers.i] == TWO[answers.j]) == pytest.approx(99 / 199, abs=0.032)


def test_mistakes() -> None:
    with pytest.raises(UserError, match="3 experts, 2 classes; expected at least one class for each expert"):
        experts(APART, TWO, np.random.default_rng(0))
    with pytest.raises(UserError, match="20000 distinct pairs wanted, 200 annotated items have 19900"):
        experts(APART, TWO, np.random.default_rng(0), num_annotators=2, pairs_per_annotator=20_000)
    with pytest.raises(UserError, match=r"annotations\.num_annotators=1: expected a whole number >= 2"):
        experts(APART, TWO, np.random.default_rng(0), num_annotators=1)
