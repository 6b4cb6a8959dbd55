"""The two-coin Dawid–Skene worker model on pairs (SCDC paper, eqs. 1, 14, 20, 28, 29)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.special import betaln
from torch import Tensor

from semicrowd.expfam.shared_prior import common_beta

#: Beta prior of sensitivity and specificity in the SCDC paper, the uniform distribution.
FLAT_PRIOR = (1.0, 1.0)
#: The same with mean 10/11, which assumes good annotators; from MCVC (Chang et al. 2017).
QUALITY_PRIOR = (10.0, 1.0)


class PairEvidence(NamedTuple):
    """E ln p(L_ij | z_i, z_j) = weight · 1[z_i = z_j] + offset, for each answer, in nats.

    ``weight`` is w_ij of eq. 14, and ``offset`` is the part of eq. 20 that does not depend on z. They are
    those of P answers, or of the answers 0 and 1 of M annotators.
    """

    weight: Float[Tensor, "R *answers"]
    offset: Float[Tensor, "R *answers"]


def pair_evidence(
    sensitivity: Float[Tensor, "R M 2"],
    specificity: Float[Tensor, "R M 2"],
    worker: Int[Tensor, "P"],
    label: Int[Tensor, "P"],
) -> PairEvidence:
    """Expected log-likelihood of each answer (eqs. 1, 14), given whether its items are in the same cluster.

    Parameters
    ----------
    sensitivity : E[ln α, ln(1 − α)] of each annotator; for point estimates, as in SCDC, their logarithms
    specificity : E[ln β, ln(1 − β)], likewise
    """
    num_annotators = sensitivity.shape[1]
    # Answer 1 has probability α for items of the same cluster, else 1 − β; answer 0 has 1 − α, else β.
    cell = worker + num_annotators * (1 - label)
    same = sensitivity.mT.flatten(1)[:, cell]
    different = specificity.flip(-1).mT.flatten(1)[:, cell]
    return PairEvidence(same - different, different)


def answer_chances(
    sensitivity: Float[np.ndarray, "M"],
    specificity: Float[np.ndarray, "M"],
    worker: Int[np.ndarray, "P"],
    label: Int[np.ndarray, "P"],
) -> tuple[Float[np.ndarray, "P"], Float[np.ndarray, "P"]]:
    """p(answer | same cluster) and p(answer | different clusters), given the annotators' rates (eq. 1)."""
    alpha, beta = sensitivity[worker], specificity[worker]
    return np.where(label == 1, alpha, 1 - alpha), np.where(label == 1, 1 - beta, beta)


def answer_weights(
    sensitivity: Float[np.ndarray, "M"],
    specificity: Float[np.ndarray, "M"],
    worker: Int[np.ndarray, "P"],
    label: Int[np.ndarray, "P"],
) -> Float[np.ndarray, "P"]:
    """w_ij of eq. 14, in nats, given the annotators' rates; :func:`pair_evidence` has it for their posteriors."""
    one, two = answer_chances(sensitivity, specificity, worker, label)
    return np.log(one / two)


def quality_posterior(
    sensitivity: Float[Tensor, "*prior 2"],
    specificity: Float[Tensor, "*prior 2"],
    same: Float[Tensor, "*R M 2"],
    counts: Float[Tensor, "M 2"],
) -> tuple[Tensor, Tensor]:
    """Parameters of the optimal Beta posteriors q(α) and q(β) (eqs. 28 and 29).

    Parameters
    ----------
    sensitivity, specificity : natural or shape parameters of the priors, common to all or of each annotator
    same : expected number of pairs in the same cluster among the answers 0 and among the answers 1 of each annotator
    counts : numbers of answers 0 and 1 of each annotator
    """
    # Correct answers come first: answer 1 for pairs in the same cluster, answer 0 for other pairs.
    return sensitivity + same.flip(-1), specificity + counts - same


def posterior_of_answers(
    sensitivity: Float[Tensor, "*prior 2"],
    specificity: Float[Tensor, "*prior 2"],
    same: Float[Tensor, "R P"],
    worker: Int[Tensor, "P"],
    label: Int[Tensor, "P"],
    num_annotators: int,
) -> tuple[Tensor, Tensor]:
    """Parameters of q(α) and q(β), [R, M, 2] in float64, as in :func:`quality_posterior`.

    Parameters
    ----------
    same : probability that the items of each answer are in the same cluster
    """
    expected, counts = (
        _by_annotator(chance, worker, label, num_annotators) for chance in (same, torch.ones_like(same[:1]))
    )
    return quality_posterior(sensitivity, specificity, expected, counts[0])


def hits_and_misses(
    same: Float[np.ndarray, "P"],
    worker: Int[np.ndarray, "P"],
    label: Int[np.ndarray, "P"],
    num_annotators: int,
    counts: Float[np.ndarray, "P"] | float = 1.0,
) -> Float[np.ndarray, "2 M 2"]:
    """Expected numbers of correct and wrong answers (last axis) of each annotator.

    The first axis is: pairs in the same cluster, pairs in different clusters. :func:`posterior_of_answers` adds the
    same counts to the priors. Here those of pairs in different clusters are summed directly, instead of as a
    difference, so that rounding does not make them negative.

    Parameters
    ----------
    counts : how many answers each answer counts as
    """
    who, answer, relations = torch.from_numpy(worker), torch.from_numpy(label), (same * counts, (1 - same) * counts)
    one, two = (_by_annotator(torch.from_numpy(each)[None], who, answer, num_annotators) for each in relations)
    return torch.cat([one.flip(-1), two]).numpy()


def log_evidence(shapes: Float[np.ndarray, "*rates 2"], prior: tuple[float, float]) -> Float[np.ndarray, "*rates"]:
    """Log marginal likelihood, in nats, of the answers that depend on each rate, with the rate integrated out.

    Parameters
    ----------
    shapes : shape parameters of each rate's Beta posterior: :func:`hits_and_misses` plus ``prior``
    prior : shapes of the Beta prior of every rate
    """
    return np.asarray(betaln(shapes[..., 0], shapes[..., 1]) - betaln(*prior))


def _by_annotator(
    chance: Float[Tensor, "R P"], worker: Int[Tensor, "P"], label: Int[Tensor, "P"], num_annotators: int
) -> Float[Tensor, "R M 2"]:
    total = torch.zeros(len(chance), 2 * num_annotators, dtype=torch.float64, device=chance.device)
    return total.index_add_(1, 2 * worker + label, chance.double()).unflatten(1, (num_annotators, 2))


@dataclass(frozen=True)
class Rates:
    """Shape parameters (a, b) of the Beta posteriors of each annotator's sensitivity and specificity."""

    sensitivity: Float[np.ndarray, "M 2"]
    specificity: Float[np.ndarray, "M 2"]

    @property
    def means(self) -> tuple[Float[np.ndarray, "M"], Float[np.ndarray, "M"]]:
        """Posterior means of sensitivity and specificity."""
        alpha, beta = (shape[:, 0] / shape.sum(1) for shape in (self.sensitivity, self.specificity))
        return alpha, beta


def fit_rates(counts: Float[np.ndarray, "2 M 2"]) -> Rates:
    """Posteriors of the annotators' rates (eqs. 28 and 29) under priors fitted to all annotators.

    30 answers do not determine an annotator's rates, but 300 annotators with 30 answers each determine the distribution
    of these rates: the Beta priors are estimated by type-II maximum likelihood (empirical Bayes).

    Parameters
    ----------
    counts : of :func:`hits_and_misses`
    """
    return Rates(*(one + common_beta(one, FLAT_PRIOR) for one in counts))


def answers_without_clusters(
    worker: Int[np.ndarray, "P"], label: Int[np.ndarray, "P"], num_annotators: int,
    counts: Float[np.ndarray, "P"] | float = 1.0,
) -> Float[np.ndarray, "M 2"]:  # fmt: skip
    """Numbers of answers "same" and "different" of each annotator, all that the model without clusters depends on."""
    both = (np.bincount(worker, counts * one, minlength=num_annotators) for one in (label, 1 - label))
    return np.stack(list(both), 1)
