"""A hidden Markov model by maximum likelihood (Rabiner 1989), by hmmlearn."""

import logging
from typing import Any, ClassVar

import numpy as np
from hmmlearn import hmm
from sklearn.utils._param_validation import StrOptions

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.estimators.base import CrowdClusterer, progress
from semicrowd.methods.unsupervised import OrderedClusterer, checked_counts, checked_sequence
from semicrowd.random import stream
from semicrowd.result import Assignment, Result

#: Lower bound of a column's probability in a state, so that unseen counts do not have probability 0.
_LEAST = 1e-12
#: Random starts, of which the one with the highest likelihood is kept, and EM iterations of each, at most.
_STARTS, _MOST_ITERATIONS = 5, 100


class _Counts(hmm.MultinomialHMM):
    """Multinomial HMM without the coefficients, which are equal for all states, and with a lower bound."""

    def _compute_log_likelihood(self, X: np.ndarray) -> np.ndarray:
        return X @ np.log(np.maximum(self.emissionprob_, _LEAST)).T


class HMM(OrderedClusterer):
    """A hidden Markov model with a given number of states, by maximum likelihood; answers are ignored.

    The labels are the most probable sequence of states (Viterbi) in the random start with the highest likelihood
    (Rabiner 1989; EM by hmmlearn). It cannot predict states of new rows.

    Parameters
    ----------
    n_clusters : int, default=4
        Number of states.
    family : {"gaussian", "multinomial"}, default="gaussian"
        Emissions: Gaussian with diagonal covariance, or multinomial for counts.
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    transitions_ : ndarray of shape (n_clusters, n_clusters)
        Transition probabilities from row to column.
    beginning_ : ndarray of shape (n_clusters,)
        Initial probabilities.
    emissions_ : ndarray of shape (n_clusters, n_features)
        Probabilities of the columns (multinomial) or means (gaussian).
    log_likelihood_ : float
        Log-likelihood of the best start, in nats, without the multinomial coefficients.
    n_iter_ : int
        Its EM iterations, of which ``history_`` has the log-likelihood.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CrowdClusterer._parameter_constraints,
        "family": [StrOptions({"gaussian", "multinomial"})],
    }  # fmt: skip
    transitions_: np.ndarray
    beginning_: np.ndarray
    emissions_: np.ndarray
    log_likelihood_: float
    n_iter_: int

    def __init__(
        self, n_clusters: int = 4, *, family: str = "gaussian", random_state: Any = 0, verbose: Any = False
    ) -> None:
        self.n_clusters = n_clusters
        self.family = family
        self.random_state = random_state
        self.verbose = verbose

    def _run(
        self,
        features: np.ndarray,
        answers: PairAnnotations | None,  # noqa: ARG002 - ignored
        sequence: Any = None,
    ) -> Result:
        sequence = checked_sequence(sequence, len(features))
        order = np.argsort(sequence, kind="stable")
        if self.family == "multinomial":
            features = checked_counts(features)
        rows, lengths = features[order], np.unique(sequence, return_counts=True)[1]
        models = [self._fitted(rows, lengths, start) for start in progress(range(_STARTS), "starts", self.verbose)]
        best = max(models, key=lambda model: model.monitor_.history[-1])
        path = np.empty(len(features), np.int64)
        path[order] = best.predict(rows, lengths)
        self.transitions_, self.beginning_ = best.transmat_, best.startprob_
        self.emissions_ = best.emissionprob_ if self.family == "multinomial" else best.means_
        course = [float(value) for value in best.monitor_.history]
        self.history_ = [{"epoch": number, "log_likelihood": value} for number, value in enumerate(course, 1)]
        self.log_likelihood_, self.n_iter_ = course[-1], len(course)
        assignment = Assignment.hard(path)
        return self._result(assignment, assignment)

    def _fitted(self, rows: np.ndarray, lengths: np.ndarray, start: int) -> Any:
        # Suppress warnings about changes of the API, and about EM iterations without improvement.
        logging.getLogger("hmmlearn").setLevel(logging.ERROR)
        options = {
            "n_components": self.n_clusters, "n_iter": _MOST_ITERATIONS,
            "random_state": int(stream(self.seed_, "hmm", start).integers(2**31)),
        }  # fmt: skip
        model = _Counts(**options) if self.family == "multinomial" else hmm.GaussianHMM(**options)
        return model.fit(rows, lengths)
