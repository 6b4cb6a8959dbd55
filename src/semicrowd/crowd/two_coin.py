"""The two-coin Dawid–Skene worker model on pairs (SCDC paper, eqs. 1, 14, 20)."""

from typing import NamedTuple

from jaxtyping import Float, Int
from torch import Tensor


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
