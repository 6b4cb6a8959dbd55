"""A hidden Markov model by maximum likelihood (Rabiner 1989), by hmmlearn."""

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.estimators.base import OneShotClusterer, OrderedClusterer
from semicrowd.estimators.inputs import checked_counts
from semicrowd.fitting.result import Assignment, Result
from semicrowd.random import stream
from semicrowd.settings.fields import choice, setting, whole
from semicrowd.settings.parameters import STARTS, CountedParameters

#: Lower bound of a column's probability in a state, so that unseen counts do not have probability 0.
_LEAST = 1e-12


@dataclass(eq=False, repr=False, kw_only=True)
class HMMParameters(CountedParameters):
    """Parameters of :class:`HMM`."""

    family: str = setting(
        "gaussian", "emissions: gaussian (diagonal covariance) | multinomial (for counts)",
        choice("gaussian", "multinomial"),
    )
    n_init: int = setting(5, STARTS, whole(1, 100_000))
    max_iter: int = setting(100, "maximal number of EM iterations", whole(1))


class HMM(HMMParameters, OrderedClusterer, OneShotClusterer):
    """A hidden Markov model with a given number of states; answers are ignored. It cannot predict states of new rows.

    The labels are the most probable sequence of states (Viterbi) in the random start with the highest likelihood.

    Attributes
    ----------
    transitions_ : [K, K] transition probabilities from row to column; ``beginning_`` : [K] initial probabilities
    emissions_ : [K, D] probabilities of the columns (multinomial) or means (gaussian)
    log_likelihood_ : log-likelihood of the best start, in nats, without the multinomial coefficients
    n_iter_ : number of its EM iterations
    """

    def _cluster(self, features: np.ndarray, answers: PairAnnotations | None) -> Result:  # noqa: ARG002 - ignored
        sequence = self._order(len(features))
        order = np.argsort(sequence, kind="stable")
        if self.family == "multinomial":
            features = checked_counts(features)
        rows, lengths = features[order], np.unique(sequence, return_counts=True)[1]
        models = [self._fitted(rows, lengths, start) for start in range(self.n_init)]
        best = max(models, key=lambda model: model.monitor_.history[-1])
        path = np.empty(len(features), np.int64)
        path[order] = best.predict(rows, lengths)
        self.transitions_, self.beginning_ = best.transmat_, best.startprob_
        self.emissions_ = best.emissionprob_ if self.family == "multinomial" else best.means_
        self.log_likelihood_, self.n_iter_ = float(best.monitor_.history[-1]), len(best.monitor_.history)
        assignment = Assignment.hard(path)
        return self._result(assignment, assignment)

    def _fitted(self, rows: np.ndarray, lengths: np.ndarray, start: int) -> Any:
        # Imported here because it takes a fifth of a second, and only this method needs it.
        from hmmlearn import hmm

        class Counts(hmm.MultinomialHMM):
            """Multinomial HMM without the coefficients, which are equal for all states, and with a lower bound."""

            def _compute_log_likelihood(self, X: np.ndarray) -> np.ndarray:
                return X @ np.log(np.maximum(self.emissionprob_, _LEAST)).T

        # Suppress warnings about changes of the API, and about EM iterations without improvement.
        logging.getLogger("hmmlearn").setLevel(logging.ERROR)
        options = {
            "n_components": self.n_clusters, "n_iter": self.max_iter,
            "random_state": int(stream(self.seed_, "hmm", start).integers(2**31)),
        }  # fmt: skip
        model = Counts(**options) if self.family == "multinomial" else hmm.GaussianHMM(**options)
        return model.fit(rows, lengths)
