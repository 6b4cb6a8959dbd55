"""What answers say of items and items of answers, where annotators are judged beside a prior fitted to their crowd.

Each answer follows the two-coin model (SCDC paper, eqs. 1 and 14). Of 30 answers nobody can tell how good an annotator
is; of 300 people with 30 answers each one can tell what people are like: the Beta priors of sensitivity and specificity
are those of the highest likelihood (type-II maximum likelihood).

Two kinds that look alike are confused by everybody. Held-out answers are predicted by a model that knows it: two items
of the clusters k and l look the same with probability S_kl, whoever looks, and annotators answer what they see.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import FLAT_PRIOR, answer_chances, answer_weights, hits_and_misses
from semicrowd.expfam import beta
from semicrowd.expfam.shared_prior import common_beta
from semicrowd.inference.graph import FixedPairGraph
from semicrowd.inference.message_passing import infer_z
from semicrowd.starts.answer_classifier import Annotators

#: Mean of the prior of S_kl off the diagonal.
_ALIKE = 0.05
#: How many answers of a perfect annotator that prior is worth.
_ALIKE_COUNT = 2.0
#: Turns in which S and the annotators' rates are fitted to each other.
_TURNS = 3
#: Sweeps of message passing, at most.
_SWEEPS = 50
#: Change of a probability that ends them.
_TOLERANCE = 1e-3
#: Least probability of a cluster.
_LEAST = 1e-30


@dataclass(frozen=True)
class Rates:
    """Beta posteriors of the annotators' rates.

    Attributes
    ----------
    sensitivity, specificity : shapes, [M, 2]
    """

    sensitivity: np.ndarray
    specificity: np.ndarray

    @property
    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """Of sensitivity and specificity, [M] each."""
        alpha, specificity = (shape[:, 0] / shape.sum(1) for shape in (self.sensitivity, self.specificity))
        return alpha, specificity

    @property
    def annotators(self) -> Annotators:
        """The same as a model's restart takes it."""
        both = (beta.to_natural(torch.from_numpy(shape)[None]) for shape in (self.sensitivity, self.specificity))
        return Annotators(*both)

    def of_answers(
        self, worker: Int[np.ndarray, "P"], label: Int[np.ndarray, "P"]
    ) -> tuple[Float[np.ndarray, "P"], Float[np.ndarray, "P"]]:
        """p(answer | the items are of one kind), p(answer | of two)."""
        return answer_chances(*self.means, worker, label)


def fit_rates(
    same: Float[np.ndarray, "P"], worker: Int[np.ndarray, "P"], label: Int[np.ndarray, "P"], num_annotators: int
) -> Rates:
    """Posteriors of the annotators' rates (eqs. 28 and 29) beside priors of the highest likelihood.

    Parameters
    ----------
    same : probability that the items of each answer are of one kind
    """
    both = hits_and_misses(same, worker, label, num_annotators)
    return Rates(*(counts + common_beta(counts, FLAT_PRIOR) for counts in both))


def fit_prevalence(
    worker: Int[np.ndarray, "P"], label: Int[np.ndarray, "P"], num_annotators: int
) -> Float[np.ndarray, "M"]:
    """The chance that an annotator says "same", whatever the items are: what answers are like without any clusters."""
    counts = np.stack([np.bincount(worker, weight, minlength=num_annotators) for weight in (label, 1 - label)], 1)
    shape = counts + common_beta(counts, FLAT_PRIOR)
    found: np.ndarray = shape[:, 0] / shape.sum(1)
    return found


class Placed(NamedTuple):
    """Where items are.

    Attributes
    ----------
    message : [n, K], what the answers say to each item
    weights : [P], what each answer says for its items being one kind
    bound : on ln p(answers | features), in nats
    """

    message: np.ndarray
    weights: np.ndarray
    bound: float


@dataclass(frozen=True)
class Heard:
    """What some of the answers say.

    Attributes
    ----------
    i, j : [P] positions among the annotated items
    worker, label : [P]
    component : [n] connected component of each item, of these answers or of more
    num_annotators : M
    """

    i: np.ndarray
    j: np.ndarray
    worker: np.ndarray
    label: np.ndarray
    component: np.ndarray
    num_annotators: int

    @classmethod
    def of(cls, answers: PairAnnotations, rows: np.ndarray | slice = slice(None)) -> "Heard":
        """Those of ``rows``."""
        index = answers.index
        return cls(
            index.i[rows], index.j[rows], answers.worker[rows], answers.label[rows], index.component,
            answers.num_annotators,
        )  # fmt: skip

    def same(
        self, known: Float[np.ndarray, "n K"], alike: Float[np.ndarray, "K K"] | None = None
    ) -> Float[np.ndarray, "P"]:
        """Probability that the items of each answer are of one kind; with ``alike``, S: that they look so."""
        other = known if alike is None else known @ alike
        return np.einsum("pk,pk->p", other[self.i], known[self.j])

    def rates(self, known: Float[np.ndarray, "n K"]) -> Rates:
        """Of the annotators, given the clusters."""
        return fit_rates(self.same(known), self.worker, self.label, self.num_annotators)

    def weights(self, rates: Rates) -> Float[np.ndarray, "P"]:
        """w_ij of eq. 14: what each answer says for its items being one kind, in nats."""
        return answer_weights(*rates.means, self.worker, self.label)

    def placed(
        self,
        features: Float[np.ndarray, "n K"],
        judged: Float[np.ndarray, "n K"],
        start: Float[np.ndarray, "n K"],
        power: float,
        turns: int,
    ) -> Placed:
        """Items and annotators by turns, given what features say of the items (eqs. 14, 28 and 29).

        Parameters
        ----------
        judged : q(z) by which the annotators are judged at first
        start : q(z) that message passing begins with in every turn
        power : of the answers
        """
        z = judged
        for _ in range(turns):
            rates = self.rates(z)
            z, message = self.joined(features, rates, power, start)
        return Placed(message, self.weights(rates), self._bound(z, features, rates, power))

    def joined(
        self, features: Float[np.ndarray, "n K"], rates: Rates, power: float, start: Float[np.ndarray, "n K"]
    ) -> tuple[Float[np.ndarray, "n K"], Float[np.ndarray, "n K"]]:
        """q(z) of the items (eq. 14), and Σ_j w_ij q(z_j), the answers' message to each item."""
        weight = torch.from_numpy(self.weights(rates))
        i, j, component = (torch.from_numpy(one) for one in (self.i, self.j, self.component))
        graph = FixedPairGraph(len(component), i, j, power * weight[None], component, int(component.max()) + 1)
        unary, first = (torch.from_numpy(np.log(np.maximum(one, _LEAST)))[None] for one in (features, start))
        z = infer_z(unary, graph, _SWEEPS, _TOLERANCE, first).exp()
        return z[0].numpy(), graph.messages(z)[0].numpy() / power

    def _bound(
        self, z: Float[np.ndarray, "n K"], features: Float[np.ndarray, "n K"], rates: Rates, power: float
    ) -> float:
        """E ln p(answers | z), to the power, less KL(q(z) ‖ p(z | features))."""
        one, two = (np.log(chance) for chance in rates.of_answers(self.worker, self.label))
        same = self.same(z)
        log_ratio = np.log(np.maximum(features, _LEAST)) - np.log(np.maximum(z, _LEAST))
        return float(power * (same * one + (1 - same) * two).sum() + (z * log_ratio).sum())

    def alike(self, known: Float[np.ndarray, "n K"]) -> tuple[Float[np.ndarray, "K K"], Rates]:
        """S, 1 on its diagonal, and the annotators' rates under it.

        S_kl is how much of the way the answers about k and l are from those about two kinds to those about one.
        """
        size = known.shape[1]
        alike, z_i, z_j = np.eye(size), known[self.i], known[self.j]
        rates = self.rates(known)
        for _ in range(_TURNS):
            alpha, specificity = (rate[self.worker] for rate in rates.means)
            able = alpha + specificity - 1
            # Least squares of the answers on 1 − β + S_kl (α + β − 1), an annotator counting as he is able.
            above = z_i.T @ ((able * (self.label - 1 + specificity))[:, None] * z_j)
            weight = z_i.T @ ((able**2)[:, None] * z_j)
            above, weight = above + above.T, weight + weight.T
            alike = np.clip((above + _ALIKE_COUNT * _ALIKE) / (weight + _ALIKE_COUNT), 0, 1)
            np.fill_diagonal(alike, 1.0)
            rates = fit_rates(self._seen(known, alike, rates), self.worker, self.label, self.num_annotators)
        return alike, rates

    def _seen(self, known: np.ndarray, alike: np.ndarray, rates: Rates) -> np.ndarray:
        """Probability that the items looked the same to the annotator, given the answer."""
        look = self.same(known, alike)
        one, two = rates.of_answers(self.worker, self.label)
        seen: np.ndarray = look * one / (look * one + (1 - look) * two)
        return seen

    def log_likelihood(
        self, known: Float[np.ndarray, "n K"], alike: Float[np.ndarray, "K K"], rates: Rates
    ) -> Float[np.ndarray, "P"]:
        """ln p of each answer."""
        look = self.same(known, alike)
        one, two = rates.of_answers(self.worker, self.label)
        return np.log(look * one + (1 - look) * two)
