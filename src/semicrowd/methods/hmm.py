"""A hidden Markov model by maximum likelihood (Rabiner 1989), by hmmlearn."""

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.estimators.base import OneShotClusterer
from semicrowd.estimators.inputs import checked_counts
from semicrowd.estimators.ordered import OrderedClusterer
from semicrowd.fitting.result import Assignment, Result
from semicrowd.random import stream
from semicrowd.settings.fields import choice, setting, whole
from semicrowd.settings.parameters import STARTS, CountedParameters

#: Least probability of a column in a state: a count that a state has never seen is no contradiction.
_LEAST = 1e-12


@dataclass(eq=False, repr=False, kw_only=True)
class HMMParameters(CountedParameters):
    """Parameters of :class:`HMM`."""

    family: str = setting(
        "gaussian", "of the states: gaussian (diagonal) | multinomial (of counts)", choice("gaussian", "multinomial")
    )
    n_init: int = setting(5, STARTS, whole(1, 100_000))
    max_iter: int = setting(100, "steps of EM, fewer where the likelihood has settled", whole(1))


class HMM(HMMParameters, OrderedClusterer, OneShotClusterer):
    """A hidden Markov model whose number of states is given; answers are ignored. No prediction row by row.

    The labels are the most probable path through the states (Viterbi) under the start of highest likelihood.

    Attributes
    ----------
    transitions_ : [K, K] from row to column; ``beginning_`` : [K]
    emissions_ : [K, D] probabilities of the columns (multinomial) or means (gaussian)
    log_likelihood_ : of the best start, in nats, without the multinomial coefficients
    n_iter_ : its steps of EM
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
        found = Assignment.hard(path)
        return self._found(found, found)

    def _fitted(self, rows: np.ndarray, lengths: np.ndarray, start: int) -> Any:
        # Imported here: a fifth of a second, for this method alone.
        from hmmlearn import hmm

        class Counts(hmm.MultinomialHMM):
            """Without the coefficients, which are the same for all states, and with a floor."""

            def _compute_log_likelihood(self, X: np.ndarray) -> np.ndarray:
                return X @ np.log(np.maximum(self.emissionprob_, _LEAST)).T

        logging.getLogger("hmmlearn").setLevel(logging.ERROR)  # it tells of its past, and of steps that gain nothing
        options = {
            "n_components": self.n_clusters, "n_iter": self.max_iter,
            "random_state": int(stream(self.seed_, "hmm", start).integers(2**31)),
        }  # fmt: skip
        model = Counts(**options) if self.family == "multinomial" else hmm.GaussianHMM(**options)
        return model.fit(rows, lengths)
