"""The pool of classifiers, and the calibration of two sources of evidence about an item's cluster.

Probabilities of a classifier are overconfident on new items. They are raised to a power and mixed with the cluster
sizes, whose weight in the mixture is ``base_share``; power and weight maximise the cross-validated log score. Answers
are overconfident because annotators make the same mistakes; their likelihood is raised to a power and mixed likewise,
with the power and weight under which features and answers of the same items agree best. True labels are never used.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from semicrowd.methods.cotraining.classifiers import ItemClassifier

#: Grid of powers.
POWERS = np.array([0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 8.0])
#: Grid of the weight of the cluster sizes in the mixture.
BASE_SHARES = np.array([1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95])
#: Grid of powers of the answers: independent answers have power 1, dependent ones less.
ANSWER_POWERS = POWERS[POWERS <= 1]
#: c of a classifier's log prior c ln(base_share): a few items without an error do not rule errors out.
_BASE_SHARE_PRIOR = 0.5
#: e of the answers' log prior c ln(base_share) + e ln(1 − base_share) − ½ ln²(power). It decides if features carry no
#: information: answers then count as independent and correct.
_OTHER_SHARE_PRIOR = 20.0
#: Items that a calibration is fitted to, at most: it has two parameters only.
_MAX_ITEMS = 4000
#: Lower bound of a classifier's probabilities, so that logarithms are finite.
_LEAST = 1e-30
#: Prior precision of the weights of a pool, so that a few items cannot give one classifier all the weight.
_PRECISION = 10.0
#: Lower bound of a classifier's probabilities in a pool, in which each can exclude a cluster.
_FLOOR = 1e-4
#: A classifier with a smaller share of the largest weight is left out of a pool.
_MIN_SHARE = 0.02


class Calibration(NamedTuple):
    """Raises probabilities to a power and mixes in the cluster sizes.

    Attributes
    ----------
    power : exponent of the probabilities
    base_share : weight of ``base`` in the mixture
    base : cluster sizes, as shares of the items
    """

    power: float
    base_share: float
    base: Float[np.ndarray, "K"]

    def __call__(self, log_p: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "n K"]:
        """Calibrated probabilities of log probabilities, which need not be normalised."""
        return (1 - self.base_share) * softmax(self.power * log_p, axis=1) + self.base_share * self.base

    @classmethod
    def of_classifier(cls, predicted: Float[np.ndarray, "n K"], known: Float[np.ndarray, "n K"]) -> Self:
        """The calibration with the highest log score.

        Parameters
        ----------
        predicted : cross-validated probabilities of a classifier
        known : the clusters that it should have predicted
        """
        base, rows = known.mean(0), _subset(len(predicted))
        log_p, known = np.log(np.maximum(predicted[rows], _LEAST)), known[rows]
        best = (-np.inf, 1.0, 1.0)
        for power in POWERS:
            sure = softmax(power * log_p, axis=1)
            for share in BASE_SHARES:
                score = (known * np.log((1 - share) * sure + share * base)).sum() + _BASE_SHARE_PRIOR * np.log(share)
                best = max(best, (score, power, share))
        return cls(best[1], best[2], base)

    @classmethod
    def of_answers(
        cls, log_answers: Float[np.ndarray, "n K"], features: Float[np.ndarray, "n K"], base: Float[np.ndarray, "K"]
    ) -> Self:
        """The calibration with the highest joint likelihood Σ_i ln Σ_k p(k | features) p(k | answers) / p(k).

        It assumes that features and answers are independent given an item's cluster.

        Parameters
        ----------
        log_answers : ln p(answers | cluster) of each item, up to a constant
        features : calibrated probabilities, ``base`` included
        """
        rows, log_base = _subset(len(log_answers)), np.log(base)
        ratio, log_answers = features[rows] / base, log_answers[rows]
        best = (-np.inf, 1.0, 1.0)
        for power in ANSWER_POWERS:
            agree = (ratio * softmax(power * log_answers + log_base, axis=1)).sum(1)
            for share in BASE_SHARES:
                prior = _BASE_SHARE_PRIOR * np.log(share) + _OTHER_SHARE_PRIOR * np.log1p(-share)
                prior -= 0.5 * np.log(power) ** 2
                score = np.log((1 - share) * agree + share).sum() + prior
                best = max(best, (score, power, share))
        return cls(best[1], best[2], base)

    def with_answers(
        self, log_answers: Float[np.ndarray, "n K"], features: Float[np.ndarray, "n K"]
    ) -> Float[np.ndarray, "n K"]:
        """p(k | features, answers), where this is the calibration of the answers."""
        joint = features * self(log_answers + np.log(self.base) / self.power) / self.base
        return joint / joint.sum(1, keepdims=True)


def _subset(number: int) -> np.ndarray:
    return np.arange(number) if number <= _MAX_ITEMS else np.linspace(0, number - 1, _MAX_ITEMS).astype(int)


class Pool:
    """A logarithmic pool of classifiers: p_k ∝ Π_s p_sk^w_s, w >= 0 (stacking: Wolpert 1992; pools: Heskes 1998).

    :meth:`out_of_sample` fits the weights to cross-validated probabilities of the known items, with the prior
    w_s ~ N(1/S, 1/:data:`_PRECISION`), and calibrates the pool (:class:`Calibration`). Later predictions use these.

    Attributes
    ----------
    weights : w, [S]
    calibration : of the pool; None before :meth:`out_of_sample`
    """

    def __init__(self, classifiers: Sequence[ItemClassifier]) -> None:
        self.classifiers = classifiers
        self.weights = np.full(len(classifiers), 1 / len(classifiers))
        self.calibration: Calibration | None = None

    def __call__(self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "N K"]:
        """As those of one classifier."""
        pool = np.zeros((1, known.shape[1]))
        for s in np.flatnonzero(self.shares):  # one at a time: a million items take some hundred MB
            pool = pool + self.weights[s] * _log(self.classifiers[int(s)](items, known))
        return softmax(pool, axis=1) if self.calibration is None else self.calibration(pool)

    def out_of_sample(
        self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"], fold: Int[np.ndarray, "n"]
    ) -> Float[np.ndarray, "n K"]:
        """As those of one classifier."""
        logs = np.stack([_log(classifier.out_of_sample(items, known, fold)) for classifier in self.classifiers])
        rows = _subset(len(known))
        self.weights = pool_weights(logs[:, rows], known[rows])
        pool = np.tensordot(self.weights, logs, 1)
        self.calibration = Calibration.of_classifier(softmax(pool, axis=1), known)
        return self.calibration(pool)

    @property
    def shares(self) -> Float[np.ndarray, "S"]:
        """Weights of the classifiers in the pool as shares of their sum; 0 of those that are left out."""
        kept = np.where(self.weights > _MIN_SHARE * self.weights.max(), self.weights, 0.0)
        return kept / kept.sum()

    def of(self, classifiers: Sequence[ItemClassifier]) -> "Pool":
        """The same pool of other classifiers, of other items, in the same order."""
        made = Pool(classifiers)
        made.weights, made.calibration = self.weights, self.calibration
        return made


def pool_weights(logs: Float[np.ndarray, "S n K"], known: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "S"]:
    """Weights of a logarithmic pool with the highest posterior density, given the clusters it should predict."""
    first = np.full(len(logs), 1 / len(logs))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        log_p = log_softmax(np.tensordot(weights, logs, 1), axis=1)
        off = weights - first
        slope = np.tensordot(logs, np.exp(log_p) - known, ([1, 2], [0, 1])) + _PRECISION * off
        return float(-(known * log_p).sum() + 0.5 * _PRECISION * off @ off), slope

    found: np.ndarray = minimize(loss, first, jac=True, bounds=[(0, None)] * len(logs), method="L-BFGS-B").x
    return found if found.any() else first


def _log(probabilities: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "n K"]:
    found: np.ndarray = np.log(np.maximum(probabilities, _FLOOR))
    return found
