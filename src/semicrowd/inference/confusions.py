"""Confusions: annotators of tasks who may not distinguish some clusters, or misplace items (docs/DEVIATIONS.md).

The perceived cluster y_ti of item i in task t of annotator m has p(y_ti = k | z_i = l) = C_m(l, k), where k is one of K
clusters, or "alone": the item differs from all others of the task. The task's answers follow the two-coin model, with
y_ti = y_tj in place of z_i = z_j. If an annotator merges two clusters, their rows of C_m are equal; if an annotator
sometimes assigns an item to a wrong cluster, C_m has small probabilities off the diagonal. This is the model of
Dawid & Skene (1979) for classes that are observed through pairs only.

:mod:`.task_messages` computes q(z, y), given the posterior mean of C and the expectations of ln α, ln(1 − α), ln β and
ln(1 − β). The prior of C is fitted to the crowd (:mod:`.confusion_types`).

Axes: R restarts, n items, P answers, K clusters, M annotators.
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

#: Maximal number of iterations. Each updates q(z) and then the annotators; the last one updates q(z) only.
_TURNS = 10
#: Maximal number of sweeps over the items in each iteration.
_SWEEPS = 20
#: Sweeps end when no probability changes by more than this; iterations also need :data:`_SETTLED`.
_TOLERANCE = 1e-3
#: Iterations end when, in addition, the logarithm of every prior parameter of C changes by less than this.
_SETTLED = 0.05


class Placed(NamedTuple):
    """The posterior of items and their annotators.

    Attributes
    ----------
    log_z : [R, n, K], ln q(z)
    quality : natural parameters of q(α) and q(β), given the perceived clusters, [R, M, 2] each
    confusions : [R, M, K, K + 1], C_m(l, k) at its posterior mean
    types : the prior of C, of each restart
    evidence : [R, n], variational bound of ln p(answers) given p(z), with C, α and β integrated out given their
        expected counts; each item has its own part and an equal share of the annotators' part
    """

    log_z: Tensor
    quality: tuple[Tensor, ...]
    confusions: Tensor
    types: tuple[Types, ...]
    evidence: Tensor

    def same(self) -> Float[Tensor, "R M K K"]:
        """Probability that an annotator perceives items of clusters l and l' as one cluster: Σ_k C(l, k) C(l', k)."""
        known = self.confusions[..., :-1]
        return known @ known.mT


@torch.no_grad()
def place(
    unary: Float[Tensor, "R n K"],
    answers: RelationalBatch,
    sensitivity: Float[Tensor, "R M 2"],
    specificity: Float[Tensor, "R M 2"],
) -> Placed:
    """Alternately update q(z) of the items of tasks and the annotators, given ln p(z) of each item (``unary``).

    Parameters
    ----------
    answers : with placements
    sensitivity, specificity : initial E[ln α, ln(1 − α)] and E[ln β, ln(1 − β)]
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
        z, perceived = belief.z, graph.confusions.perception(belief.h)
        if turn == _TURNS - 1 or (settled and (z - before).abs().max() < _TOLERANCE):
            break
        before, own = z, z[:, placements.item]
        counts = torch.zeros_like(counts).index_add(1, placements.worker, own[..., None] * perceived.conditional)
        earlier, types = types, tuple(one.fitted(own) for one, own in zip(types, counts, strict=True))
        pairs = zip(types, earlier, strict=True)
        settled = max(np.abs(np.log(new.rows / old.rows)).max() for new, old in pairs) < _SETTLED
        same = graph.answers.agreement(perceived.marginal(own))
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
    """Correction of the evidence of each annotator after a rate is integrated out.

    Returns the Dirichlet-multinomial log probability of the expected counts, minus Σ counts · ``log_mean``, which the
    expected log-likelihood of the answers in the evidence already contains.
    """
    eta = dirichlet.to_natural(prior)
    return dirichlet.log_partition(eta + counts) - dirichlet.log_partition(eta) - (counts * log_mean).sum(-1)
