"""Calibration of the two sources of evidence about an item's cluster: a classifier of its features, and its answers.

Probabilities of a classifier are overconfident on new items. They are raised to a power and mixed with the cluster
sizes, whose weight in the mixture is ``base_share``; power and weight maximise the cross-validated log score. Answers
are overconfident because annotators make the same mistakes; their likelihood is raised to a power and mixed likewise,
with the power and weight under which features and answers of the same items agree best. True labels are never used.

:class:`StackedClassifier` is a mixture of calibrated classifiers, with weights and calibrations fitted by
cross-validation.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from jaxtyping import Float, Int
from scipy.special import log_softmax, softmax

from semicrowd.starts.item_classifiers import ItemClassifier

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
_MIN_PROBABILITY = 1e-30
#: Pseudo-items of each stacked classifier, so that a few items cannot give one classifier all the weight.
_PSEUDO_ITEMS = 1.0
#: A stacked classifier with a smaller weight is left out.
_MIN_SHARE = 0.02
#: Iterations of EM for the weights.
_EM_ITERATIONS = 100


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
        log_p, known = np.log(np.maximum(predicted[rows], _MIN_PROBABILITY)), known[rows]
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


def mixed(
    predicted: Float[np.ndarray, "S n K"], known: Float[np.ndarray, "n K"], each: float, iterations: int
) -> Float[np.ndarray, "S"]:
    """Shares of S classifiers in the mixture that gives ``known`` the highest log score, by EM.

    Parameters
    ----------
    each : pseudo-items of each classifier
    """
    shares = np.full(len(predicted), 1 / len(predicted))
    rows = _subset(known.shape[0])
    predicted, known = predicted[:, rows], known[rows]
    for _ in range(iterations):
        whose = shares[:, None, None] * predicted
        whose /= whose.sum(0)
        shares = (whose * known).sum((1, 2)) + each
        shares /= shares.sum()
    return shares


def log_probability(predicted: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "n K"]:
    """Logarithms, none of which is −∞."""
    return log_softmax(np.log(np.maximum(predicted, _MIN_PROBABILITY)), axis=1)


class StackedClassifier(ItemClassifier):
    """A mixture of classifiers (stacking: Wolpert 1992; Breiman 1996).

    :meth:`out_of_sample` fits the calibration of each classifier, their weights, and the calibration of the mixture
    (:class:`Calibration`) to cross-validated probabilities of the known items. Later predictions use these.
    """

    def __init__(self, classifiers: Sequence[ItemClassifier]) -> None:
        self.classifiers = classifiers
        self.shares = np.full(len(classifiers), 1 / len(classifiers))
        self.each: list[Calibration] | None = None
        self.whole: Calibration | None = None

    def __call__(self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "N K"]:
        """See :class:`ItemClassifier`."""
        used = np.flatnonzero(self.shares >= min(_MIN_SHARE, self.shares.max()))
        mixture = np.zeros((1, known.shape[1]))
        for s in used:  # one at a time: probabilities of a million items take some hundred MB
            share = self.shares[s] / self.shares[used].sum()
            mixture = mixture + share * self._calibrated(int(s), self.classifiers[int(s)](items, known))
        return mixture if self.whole is None else self.whole(log_probability(mixture))

    def out_of_sample(
        self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"], fold: Int[np.ndarray, "n"]
    ) -> Float[np.ndarray, "n K"]:
        """See :class:`ItemClassifier`."""
        probabilities = [classifier.out_of_sample(items, known, fold) for classifier in self.classifiers]
        self.each = [Calibration.of_classifier(one, known) for one in probabilities]
        calibrated = np.stack([self._calibrated(s, one) for s, one in enumerate(probabilities)])
        self.shares = mixed(calibrated, known, _PSEUDO_ITEMS, _EM_ITERATIONS)
        mixture = np.tensordot(self.shares, calibrated, 1)
        self.whole = Calibration.of_classifier(mixture, known)
        return self.whole(log_probability(mixture))

    def share(self, classifier: ItemClassifier) -> float:
        """Weight of a classifier in the mixture; 0 if it is left out."""
        share = sum(share for one, share in zip(self.classifiers, self.shares, strict=True) if one is classifier)
        return float(share) if share >= min(_MIN_SHARE, self.shares.max()) else 0.0

    def of(self, before: Sequence[ItemClassifier], after: Sequence[ItemClassifier]) -> "StackedClassifier":
        """The same mixture with each classifier of ``before`` replaced by that of ``after``, e.g. for other items."""
        place = {id(one): number for number, one in enumerate(before)}
        made = StackedClassifier([after[place[id(one)]] for one in self.classifiers])
        made.shares, made.each, made.whole = self.shares, self.each, self.whole
        return made

    def _calibrated(self, number: int, probabilities: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "n K"]:
        return probabilities if self.each is None else self.each[number](log_probability(probabilities))
