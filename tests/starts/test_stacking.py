"""Several classifiers as one, on classifiers whose words are known."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from sklearn.metrics import log_loss

from semicrowd.starts.calibration import Calibration, StackedClassifier, log_probability, mixed
from semicrowd.starts.item_classifiers import ItemClassifier

ITEMS = np.arange(0, 900, 3)
FOLD = np.arange(len(ITEMS)) % 5
LOG_P = log_softmax(2.0 * np.random.default_rng(0).normal(size=(900, 3)), axis=1)
LABELS = (np.random.default_rng(1).random((900, 1)) > np.exp(LOG_P).cumsum(1)).sum(1)
KNOWN = np.eye(3)[LABELS[ITEMS]]


class Fixed(ItemClassifier):
    """Says of every item what it has been given, whatever is known; counts how often it is asked."""

    def __init__(self, log_p: np.ndarray) -> None:
        self.found, self.asked = softmax(log_p, axis=1), 0

    def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:  # noqa: ARG002
        self.asked += 1
        return self.found


def _noise() -> Fixed:
    return Fixed(3 * np.random.default_rng(4).normal(size=(900, 3)))


def test_a_classifier_that_is_too_sure_is_mended_and_one_that_knows_nothing_hardly_counts() -> None:
    overconfident, noise = Fixed(4 * LOG_P), _noise()
    stack = StackedClassifier([overconfident, noise])
    out = stack.out_of_sample(ITEMS, KNOWN, FOLD)
    assert stack.each is not None
    assert stack.each[0].power == 0.25
    assert stack.share(overconfident) > 0.95
    assert stack.share(noise) < 0.05
    everywhere = stack(ITEMS, KNOWN)
    np.testing.assert_allclose(everywhere.sum(1), 1)
    np.testing.assert_allclose(everywhere[ITEMS], out, atol=0.03)
    rest = np.setdiff1d(np.arange(900), ITEMS)
    right = log_loss(LABELS[rest], np.exp(LOG_P[rest]))
    assert log_loss(LABELS[rest], everywhere[rest]) < right + 0.02
    assert log_loss(LABELS[rest], overconfident.found[rest]) > right + 0.3


def test_what_has_hardly_a_share_is_not_asked() -> None:
    one, other = Fixed(LOG_P), _noise()
    stack = StackedClassifier([one, other])
    stack.shares = np.array([0.99, 0.01])
    np.testing.assert_array_equal(stack(ITEMS, KNOWN), one.found)
    assert other.asked == 0
    assert stack.share(other) == 0.0


def test_two_that_each_know_a_part_are_better_together() -> None:
    even = (np.arange(900) // 3 % 2 == 0)[:, None]
    halves = [Fixed(np.where(seen, LOG_P, 0.0)) for seen in (even, ~even)]
    stack = StackedClassifier(halves)
    stack.out_of_sample(ITEMS, KNOWN, FOLD)
    assert stack.shares == pytest.approx([0.5, 0.5], abs=0.15)
    found = stack(ITEMS, KNOWN)
    rest = np.setdiff1d(np.arange(900), ITEMS)
    assert log_loss(LABELS[rest], found[rest]) < min(log_loss(LABELS[rest], one.found[rest]) for one in halves) - 0.02


def test_it_is_the_calibrated_mixture_of_calibrated_parts() -> None:
    parts = [Fixed(2 * LOG_P), Fixed(0.3 * LOG_P + 0.2), _noise()]
    stack = StackedClassifier(parts)
    found = stack.out_of_sample(ITEMS, KNOWN, FOLD)
    said = [part.found[ITEMS] for part in parts]
    each = np.stack([Calibration.of_classifier(one, KNOWN)(log_probability(one)) for one in said])
    mixture = np.tensordot(mixed(each, KNOWN, 1.0, 100), each, 1)
    np.testing.assert_allclose(found, Calibration.of_classifier(mixture, KNOWN)(log_probability(mixture)))


def test_before_anything_is_known_of_them_all_count_alike() -> None:
    parts = [Fixed(LOG_P), _noise()]
    np.testing.assert_allclose(StackedClassifier(parts)(ITEMS, KNOWN), (parts[0].found + parts[1].found) / 2)


def test_the_same_mixture_of_other_classifiers() -> None:
    parts, others = [Fixed(2 * LOG_P), _noise()], [Fixed(LOG_P), _noise()]
    stack = StackedClassifier(parts)
    stack.out_of_sample(ITEMS, KNOWN, FOLD)
    turned = stack.of(parts[::-1], others[::-1])
    assert turned.classifiers == others
    assert turned.share(others[0]) == stack.share(parts[0])
    assert turned.share(parts[0]) == 0.0
    assert turned.whole is stack.whole
