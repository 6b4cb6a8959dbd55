"""Annotators of whole tasks who confuse kinds: what each makes of a kind, a row of probabilities (docs/DEVIATIONS.md).

The perceived kind y_ti of item i in task t of annotator m has p(y_ti = k | z_i = l) = C_m(l, k) over the K kinds and
one more state, "alone", equal to no other item's; the task's answers follow the two-coin model on whether y_ti = y_tj.
Who merges two kinds has one row for both, who misplaces an item now and then a little beside the diagonal. It is the
model of Dawid & Skene (1979) on kinds that show only in pairs.

q(z, y) is that of :mod:`.task_messages`. C is at its posterior mean, α and β enter by E ln α and E ln β; the prior of C
is fitted to the crowd (:mod:`.confusion_types`).

Axes: R restarts, n items, P answers, K kinds, M annotators.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from semicrowd.crowd.batch import RelationalBatch
from semicrowd.crowd.two_coin import pair_evidence, posterior_of_answers
from semicrowd.expfam import beta, dirichlet
from semicrowd.inference.confusion_types import Types
from semicrowd.inference.task_messages import Belief, Confusions, graph_of_tasks, infer_tasks
from semicrowd.settings.parameters import QUALITY_PRIOR

#: Turns of who the items are, then what their annotators are like, at most.
_TURNS = 10
#: Sweeps over the items in each turn, at most.
_SWEEPS = 20
#: Change of a probability that ends sweeps, and turns.
_TOLERANCE = 1e-3
#: Change of ln of the pseudo-placements that ends the turns, too.
_SETTLED = 0.05


class Placed(NamedTuple):
    """Where items are, and what their annotators are like.

    Attributes
    ----------
    log_z : [R, n, K], ln q(z)
    quality : natural parameters of q(α) and q(β), of perceived kinds, [R, M, 2] each
    confusions : [R, M, K, K + 1], C_m(l, k) at its posterior mean
    types : the prior of C, of each restart
    evidence : [R, n], ln p(answers) given p(z), each item's part of it and an even share of what belongs to the
        annotators: the variational bound with C, α and β summed out at their expected counts
    """

    log_z: Tensor
    quality: tuple[Tensor, ...]
    confusions: Tensor
    types: tuple[Types, ...]
    evidence: Tensor

    def same(self) -> Float[Tensor, "R M K K"]:
        """Chance that an annotator perceives items of two kinds as one: Σ_k C(l, k) C(l', k)."""
        known = self.confusions[..., :-1]
        return known @ known.mT


@torch.no_grad()
def place(
    unary: Float[Tensor, "R n K"],
    answers: RelationalBatch,
    sensitivity: Float[Tensor, "R M 2"],
    specificity: Float[Tensor, "R M 2"],
) -> Placed:
    """q(z) of the items of whole tasks and the annotators, by turns, given ln p(z) of each item from elsewhere.

    Parameters
    ----------
    answers : with placements
    sensitivity, specificity : E[ln α, ln(1 − α)] and E[ln β, ln(1 − β)], to begin with
    """
    (R, _, K), M, placements = unary.shape, sensitivity.shape[1], answers.placements
    assert placements is not None
    types = (Types.usual(),) * R
    prior = beta.to_natural(sensitivity.new_tensor(QUALITY_PRIOR, dtype=torch.float64))
    counts, expected = unary.new_zeros(R, M, K, K + 1), (sensitivity, specificity)
    quality: tuple[Tensor, ...] = ()
    belief: Belief | None = None
    before, settled = unary.new_zeros(()), False
    for turn in range(_TURNS):
        confusions = torch.stack([one.mean(own) for one, own in zip(types, counts, strict=True)])
        alpha, beta_ = (one.to(unary) for one in expected)
        weight, offset = pair_evidence(alpha, beta_, answers.worker, answers.label)
        graph = graph_of_tasks(answers, weight, Confusions(confusions.log(), placements.worker))
        belief = infer_tasks(unary, graph, belief, _SWEEPS, _TOLERANCE)
        z, heard = belief.z, graph.confusions.hearing(belief.heard)
        if turn == _TURNS - 1 or (settled and (z - before).abs().max() < _TOLERANCE):
            break
        before, own = z, z[:, placements.item]
        counts = torch.zeros_like(counts).index_add(1, placements.worker, own[..., None] * heard.conditional)
        earlier, types = types, tuple(one.fitted(own) for one, own in zip(types, counts, strict=True))
        pairs = zip(types, earlier, strict=True)
        settled = max(np.abs(np.log(new.rows / old.rows)).max() for new, old in pairs) < _SETTLED
        same = graph.answers.agreement(heard.kind(own))
        quality = posterior_of_answers(prior, prior, same, answers.worker, answers.label, M)
        expected = beta.expected_statistics(quality[0]), beta.expected_statistics(quality[1])
    assert belief is not None
    evidence = (belief.z * (unary.log_softmax(-1) - belief.log_z)).sum(-1) + belief.value
    evidence = evidence.index_add(1, answers.i, 0.5 * offset).index_add(1, answers.j, 0.5 * offset)
    rows = torch.stack([one.evidence(own) for one, own in zip(types, counts, strict=True)])
    annotators = (rows - (counts * confusions.log()).sum((-1, -2))).sum(1)
    for eta in quality:
        shape, at_first = beta.to_standard(eta), beta.to_standard(prior)
        annotators = annotators + _gain(at_first, shape - at_first, beta.expected_statistics(eta)).sum(1).to(unary)
    evidence = evidence + annotators[:, None] / unary.shape[1]
    return Placed(belief.log_z, quality, confusions, types, evidence)


def _gain(prior: Tensor, counts: Tensor, log_mean: Tensor) -> Tensor:
    """ln of the Dirichlet-multinomial of expected counts, less what ``log_mean`` has said of them already."""
    eta = dirichlet.to_natural(prior)
    return dirichlet.log_partition(eta + counts) - dirichlet.log_partition(eta) - (counts * log_mean).sum(-1)
