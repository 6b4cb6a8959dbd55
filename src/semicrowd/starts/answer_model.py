"""The two-coin model of answers, with Beta priors of sensitivity and specificity that are fitted to all annotators.

Each answer follows the two-coin model (SCDC paper, eqs. 1 and 14). 30 answers do not determine an annotator's
sensitivity and specificity, but 300 annotators with 30 answers each determine the distribution of these rates. The
Beta priors are therefore estimated by type-II maximum likelihood (empirical Bayes).

All annotators confuse clusters that look similar. The model that predicts held-out answers describes this by a
similarity matrix S: two items of the clusters k and l look the same to an annotator with probability S_kl. The
annotator then answers by the two-coin model as if items that look the same were in one cluster.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import FLAT_PRIOR, answer_chances, answer_weights, hits_and_misses
from semicrowd.expfam import dirichlet
from semicrowd.expfam.shared_prior import common_beta
from semicrowd.inference.graph import FixedPairGraph
from semicrowd.inference.message_passing import infer_z
from semicrowd.starts.answer_classifier import Annotators

#: Prior mean of S_kl, k ≠ l.
_SIMILARITY_MEAN = 0.05
#: Weight of this prior, in answers of a perfect annotator.
_SIMILARITY_COUNT = 2.0
#: Iterations that alternate between S and the annotators' rates.
_SIMILARITY_ITERATIONS = 3
#: Maximal number of message-passing sweeps.
_MAX_SWEEPS = 50
#: Message passing stops when no probability changes by more than this in a sweep.
_TOLERANCE = 1e-3
#: Lower bound of a cluster's probability, so that logarithms are finite.
_MIN_PROBABILITY = 1e-30


@dataclass(frozen=True)
class Rates:
    """Shape parameters (a, b) of the Beta posteriors of each annotator's sensitivity and specificity."""

    sensitivity: Float[np.ndarray, "M 2"]
    specificity: Float[np.ndarray, "M 2"]

    @property
    def means(self) -> tuple[Float[np.ndarray, "M"], Float[np.ndarray, "M"]]:
        """Posterior means of sensitivity and specificity."""
        alpha, specificity = (shape[:, 0] / shape.sum(1) for shape in (self.sensitivity, self.specificity))
        return alpha, specificity

    @property
    def annotators(self) -> Annotators:
        """The natural parameters of the posteriors, with a leading restart dimension of size 1."""
        both = (dirichlet.to_natural(torch.from_numpy(shape)[None]) for shape in (self.sensitivity, self.specificity))
        return Annotators(*both)

    def of_answers(
        self, worker: Int[np.ndarray, "P"], label: Int[np.ndarray, "P"]
    ) -> tuple[Float[np.ndarray, "P"], Float[np.ndarray, "P"]]:
        """p(answer | both items are in the same cluster) and p(answer | they are in different clusters)."""
        return answer_chances(*self.means, worker, label)


def fit_rates(
    same: Float[np.ndarray, "P"],
    worker: Int[np.ndarray, "P"],
    label: Int[np.ndarray, "P"],
    num_annotators: int,
    counts: Float[np.ndarray, "P"] | float = 1.0,
) -> Rates:
    """Posteriors of the annotators' rates (eqs. 28 and 29) under priors fitted by maximum likelihood.

    Parameters
    ----------
    same : probability that the two items of each answer are in the same cluster
    counts : number of independent answers that each answer counts as
    """
    both = hits_and_misses(same, worker, label, num_annotators, counts)
    return Rates(*(one + common_beta(one, FLAT_PRIOR) for one in both))


def fit_prevalence(
    worker: Int[np.ndarray, "P"], label: Int[np.ndarray, "P"], num_annotators: int
) -> Float[np.ndarray, "M"]:
    """Each annotator's probability to answer "same" under the model without clusters, which ignores the items."""
    counts = np.stack([np.bincount(worker, weight, minlength=num_annotators) for weight in (label, 1 - label)], 1)
    shape = counts + common_beta(counts, FLAT_PRIOR)
    estimate: np.ndarray = shape[:, 0] / shape.sum(1)
    return estimate


class ItemInference(NamedTuple):
    """The result of variational inference for the annotated items and the annotators.

    Attributes
    ----------
    message : Σ_j w_ij q(z_j), the message that each item receives through its answers
    weights : w_ij, ln p(answer | same cluster) − ln p(answer | different clusters) of each answer, in nats
    bound : lower bound of ln p(answers | features), in nats
    """

    message: Float[np.ndarray, "n K"]
    weights: Float[np.ndarray, "P"]
    bound: float


@dataclass(frozen=True)
class IndexedAnswers:
    """Some or all answers; items are numbered from 0 to n − 1, where n is the number of annotated items.

    Attributes
    ----------
    i, j : numbers of the two items of each answer
    component : label of each item's connected component in the graph of all answers
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
    def of(
        cls, answers: PairAnnotations, rows: np.ndarray | slice = slice(None), *, independent: bool = True
    ) -> "IndexedAnswers":
        """The answers in ``rows``.

        Parameters
        ----------
        independent : whether all answers count as independent; else those of a grouping count as fewer
            (:meth:`AnswerIndex.effective`)
        """
        index = answers.index
        counts = np.ones(len(index.i[rows])) if independent else index.effective(rows)
        return cls(
            index.i[rows], index.j[rows], answers.worker[rows], answers.label[rows], index.component,
            answers.num_annotators, counts,
        )  # fmt: skip

    def same(
        self, known: Float[np.ndarray, "n K"], similarity: Float[np.ndarray, "K K"] | None = None
    ) -> Float[np.ndarray, "P"]:
        """Probability that the two items of each answer are in the same cluster; with ``similarity``: look the same."""
        other = known if similarity is None else known @ similarity
        return np.einsum("pk,pk->p", other[self.i], known[self.j])

    def rates(self, known: Float[np.ndarray, "n K"]) -> Rates:
        """Posteriors of the annotators' rates, given the clusters."""
        return self._fit_rates(self.same(known))

    def _fit_rates(self, same: Float[np.ndarray, "P"]) -> Rates:
        return fit_rates(same, self.worker, self.label, self.num_annotators, self.counts)

    def weights(self, rates: Rates) -> Float[np.ndarray, "P"]:
        """w_ij of eq. 14: ln p(answer | same cluster) − ln p(answer | different clusters), in nats."""
        return answer_weights(*rates.means, self.worker, self.label)

    def infer_items(
        self,
        features: Float[np.ndarray, "n K"],
        initial: Float[np.ndarray, "n K"],
        start: Float[np.ndarray, "n K"],
        power: float,
        iterations: int,
    ) -> ItemInference:
        """Alternate between the updates of the annotators (eqs. 28 and 29) and of the items (eq. 14).

        Parameters
        ----------
        features : p(z | features), the unary potentials
        initial : q(z) for the first estimate of the annotators' rates
        start : q(z) with which message passing starts in every iteration
        power : exponent of the answers' likelihood
        """
        z = initial
        for _ in range(iterations):
            rates = self.rates(z)
            z, message = self.item_posterior(features, rates, power, start)
        return ItemInference(message, self.weights(rates), self._bound(z, features, rates, power))

    def item_posterior(
        self, features: Float[np.ndarray, "n K"], rates: Rates, power: float, start: Float[np.ndarray, "n K"]
    ) -> tuple[Float[np.ndarray, "n K"], Float[np.ndarray, "n K"]]:
        """q(z) of the items (eq. 14), and Σ_j w_ij q(z_j), the message that each item receives through its answers."""
        weight = torch.from_numpy(self.counts * self.weights(rates))
        i, j, component = (torch.from_numpy(one) for one in (self.i, self.j, self.component))
        graph = FixedPairGraph(len(component), i, j, power * weight[None], component, int(component.max()) + 1)
        unary, first = (torch.from_numpy(np.log(np.maximum(one, _MIN_PROBABILITY)))[None] for one in (features, start))
        z = infer_z(unary, graph, _MAX_SWEEPS, _TOLERANCE, first).exp()
        return z[0].numpy(), graph.messages(z)[0].numpy() / power

    def _bound(
        self, z: Float[np.ndarray, "n K"], features: Float[np.ndarray, "n K"], rates: Rates, power: float
    ) -> float:
        one, two = (np.log(chance) for chance in rates.of_answers(self.worker, self.label))
        same = self.same(z)
        log_ratio = np.log(np.maximum(features, _MIN_PROBABILITY)) - np.log(np.maximum(z, _MIN_PROBABILITY))
        return float(power * (self.counts * (same * one + (1 - same) * two)).sum() + (z * log_ratio).sum())

    def similarity(self, known: Float[np.ndarray, "n K"]) -> tuple[Float[np.ndarray, "K K"], Rates]:
        """Estimate S, whose diagonal is 1, and the annotators' rates given S.

        S_kl is 0 if pairs from k and l are answered like pairs from clearly different clusters, and 1 if they are
        answered like pairs from a single cluster.
        """
        size = known.shape[1]
        similarity, z_i, z_j = np.eye(size), known[self.i], known[self.j]
        rates = self.rates(known)
        for _ in range(_SIMILARITY_ITERATIONS):
            alpha, specificity = (rate[self.worker] for rate in rates.means)
            informedness = alpha + specificity - 1
            # Least squares fit of the answers by 1 − β + S_kl (α + β − 1); α + β − 1 is Youden's informedness.
            numerator = z_i.T @ ((informedness * (self.label - 1 + specificity))[:, None] * z_j)
            weight = z_i.T @ ((informedness**2)[:, None] * z_j)
            numerator, weight = numerator + numerator.T, weight + weight.T
            mode = (numerator + _SIMILARITY_COUNT * _SIMILARITY_MEAN) / (weight + _SIMILARITY_COUNT)
            similarity = np.clip(mode, 0, 1)
            np.fill_diagonal(similarity, 1.0)
            rates = self._fit_rates(self._looked_same(known, similarity, rates))
        return similarity, rates

    def _looked_same(self, known: np.ndarray, similarity: np.ndarray, rates: Rates) -> np.ndarray:
        look = self.same(known, similarity)
        one, two = rates.of_answers(self.worker, self.label)
        posterior: np.ndarray = look * one / (look * one + (1 - look) * two)
        return posterior

    def log_likelihood(
        self, known: Float[np.ndarray, "n K"], similarity: Float[np.ndarray, "K K"], rates: Rates
    ) -> Float[np.ndarray, "P"]:
        """ln p(answer) of each answer, given q(z), S and the annotators' rates, in nats."""
        look = self.same(known, similarity)
        one, two = rates.of_answers(self.worker, self.label)
        return np.log(look * one + (1 - look) * two)
