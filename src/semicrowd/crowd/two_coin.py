"""The two-coin Dawid–Skene worker model on pairs (SCDC paper, eqs. 1, 14, 20)."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

#: Beta prior of sensitivity and specificity where there is no other; MCVC's.
QUALITY_PRIOR = (10.0, 1.0)


class PairEvidence(NamedTuple):
    """E ln p(L_ij | z_i, z_j) = weight · 1[z_i = z_j] + offset, for every answer. Shapes [R, P].

    ``weight`` is w_ij of eq. 14, ``offset`` the part of eq. 20 that does not depend on z.
    """

    weight: Tensor
    offset: Tensor


def pair_evidence(
    sensitivity: Float[Tensor, "R M 2"],
    specificity: Float[Tensor, "R M 2"],
    worker: Int[Tensor, "P"],
    label: Int[Tensor, "P"],
) -> PairEvidence:
    """What each answer says about its pair, from E[ln α, ln(1 − α)] and E[ln β, ln(1 − β)] of its annotator.

    ``sensitivity`` and ``specificity`` are expected log probabilities (or logs of point estimates, as in SCDC).
    """
    num_annotators = sensitivity.shape[1]
    # An answer 1 has probability α when same, 1 − β when different; an answer 0 has 1 − α and β.
    cell = worker + num_annotators * (1 - label)
    same = sensitivity.mT.flatten(1)[:, cell]
    different = specificity.flip(-1).mT.flatten(1)[:, cell]
    return PairEvidence(same - different, different)


def quality_posterior(
    sensitivity: Float[Tensor, "*prior 2"],
    specificity: Float[Tensor, "*prior 2"],
    same: Float[Tensor, "*R M 2"],
    counts: Float[Tensor, "M 2"],
) -> tuple[Tensor, Tensor]:
    """Parameters of the optimal Beta posteriors q(α) and q(β) (eqs. 28 and 29).

    Parameters
    ----------
    sensitivity, specificity : natural or shape parameters of the priors, of everybody or of each annotator
    same : expected number of pairs of one cluster among the answers 0 and the answers 1 of each annotator
    counts : all answers 0 and 1 of each annotator
    """
    # First hits, then misses: of pairs of one cluster the answers 1 are hits, of the others the answers 0.
    return sensitivity + same.flip(-1), specificity + counts - same


def agreement_by_annotator(
    same: Float[Tensor, "R P"], worker: Int[Tensor, "P"], label: Int[Tensor, "P"], num_annotators: int
) -> Float[Tensor, "R M 2"]:
    """Expected number of pairs of one cluster among the answers 0 and the answers 1 of each annotator, in float64."""
    cell = 2 * worker + label
    total = torch.zeros(len(same), 2 * num_annotators, dtype=torch.float64, device=same.device)
    return total.index_add_(1, cell, same.double()).unflatten(1, (num_annotators, 2))
