"""How far classifiers and answers are believed, and a pool of them: against scipy, autograd and Bayes' rule."""

from itertools import product

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit, softmax
from sklearn.metrics import log_loss

from semicrowd.methods.cotraining import pool as pools
from semicrowd.methods.cotraining.classifiers import ItemClassifier, Predictor
from semicrowd.methods.cotraining.pool import Calibration, Pool, pool_weights


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
        return -float((known * np.log(p)).sum() + pools._BASE_SHARE_PRIOR * np.log(base_share))

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
        return -float(np.log((features * p / base).sum(1)).sum() + pools._BASE_SHARE_PRIOR * np.log(base_share))

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


def test_many_items_are_calibrated_by_some_that_lie_evenly_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    found, known = _classified(2.0, 6000)
    whole = Calibration.of_classifier(found, known)
    monkeypatch.setattr(pools, "_MAX_ITEMS", 500)
    some = pools._subset(6000)
    assert len(some) == 500
    assert set(np.diff(some)) <= {12, 13}
    part = Calibration.of_classifier(found, known)
    assert abs(np.log(part.power / whole.power)) < 0.5
    np.testing.assert_array_equal(part.base, known.mean(0))


ROWS = np.arange(0, 900, 3)
REST = np.setdiff1d(np.arange(900), ROWS)
FOLD = np.arange(len(ROWS)) % 5
LOG_P = log_softmax(2.0 * np.random.default_rng(0).normal(size=(900, 3)), axis=1)
CLASSES = (np.random.default_rng(1).random((900, 1)) > np.exp(LOG_P).cumsum(1)).sum(1)
TOLD = np.eye(3)[CLASSES[ROWS]]


class Fixed(ItemClassifier):
    """Says of every item what it has been given, whatever is known; counts how often it is asked."""

    def __init__(self, log_p: np.ndarray) -> None:
        super().__init__(len(log_p))
        self.found, self.asked = softmax(log_p, axis=1), 0

    def learn(self, items: np.ndarray, known: np.ndarray) -> Predictor:  # noqa: ARG002
        self.asked += 1
        return lambda rows: self.found[rows]


def _noise() -> Fixed:
    return Fixed(3 * np.random.default_rng(4).normal(size=(900, 3)))


@pytest.mark.parametrize("number", [20, 300])
def test_weights_of_a_pool_are_the_most_probable_ones_by_autograd(number: int) -> None:
    """The slope is 0 for each weight above 0, and not downhill for the others."""
    logs = np.stack([0.5 * LOG_P, np.roll(LOG_P, 1, 0), -LOG_P, np.log(_noise().found)])[:, ROWS[:number]]
    found = pool_weights(logs, TOLD[:number])
    weights = torch.tensor(found, requires_grad=True)
    log_p = torch.log_softmax(torch.einsum("s,snk->nk", weights, torch.from_numpy(logs)), 1)
    (-(torch.from_numpy(TOLD[:number]) * log_p).sum() + 0.5 * 10 * (weights - 0.25).square().sum()).backward()
    assert weights.grad is not None
    slope = weights.grad.numpy()
    assert (found >= 0).all()
    assert_allclose(slope[found > 0], 0, atol=0.02)
    assert (slope[found == 0] > 0).all()
    assert found[0] > 2 * found[1:].max()


def test_what_always_knows_beats_noise_and_is_believed() -> None:
    perfect = Fixed(6 * np.eye(3)[CLASSES])
    pool = Pool([_noise(), perfect])
    out = pool.out_of_sample(ROWS, TOLD, FOLD)
    assert pool.shares[1] > 0.8  # the prior leaves the other a part
    assert out[np.arange(300), CLASSES[ROWS]].min() > 0.95
    assert log_loss(CLASSES[REST], pool(ROWS, TOLD)[REST]) < 0.02


def test_a_classifier_that_is_too_sure_is_mended() -> None:
    overconfident = Fixed(4 * LOG_P)
    pool = Pool([overconfident, _noise()])
    out = pool.out_of_sample(ROWS, TOLD, FOLD)
    assert pool.calibration is not None
    assert pool.weights[0] * pool.calibration.power == pytest.approx(0.25, rel=0.3)
    everywhere = pool(ROWS, TOLD)
    assert_allclose(everywhere.sum(1), 1)
    assert_allclose(everywhere[ROWS], out, atol=2e-3)
    right = log_loss(CLASSES[REST], np.exp(LOG_P[REST]))
    assert log_loss(CLASSES[REST], everywhere[REST]) < right + 0.05
    assert log_loss(CLASSES[REST], overconfident.found[REST]) > right + 0.3


def test_two_that_each_know_a_part_are_better_together() -> None:
    even = (np.arange(900) // 3 % 2 == 0)[:, None]
    halves = [Fixed(np.where(seen, LOG_P, 0.0)) for seen in (even, ~even)]
    pool = Pool(halves)
    pool.out_of_sample(ROWS, TOLD, FOLD)
    assert_allclose(pool.shares, 0.5, atol=0.1)
    best = min(log_loss(CLASSES[REST], one.found[REST]) for one in halves)
    assert log_loss(CLASSES[REST], pool(ROWS, TOLD)[REST]) < best - 0.1


def test_a_pool_is_the_calibrated_product_of_powers_and_at_first_the_geometric_mean() -> None:
    parts = [Fixed(LOG_P), Fixed(0.3 * np.roll(LOG_P, 1, 0))]
    pool, found = Pool(parts), [part.found for part in parts]
    at_first = np.sqrt(found[0] * found[1])
    assert_allclose(pool(ROWS, TOLD), at_first / at_first.sum(1, keepdims=True), rtol=0.01, atol=5e-3)
    pool.out_of_sample(ROWS, TOLD, FOLD)
    product = found[0] ** pool.weights[0] * found[1] ** pool.weights[1]
    product /= product.sum(1, keepdims=True)
    expected = Calibration.of_classifier(product[ROWS], TOLD)
    assert_allclose(pool(ROWS, TOLD), expected(np.log(product)), atol=5e-3)


def test_what_has_hardly_a_share_is_not_asked_and_others_may_take_the_places() -> None:
    parts, others = [Fixed(LOG_P), _noise()], [_noise(), Fixed(LOG_P)]
    pool = Pool(parts)
    pool.weights = np.array([1.0, 0.01])
    again = pool.of(others)
    for one, (asked, left) in ((pool, parts), (again, others)):
        one(ROWS, TOLD)
        assert (asked.asked, left.asked) == (1, 0)
        assert_allclose(one.shares, [1.0, 0.0])
    assert again.calibration is pool.calibration
