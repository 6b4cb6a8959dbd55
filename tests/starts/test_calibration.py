"""How far a source is to be believed: against scipy's optimum of the same score, Bayes' rule and simulated items."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit, softmax
from sklearn.metrics import log_loss

from semicrowd.starts import calibration
from semicrowd.starts.calibration import Calibration, StackedClassifier, log_probability, mixed
from semicrowd.starts.item_classifiers import ItemClassifier


def _drawn(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A cluster of every row of probabilities, as [n, K] of zeros and ones."""
    return np.eye(p.shape[1])[(rng.random((len(p), 1)) > p.cumsum(1)).sum(1)]


def _classified(power: float, number: int = 1500, K: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities to a power, and clusters drawn from the probabilities themselves."""
    rng = np.random.default_rng(7)
    log_p = log_softmax(1.5 * rng.normal(size=(number, K)), axis=1)
    return softmax(power * log_p, axis=1), _drawn(np.exp(log_p), rng)


@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("wrong", [0.0, 0.15], ids=["sound", "a share at random"])
def test_power_and_weight_of_a_classifier_score_as_the_optimum_of_scipy(power: float, wrong: float) -> None:
    found, known = _classified(power)
    rng = np.random.default_rng(3)
    spoilt = rng.random(len(known)) < wrong
    known = np.where(spoilt[:, None], np.eye(4)[rng.integers(4, size=len(known))], known)
    base = known.mean(0)

    def loss(parameters: np.ndarray) -> float:
        base_share = expit(parameters[1])
        p = (1 - base_share) * softmax(np.exp(parameters[0]) * np.log(found), axis=1) + base_share * base
        return -float((known * np.log(p)).sum() + calibration._BASE_SHARE_PRIOR * np.log(base_share))

    best = min((minimize(loss, start, method="Nelder-Mead") for start in ([0, -3], [-1, -1])), key=lambda one: one.fun)
    made = Calibration.of_classifier(found, known)
    np.testing.assert_array_equal(made.base, base)
    # The grid is coarse: a few nats of 1500 items' score, which is hundreds.
    assert best.fun - 1e-3 <= loss(np.array([np.log(made.power), logit(made.base_share)])) < best.fun + 4
    assert abs(np.log(made.power) - best.x[0]) < 0.4
    assert abs(made.base_share - expit(best.x[1])) < 0.1


def test_of_two_ways_to_write_the_same_probabilities_the_calibrated_ones_are_the_same() -> None:
    """A classifier whose certainty is off by a known power is mended."""
    right, known = _classified(1.0)
    for power in (0.5, 2.0, 4.0):
        found, _ = _classified(power)
        made = Calibration.of_classifier(found, known)
        assert made.power == pytest.approx(1 / power, rel=0.45)
        np.testing.assert_allclose(made(np.log(found)), right, atol=0.12)
        assert np.abs(made(np.log(found)) - right).mean() < 0.03


def _calibration_error(p: np.ndarray, known: np.ndarray) -> float:
    """Expected calibration error of the most probable cluster, fifteen bins of as many items (Guo et al. 2017)."""
    sure, right = p.max(1), known[np.arange(len(p)), p.argmax(1)]
    bins = np.array_split(np.argsort(sure), 15)
    return float(sum(len(one) * abs(sure[one].mean() - right[one].mean()) for one in bins) / len(sure))


@pytest.mark.parametrize("power", [0.4, 3.0, 8.0])
def test_calibrated_probabilities_come_true_as_often_as_they_say(power: float) -> None:
    """On items that the calibration has not seen."""
    found, known = _classified(power, 24_000)
    made = Calibration.of_classifier(found[:4000], known[:4000])
    assert _calibration_error(found[4000:], known[4000:]) > 0.1
    assert _calibration_error(made(np.log(found[4000:])), known[4000:]) <= 0.03


def _evidence(num_answers: int, number: int, echo: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities from features, log likelihoods of answers, and the true classes of items of three classes.

    An answer names the class of an item, right seven times in ten, and is counted ``echo`` times. The features are one
    more such answer, counted once.
    """
    rng = np.random.default_rng(11)
    rates = np.where(np.eye(3, dtype=bool), 0.7, 0.15)
    kind = rng.integers(3, size=number)
    named = [_drawn(rates[kind], rng).argmax(1) for _ in range(num_answers + 1)]
    features = rates[:, named[0]].T / rates[:, named[0]].sum(0)[:, None]
    return features, echo * np.sum([np.log(rates[:, one].T) for one in named[1:]], axis=0), kind


def test_power_and_weight_of_answers_score_as_the_optimum_of_scipy() -> None:
    features, log_answers, _ = _evidence(2, 3000, echo=3)
    base = np.full(3, 1 / 3)

    def loss(parameters: np.ndarray) -> float:
        power, base_share = expit(parameters)
        p = (1 - base_share) * softmax(power * log_answers + np.log(base), axis=1) + base_share * base
        return -float(np.log((features * p / base).sum(1)).sum() + calibration._BASE_SHARE_PRIOR * np.log(base_share))

    best = min((minimize(loss, one, method="Nelder-Mead") for one in ([0, -3], [-1, -1])), key=lambda one: one.fun)
    made = Calibration.of_answers(log_answers, features, base)
    assert best.fun - 1e-3 <= loss(logit([made.power, made.base_share])) < best.fun + 1
    assert made.power == pytest.approx(expit(best.x[0]), rel=0.4)


def test_answers_that_were_counted_three_times_count_once() -> None:
    base = np.full(3, 1 / 3)
    once, thrice = (Calibration.of_answers(*_evidence(2, 4000, echo)[1::-1], base) for echo in (1, 3))
    assert once.power >= 0.7
    assert thrice.power == pytest.approx(1 / 3, abs=0.1)
    features, log_answers, kind = _evidence(2, 4000, 3)
    assert _calibration_error(thrice.with_answers(log_answers, features), np.eye(3)[kind]) <= 0.03


def test_answers_that_have_nothing_to_do_with_the_features_have_no_weight() -> None:
    features, log_answers, _ = _evidence(4, 2000)
    elsewhere = log_answers[np.random.default_rng(0).permutation(2000)]
    made = Calibration.of_answers(elsewhere, features, np.full(3, 1 / 3))
    joint = made.with_answers(elsewhere, features)
    assert np.abs(joint - features).max() < 0.1


def test_with_answers_is_the_rule_of_bayes_by_enumeration() -> None:
    """With probability base_share the answers are about nothing, else their likelihood counts to the power."""
    rng = np.random.default_rng(5)
    base = np.array([0.5, 0.3, 0.2])
    made = Calibration(0.4, 0.15, base)
    features, log_answers = rng.dirichlet(np.ones(3), 6), 3 * rng.normal(size=(6, 3))
    found = made.with_answers(log_answers, features)
    for item, k in product(range(6), range(3)):
        likelihood = np.exp(made.power * log_answers[item])
        said = base * likelihood / sum(base * likelihood)
        mixed = (1 - made.base_share) * said + made.base_share * base
        joint = features[item] / base * mixed
        assert found[item, k] == pytest.approx(joint[k] / sum(joint))
    np.testing.assert_allclose(Calibration(0.4, 1.0, base).with_answers(log_answers, features), features)


@pytest.mark.parametrize("each", [0.0, 5.0])
def test_shares_of_a_mixture_are_the_most_probable(each: float) -> None:
    rng = np.random.default_rng(2)
    found = rng.dirichlet(np.ones(3), (3, 300))
    known = _drawn(np.tensordot([0.6, 0.3, 0.1], found, 1), rng)

    def loss(logits: np.ndarray) -> float:
        shares = softmax(np.append(logits, 0))
        return -float((known * np.log(np.tensordot(shares, found, 1))).sum() + each * np.log(shares).sum())

    best = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"maxiter": 4000, "fatol": 1e-8, "xatol": 1e-6})
    np.testing.assert_allclose(mixed(found, known, each, 2000), softmax(np.append(best.x, 0)), atol=2e-3)


def test_many_items_are_calibrated_by_some_that_lie_evenly_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    found, known = _classified(2.0, 6000)
    whole = Calibration.of_classifier(found, known)
    monkeypatch.setattr(calibration, "_MAX_ITEMS", 500)
    some = calibration._subset(6000)
    assert len(some) == 500
    assert set(np.diff(some)) <= {12, 13}
    part = Calibration.of_classifier(found, known)
    assert abs(np.log(part.power / whole.power)) < 0.5
    np.testing.assert_array_equal(part.base, known.mean(0))


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
