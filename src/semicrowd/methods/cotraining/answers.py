"""The answers as co-training sees them: the two-coin model, its inference and its evidence.

Each answer follows the two-coin model (SCDC paper, eq. 1), with Beta priors of the annotators' rates that are fitted to
all annotators (:func:`semicrowd.crowd.two_coin.fit_rates`). Answers of one grouping depend on each other; they count as
their effective number (:meth:`semicrowd.crowd.index.AnswerIndex.effective`).

The evidence of clusters q, with p the cluster probabilities that the features predict of each item, is the variational
lower bound

    F(q) = Σ_rates ln B(a + hits, b + misses) / B(a, b) + Σ_i Σ_k q_ik ln(p_ik / q_ik) <= ln p(answers | features),

in which the annotators' rates are integrated out. Its first term rewards clusters that explain the answers, its second
one costs what the features cannot predict; an additional cluster has to be worth its cost.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import (
    FLAT_PRIOR,
    Rates,
    answer_weights,
    answers_without_clusters,
    fit_rates,
    hits_and_misses,
    log_evidence,
)
from semicrowd.expfam.shared_prior import common_beta
from semicrowd.inference.graph import FixedPairGraph
from semicrowd.inference.message_passing import infer_z

#: Maximal number of message-passing sweeps.
_MAX_SWEEPS = 50
#: Message passing stops when no probability changes by more than this in a sweep.
_TOLERANCE = 1e-3
#: Lower bound of a probability, so that logarithms are finite.
_LEAST = 1e-30


class Inferred(NamedTuple):
    """The result of variational inference for the annotated items and the annotators.

    Attributes
    ----------
    message : Σ_j w_ij q(z_j), the message that each item receives through its answers, in nats
    weights : w_ij, ln p(answer | same cluster) − ln p(answer | different clusters) of each answer, in nats
    bound : :meth:`Answers.bound` of q(z), with the exponent of the answers' likelihood
    """

    message: Float[np.ndarray, "n K"]
    weights: Float[np.ndarray, "P"]
    bound: float


@dataclass(frozen=True)
class Answers:
    """Answers about n annotated items, which are numbered from 0.

    Attributes
    ----------
    i, j : numbers of the two items of each answer
    worker, label : annotator of each answer, from 0 to M − 1; 1: the same cluster, 0: different ones
    component : label of each item's connected component in the graph of the answers
    num_annotators : M
    counts : number of independent answers that each answer counts as
    """

    i: Int[np.ndarray, "P"]
    j: Int[np.ndarray, "P"]
    worker: Int[np.ndarray, "P"]
    label: Int[np.ndarray, "P"]
    component: Int[np.ndarray, "n"]
    num_annotators: int
    counts: Float[np.ndarray, "P"]

    @classmethod
    def of(cls, answers: PairAnnotations) -> "Answers":
        """All answers, those of a grouping with their effective number."""
        index = answers.index
        return cls(index.i, index.j, answers.worker, answers.label, index.component, answers.num_annotators,
                   index.effective())  # fmt: skip

    def same(self, known: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "P"]:
        """Probability that the two items of each answer are in the same cluster."""
        return np.einsum("pk,pk->p", known[self.i], known[self.j])

    def hits_and_misses(self, known: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "2 M 2"]:
        """Expected numbers of correct and wrong answers; see :func:`semicrowd.crowd.two_coin.hits_and_misses`."""
        return hits_and_misses(self.same(known), self.worker, self.label, self.num_annotators, self.counts)

    def rates(self, known: Float[np.ndarray, "n K"]) -> Rates:
        """Posteriors of the annotators' rates, given the clusters (eqs. 28 and 29)."""
        return fit_rates(self.hits_and_misses(known))

    def weights(self, rates: Rates) -> Float[np.ndarray, "P"]:
        """w_ij of eq. 14: ln p(answer | same cluster) − ln p(answer | different clusters), in nats."""
        return answer_weights(*rates.means, self.worker, self.label)

    def infer(
        self,
        features: Float[np.ndarray, "n K"],
        initial: Float[np.ndarray, "n K"],
        start: Float[np.ndarray, "n K"],
        power: float,
        iterations: int,
    ) -> Inferred:
        """Alternate between the updates of the annotators (eqs. 28 and 29) and of the items (eq. 14).

        Parameters
        ----------
        features : p(z | features), the unary potentials
        initial : q(z) for the first estimate of the annotators' rates
        start : q(z) with which message passing starts in every iteration
        power : exponent of the answers' likelihood
        """
        unary, first = (torch.from_numpy(_log(one))[None] for one in (features, start))
        i, j, component = (torch.from_numpy(one) for one in (self.i, self.j, self.component))
        z = initial
        for _ in range(iterations):
            weights = self.weights(self.rates(z))
            strength = torch.from_numpy(power * self.counts * weights)[None]
            graph = FixedPairGraph(len(component), i, j, strength, component, int(component.max()) + 1)
            log_z = infer_z(unary, graph, _MAX_SWEEPS, _TOLERANCE, first)
            z = log_z[0].exp().numpy()
        message = graph.messages(log_z.exp())[0].numpy() / power
        return Inferred(message, weights, self.bound(z, features, power))

    def bound(self, known: Float[np.ndarray, "n K"], features: Float[np.ndarray, "n K"], power: float = 1.0) -> float:
        """The evidence F(q) of clusters ``known``, in nats; with an exponent ``power`` of the answers' likelihood."""
        return power * self.log_marginal(known) + float(feature_terms(known, features).sum())

    def log_marginal(self, known: Float[np.ndarray, "n K"]) -> float:
        """The first term of F(q): the log marginal likelihood of expected hits and misses, rates integrated out."""
        return sum(_log_marginal(one) for one in self.hits_and_misses(known))

    def without_clusters(self) -> float:
        """The evidence of the model without clusters: each annotator says "same" at a rate of their own."""
        return _log_marginal(answers_without_clusters(self.worker, self.label, self.num_annotators, self.counts))


def feature_terms(known: Float[np.ndarray, "n K"], features: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "n K"]:
    """q ln(p / q), the terms of the features in F(q), of each item and cluster."""
    terms: np.ndarray = known * (_log(features) - _log(known))
    return terms


def _log_marginal(counts: Float[np.ndarray, "M 2"]) -> float:
    prior = common_beta(counts, FLAT_PRIOR)
    return float(log_evidence(counts + prior, (prior[0], prior[1])).sum())


def _log(probabilities: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.log(np.maximum(probabilities, _LEAST))
    return found
