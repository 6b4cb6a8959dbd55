"""Dirichlet process (Antoniak 1974) with answers about pairs, if any, by the two-coin model; rates are sampled.

Annotator m answers "same" with probability α_m about two items of one cluster, and "different" with probability β_m
about items of two clusters. All rates have the same Beta prior. Given the rates, an answer has the log-weight w in
favour of one cluster for both items: ln α/(1 − β) for "same", ln (1 − α)/β for "different". So the prior of partitions
is that of the Dirichlet process times exp(Σ w), summed over the pairs within clusters.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import answer_weights, hits_and_misses, log_evidence
from semicrowd.inference.gibbs.parts import (
    closed,
    enter,
    ignored,
    leave,
    log_weight,
    meet,
    opened,
    overloads,
    weight_of_new,
)

#: Rates are limited to the interval from this number to 1 minus it.
_ENDS = 1e-9


class Answered(NamedTuple):
    """N items and C clusters; the answers e about item i have e = ``first[i]``, …, ``first[i + 1] − 1``.

    Attributes
    ----------
    alpha : the concentration
    other : the other item of each answer
    weight : w of each answer, in nats
    evidence : Σ w between the item that is being moved and the items of each cluster
    """

    alpha: Float[np.ndarray, "1"]
    first: Int[np.ndarray, "N+1"]
    other: Int[np.ndarray, "2*P"]
    weight: Float[np.ndarray, "2*P"]
    evidence: Float[np.ndarray, "C"]


class Answers:
    """P answers of M annotators.

    Attributes
    ----------
    pairs : the answers
    prior : shapes of the Beta prior of every α and β
    first, other, answer : the answers by item, as in :class:`Answered`; ``answer`` [2 P]: index of each in ``pairs``
    """

    def __init__(self, pairs: PairAnnotations, prior: tuple[float, float]) -> None:
        self.pairs, self.prior = pairs, prior
        ends = np.concatenate([pairs.i, pairs.j])
        order = np.argsort(ends, kind="stable")
        self.first = np.searchsorted(ends[order], np.arange(pairs.num_items + 1))
        self.other = np.concatenate([pairs.j, pairs.i])[order]
        self.answer = order % len(pairs.i)

    @property
    def expected(self) -> Float[np.ndarray, "2 M"]:
        """Prior means of the sensitivities and specificities."""
        return np.full((2, self.pairs.num_annotators), self.prior[0] / sum(self.prior))

    def weights(self, quality: Float[np.ndarray, "2 M"]) -> Float[np.ndarray, "P"]:
        """Log-weight w of every answer given these sensitivities and specificities, in nats."""
        sensitivity, specificity = np.clip(quality, _ENDS, 1 - _ENDS)
        return answer_weights(sensitivity, specificity, self.pairs.worker, self.pairs.label)

    def shapes(self, z: Int[np.ndarray, "N"]) -> Float[np.ndarray, "2 M 2"]:
        """Beta posteriors of sensitivity and specificity given the partition: parameters for hits, then for misses."""
        pairs = self.pairs
        same = (z[pairs.i] == z[pairs.j]).astype(np.float64)
        return hits_and_misses(same, pairs.worker, pairs.label, pairs.num_annotators) + np.asarray(self.prior)

    def log_evidence(self, z: Int[np.ndarray, "N"]) -> float:
        """ln p of all answers given the partition, sensitivities and specificities integrated out, in nats."""
        return float(log_evidence(self.shapes(z), self.prior).sum())

    def prior_of(self, alpha: np.ndarray, quality: Float[np.ndarray, "2 M"], slots: int) -> Answered:
        """The prior of partitions given these sensitivities and specificities."""
        return Answered(alpha, self.first, self.other, self.weights(quality)[self.answer], np.zeros(slots))

    def evidence(
        self, z: Int[np.ndarray, "N"], quality: Float[np.ndarray, "2 M"], clusters: int
    ) -> Float[np.ndarray, "N K"]:
        """Σ w of the answers between each item and the items of each cluster, in nats."""
        log_odds, weight = np.zeros((len(z), clusters)), self.weights(quality)
        np.add.at(log_odds, (self.pairs.i, z[self.pairs.j]), weight)
        np.add.at(log_odds, (self.pairs.j, z[self.pairs.i]), weight)
        return log_odds

    def links(self, z: Int[np.ndarray, "N"], quality: Float[np.ndarray, "2 M"], clusters: int) -> np.ndarray:
        """Σ w of the answers between the items of two clusters, in nats, [C, C]; the diagonal has no meaning."""
        log_odds = np.zeros((clusters, clusters))
        np.add.at(log_odds, (z[self.pairs.i], z[self.pairs.j]), self.weights(quality))
        return log_odds + log_odds.T


@overloads(meet, Answered)
def _meet(prior: Any, z: Any, item: int) -> None:
    prior.evidence[:] = 0.0
    for entry in range(prior.first[item], prior.first[item + 1]):
        cluster = z[prior.other[entry]]
        if cluster >= 0:
            prior.evidence[cluster] += prior.weight[entry]


@overloads(log_weight, Answered)
def _log_weight(prior: Any, z: Any, size: Any, item: int, cluster: int) -> float:  # noqa: ARG001
    return math.log(size[cluster]) + prior.evidence[cluster]


@overloads(weight_of_new, Answered)
def _weight_of_new(prior: Any, z: Any, item: int) -> float:  # noqa: ARG001
    return prior.alpha[0]


ignored(Answered, enter, leave, opened, closed)
