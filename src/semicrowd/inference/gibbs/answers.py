"""Answers about pairs as must- and cannot-links of the Dirichlet process: the two-coin model, its annotators drawn.

Annotator m says "same" of two items of one cluster with probability α_m, "different" of two of different clusters with
β_m; both have one Beta prior. Given them an answer weighs w in favour of one cluster for both: ln α/(1 − β) where it is
"same", ln (1 − α)/β where it is "different". So the prior of partitions is the restaurant's times exp(Σ w) over the
pairs within clusters.
"""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import answer_weights, hits_and_misses
from semicrowd.inference.gibbs.parts import closed, enter, leave, log_weight, meet, opened, overloads, weight_of_new

#: How sure an annotator can be.
_ENDS = 1e-9


class Answered(NamedTuple):
    """N items and C clusters; item i meets ``other[e]`` for e from ``first[i]`` to ``first[i + 1]``.

    Attributes
    ----------
    alpha : [1], the concentration
    first, other : [N + 1] and [2 P]
    weight : [2 P] w of each answer
    evidence : [C] Σ w of the item just met with the items of each cluster
    """

    alpha: np.ndarray
    first: np.ndarray
    other: np.ndarray
    weight: np.ndarray
    evidence: np.ndarray


@dataclass(frozen=True)
class Answers:
    """P answers of M annotators.

    Attributes
    ----------
    pairs : the answers
    prior : shapes of the Beta prior of every α and β
    first, other, answer : the answers by item, as :class:`Answered` has them; ``answer`` is the number of each
    """

    pairs: PairAnnotations
    prior: tuple[float, float]
    first: np.ndarray = field(init=False)
    other: np.ndarray = field(init=False)
    answer: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        ends = np.concatenate([self.pairs.i, self.pairs.j])
        order = np.argsort(ends, kind="stable")
        by_item = {
            "first": np.searchsorted(ends[order], np.arange(self.pairs.num_items + 1)),
            "other": np.concatenate([self.pairs.j, self.pairs.i])[order],
            "answer": order % len(self.pairs.i),
        }
        for name, value in by_item.items():
            object.__setattr__(self, name, value)

    @property
    def expected(self) -> Float[np.ndarray, "2 M"]:
        """Sensitivities and specificities that the prior expects."""
        return np.full((2, self.pairs.num_annotators), self.prior[0] / sum(self.prior))

    def weights(self, quality: Float[np.ndarray, "2 M"]) -> Float[np.ndarray, "P"]:
        """Of every answer under annotators of such sensitivity and specificity, in nats."""
        sensitivity, specificity = np.clip(quality, _ENDS, 1 - _ENDS)
        return answer_weights(sensitivity, specificity, self.pairs.worker, self.pairs.label)

    def shapes(self, z: Int[np.ndarray, "N"]) -> Float[np.ndarray, "2 M 2"]:
        """Of the Beta posteriors of sensitivity and specificity given the partition: hits, then misses."""
        pairs = self.pairs
        same = (z[pairs.i] == z[pairs.j]).astype(np.float64)
        return hits_and_misses(same, pairs.worker, pairs.label, pairs.num_annotators) + np.asarray(self.prior)

    def prior_of(self, alpha: np.ndarray, quality: Float[np.ndarray, "2 M"], slots: int) -> Answered:
        """The prior of partitions under these annotators."""
        return Answered(alpha, self.first, self.other, self.weights(quality)[self.answer], np.zeros(slots))

    def evidence(
        self, z: Int[np.ndarray, "N"], quality: Float[np.ndarray, "2 M"], clusters: int
    ) -> Float[np.ndarray, "N K"]:
        """What its answers say of each item, all others in their clusters, in nats."""
        log_odds, weight = np.zeros((len(z), clusters)), self.weights(quality)
        np.add.at(log_odds, (self.pairs.i, z[self.pairs.j]), weight)
        np.add.at(log_odds, (self.pairs.j, z[self.pairs.i]), weight)
        return log_odds

    def links(self, z: Int[np.ndarray, "N"], quality: Float[np.ndarray, "2 M"], clusters: int) -> np.ndarray:
        """What all answers say of one cluster for the items of two, in nats, [C, C]; the diagonal is nobody's."""
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


@overloads(enter, Answered)
def _enter(prior: Any, z: Any, item: int) -> None:
    pass


@overloads(leave, Answered)
def _leave(prior: Any, z: Any, item: int) -> None:
    pass


@overloads(opened, Answered)
def _opened(prior: Any, cluster: int, rng: Any) -> None:
    pass


@overloads(closed, Answered)
def _closed(prior: Any, cluster: int) -> None:
    pass
