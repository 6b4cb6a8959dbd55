"""How far two sources of knowledge about an item are to be believed: its features, and the answers about it.

A classifier that is asked about items it has not seen is right as often as its log score says, not as often as it
says itself. Its probabilities are raised to a power, and doubt (the clusters' sizes) is mixed in; both maximise the log
score out of sample. What the answers say of an item comes from people who make the same mistakes: it is raised to a
power and mixed with doubt likewise, so that it predicts best what the features say of the same item, and they it. No
label is involved.
"""

from typing import NamedTuple, Self

import numpy as np
from jaxtyping import Float
from scipy.special import log_softmax, softmax

#: Powers that are tried, and shares of doubt.
POWERS = np.array([0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 8.0])
DOUBTS = np.array([1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95])
#: Of the answers: independent witnesses would have power 1, so none is larger.
ANSWER_POWERS = POWERS[POWERS <= 1]
#: Of a classifier, ln prior = ½ ln doubt: some items without a mistake do not say that there is none.
_PRIOR = 0.5
#: Of the answers, ln prior = ½ ln doubt + 20 ln(1 − doubt) − ½ ln² power: where features say nothing of the items,
#: nothing contradicts the answers, and they are believed as if each were independent of the others.
_SOUND = 20.0
#: Items that a calibration looks at, at most: two numbers are found.
_MOST = 4000
#: Least probability of a classifier.
_LEAST = 1e-30


class Calibration(NamedTuple):
    """A power, and the share of ``base`` that is mixed in.

    Attributes
    ----------
    base : [K], sizes of the clusters
    """

    power: float
    doubt: float
    base: Float[np.ndarray, "K"]

    def __call__(self, log_p: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "n K"]:
        """Calibrated probabilities of log probabilities, which need not be normalised."""
        return (1 - self.doubt) * softmax(self.power * log_p, axis=1) + self.doubt * self.base

    @classmethod
    def of_classifier(cls, found: Float[np.ndarray, "n K"], known: Float[np.ndarray, "n K"]) -> Self:
        """The one of the highest log score of ``known`` clusters by a classifier that has not seen them."""
        base, rows = known.mean(0), _some(len(found))
        log_p, known = np.log(np.maximum(found[rows], _LEAST)), known[rows]
        best = (-np.inf, 1.0, 1.0)
        for power in POWERS:
            sure = softmax(power * log_p, axis=1)
            for doubt in DOUBTS:
                score = (known * np.log((1 - doubt) * sure + doubt * base)).sum() + _PRIOR * np.log(doubt)
                best = max(best, (score, power, doubt))
        return cls(best[1], best[2], base)

    @classmethod
    def of_answers(
        cls, heard: Float[np.ndarray, "n K"], features: Float[np.ndarray, "n K"], base: Float[np.ndarray, "K"]
    ) -> Self:
        """The one of the highest likelihood of both: Σ_i ln Σ_k p(k | features) p(k | answers) / p(k).

        Features and answers are independent given an item's cluster.

        Parameters
        ----------
        heard : ln p(answers | cluster) of each item, up to a constant
        features : calibrated probabilities, ``base`` included
        """
        rows, log_base = _some(len(heard)), np.log(base)
        ratio, heard = features[rows] / base, heard[rows]
        best = (-np.inf, 1.0, 1.0)
        for power in ANSWER_POWERS:
            agree = (ratio * softmax(power * heard + log_base, axis=1)).sum(1)
            for doubt in DOUBTS:
                prior = _PRIOR * np.log(doubt) + _SOUND * np.log1p(-doubt) - 0.5 * np.log(power) ** 2
                score = np.log((1 - doubt) * agree + doubt).sum() + prior
                best = max(best, (score, power, doubt))
        return cls(best[1], best[2], base)

    def with_answers(
        self, heard: Float[np.ndarray, "n K"], features: Float[np.ndarray, "n K"]
    ) -> Float[np.ndarray, "n K"]:
        """p(k | features, answers): the calibration is that of the answers."""
        joint = features * self(heard + np.log(self.base) / self.power) / self.base
        return joint / joint.sum(1, keepdims=True)


def _some(number: int) -> np.ndarray:
    """Rows spread evenly over all of them."""
    return np.arange(number) if number <= _MOST else np.linspace(0, number - 1, _MOST).astype(int)


def mixed(
    found: Float[np.ndarray, "S n K"], known: Float[np.ndarray, "n K"], each: float, iterations: int
) -> Float[np.ndarray, "S"]:
    """Shares of S classifiers in the mixture that gives ``known`` the highest log score, by EM.

    Parameters
    ----------
    each : pseudo-items that speak for each classifier
    """
    shares = np.full(len(found), 1 / len(found))
    rows = _some(known.shape[0])
    found, known = found[:, rows], known[rows]
    for _ in range(iterations):
        whose = shares[:, None, None] * found
        whose /= whose.sum(0)
        shares = (whose * known).sum((1, 2)) + each
        shares /= shares.sum()
    return shares


def log_probability(found: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "n K"]:
    """Logarithms, none of which is −∞."""
    return log_softmax(np.log(np.maximum(found, _LEAST)), axis=1)
