"""How many more answers are needed: against closed forms of Wald's sequential test."""

import numpy as np
import pandas as pd
import pytest

from semicrowd.fitting.result import Assignment
from semicrowd.page.advice import need


def annotators(rate: float) -> pd.DataFrame:
    return pd.DataFrame({"sensitivity": [rate], "specificity": [rate], "pairs": [10]})


def undecided(items: int, others: int = 0) -> Assignment:
    """Items of two equally likely clusters, and some that are sure."""
    return Assignment.of(np.array([[0.5, 0.5]] * items + [[1.0, 0.0]] * others))


def test_one_answer_of_a_good_annotator_decides_an_item() -> None:
    """Odds of one are those of the annotator after an answer: .95 > .9."""
    found = need(undecided(100, 300), annotators(0.95))
    assert found is not None
    assert (found.uncertain, found.share, found.answers, found.each) == (100, 0.25, 50, 1.0)


def test_answers_of_a_middling_annotator_are_a_random_walk() -> None:
    """Log odds move by ln(.7 / .3) up or down until three more of one kind than of the other: (.7 / .3)³ > 9.

    The expected duration of that walk (Feller, An Introduction to Probability Theory, XIV.3) from 0 to ±3 is
    3 (P(up) − P(down)) / (p − q) with P(up) = 1 / (1 + (q / p)³).
    """
    found = need(undecided(400), annotators(0.7))
    assert found is not None
    up = 1 / (1 + (0.3 / 0.7) ** 3)
    assert found.each == pytest.approx(3 * (2 * up - 1) / 0.4, rel=0.1)
    assert found.answers == pytest.approx(200 * found.each, abs=1)


def test_guessing_never_suffices() -> None:
    found = need(undecided(50), annotators(0.5))
    assert found is not None
    assert found.answers is None


def test_nothing_is_claimed_without_probabilities_annotators_or_doubt() -> None:
    assert need(Assignment.hard(np.zeros(4)), annotators(0.9)) is None
    assert need(undecided(4), None) is None
    assert need(undecided(0, 4), annotators(0.9)) is None
