"""Confusions: annotators of tasks who may not distinguish some clusters, or misplace items (docs/DEVIATIONS.md).

The perceived cluster y_ti of item i in task t of annotator m has p(y_ti = k | z_i = l) = C_m(l, k), where k is one of K
clusters, or "alone": the item differs from all others of the task. The task's answers follow the two-coin model, with
y_ti = y_tj in place of z_i = z_j. If an annotator merges two clusters, their rows of C_m are equal; if an annotator
sometimes assigns an item to a wrong cluster, C_m has small probabilities off the diagonal. This is the model of
Dawid & Skene (1979) for classes that are observed through pairs only.

:mod:`.task_messages` computes q(z, y), given the posterior mean of C and the expectations of ln α, ln(1 − α), ln β and
ln(1 − β). The prior of C is fitted to the crowd (:class:`Types`).

The rows C_m(l, ·) of an annotator's confusions have a Dirichlet prior with parameter r on the diagonal, and parameters
off the diagonal whose sum is w; r and w depend on the annotator's type: one type hardly ever confuses clusters, the
other does. EM over the annotators' types estimates r and w of both, and their shares of the crowd (type-II maximum
likelihood). So a minority of annotators who merge clusters or guess gets its own prior, and hardly affects that of the
careful majority.

Axes: R restarts, n items, P answers, K clusters, K1 = K + 1, M annotators, T types.
"""

from typing import NamedTuple, Self

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import softmax
from torch import Tensor

from semicrowd.crowd.batch import RelationalBatch
from semicrowd.crowd.two_coin import pair_evidence, posterior_of_answers
from semicrowd.expfam import dirichlet
from semicrowd.expfam.shared_prior import Cells, common_dirichlet, log_likelihood
from semicrowd.inference.task_messages import Belief, Confusions, graph_of_tasks, infer_tasks
from semicrowd.settings.parameters import QUALITY_PRIOR

#: (r, w) of each type that are expected before there are data.
USUAL = ((27.0, 1.0), (3.0, 1.0))
#: Pseudo-count of annotators of each type.
_PSEUDO_COUNT = 1.0
#: Number of EM iterations.
_EM_ITERATIONS = 5
#: Counts up to this one are treated as 0.
_NONE = 1e-6
#: Maximal number of iterations. Each updates q(z) and then the annotators; the last one updates q(z) only.
_TURNS = 10
#: Maximal number of sweeps over the items in each iteration.
_SWEEPS = 20
#: Sweeps end when no probability changes by more than this; iterations also need :data:`_SETTLED`.
_TOLERANCE = 1e-3
#: Iterations end when, in addition, the logarithm of every prior parameter of C changes by less than this.
_SETTLED = 0.05


class Types(NamedTuple):
    """The types of annotators.

    Attributes
    ----------
    rows : [T, 2], (r, w) of each type
    shares : [T], share of the crowd that each type has
    """

    rows: Float[np.ndarray, "T 2"]
    shares: Float[np.ndarray, "T"]

    @classmethod
    def usual(cls) -> Self:
        """The types expected before there are data, with equal shares."""
        return cls(np.array(USUAL), np.full(len(USUAL), 1 / len(USUAL)))

    def fitted(self, counts: Float[Tensor, "M K K1"]) -> Self:
        """The types after EM from these types, given expected counts of (true, perceived) cluster."""
        cells, (M, K, _) = _cells(counts), counts.shape
        types = self
        for _ in range(_EM_ITERATIONS):
            whose = softmax(types._log_joint(cells, M), axis=1)
            rows = [
                common_dirichlet(cells, np.repeat(share, K), usual, start=row)
                for share, usual, row in zip(whose.T, USUAL, types.rows, strict=True)
            ]
            shares = whose.sum(0) + _PSEUDO_COUNT
            types = types._replace(rows=np.stack(rows), shares=shares / shares.sum())
        return types

    def mean(self, counts: Float[Tensor, "M K K1"]) -> Float[Tensor, "M K K1"]:
        """Posterior mean of each annotator's C."""
        whose = torch.from_numpy(softmax(self._log_joint(_cells(counts), len(counts)), axis=1)).to(counts)
        expected = torch.zeros_like(counts)
        for share, prior in zip(whose.T, self.prior(counts.shape[1]), strict=True):
            row = prior.to(counts) + counts
            expected += share[:, None, None] * row / row.sum(-1, keepdim=True)
        return expected

    def prior(self, K: int) -> Float[Tensor, "T K K1"]:
        """Dirichlet parameters of the rows of each type; those off the diagonal are equal."""
        right, wrong = torch.from_numpy(self.rows).T[..., None]
        beside = (wrong / K)[..., None].expand(-1, K, K + 1)
        return beside.diagonal_scatter(right.expand(-1, K), dim1=-2, dim2=-1)

    def _log_joint(self, cells: list[Cells], M: int) -> Float[np.ndarray, "M T"]:
        """ln p(counts, type) of each annotator."""
        K = cells[1].size
        rows = [log_likelihood(cells, M * K, row).reshape(M, K).sum(1) for row in self.rows]
        return np.stack(rows, 1) + np.log(self.shares)


def _cells(counts: Float[Tensor, "M K K1"]) -> list[Cells]:
    """The counts on the diagonal, and those off it; each row of every annotator is one row of the table."""
    M, K, _ = counts.shape
    table = counts.double().cpu().numpy().reshape(M * K, K + 1)
    own = np.arange(K + 1) == np.tile(np.arange(K), M)[:, None]
    groups = []
    for where, size in ((own, 1), (~own, K)):
        row, column = np.nonzero(where & (table > _NONE))
        groups.append(Cells(row, table[row, column], size))
    return groups


class Placed(NamedTuple):
    """The posterior of items and their annotators.

    Attributes
    ----------
    log_z : ln q(z)
    quality : natural parameters of q(α) and q(β), given the perceived clusters
    confusions : C_m(l, k) at its posterior mean
    types : the prior of C, of each restart
    """

    log_z: Float[Tensor, "R n K"]
    quality: tuple[Float[Tensor, "R M 2"], ...]
    confusions: Float[Tensor, "R M K K+1"]
    types: tuple[Types, ...]


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
    prior = dirichlet.to_natural(sensitivity.new_tensor(QUALITY_PRIOR, dtype=torch.float64))
    counts, expected = unary.new_zeros(R, M, K, K + 1), (sensitivity, specificity)
    quality: tuple[Tensor, ...] = ()
    belief: Belief | None = None
    before, settled = unary.new_zeros(()), False
    for turn in range(_TURNS):
        confusions = torch.stack([one.mean(own) for one, own in zip(types, counts, strict=True)])
        alpha, beta_ = (one.to(unary) for one in expected)
        weight = pair_evidence(alpha, beta_, answers.worker, answers.label).weight
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
        expected = dirichlet.expected_statistics(quality[0]), dirichlet.expected_statistics(quality[1])
    assert belief is not None
    return Placed(belief.log_z, quality, confusions, types)
