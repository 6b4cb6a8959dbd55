"""The variational bound of MCVC and its closed-form updates (Chang et al. 2017; ERRATA 22 in docs/DEVIATIONS.md).

View g gives item i the cluster probabilities η_ig = softmax of a network (MCVC: a linear map). Annotator m looks at the
view c_m, drawn from a stick-breaking process, and answers as a two-coin worker. With q(z_ig) = η_ig (the network's
weights are plugged in), q(c), q(α), q(β) and q(ν) factorised, everything the answers enter by is

    agreement[r, g, m, a] = Σ_{answers a of m} Σ_k η_ikg η_jkg,

the expected number of pairs of one cluster of view g among the answers a of annotator m.

Axes: R restarts, G views, M annotators, A = 2 answers (0 different, 1 same), n annotated items, K clusters.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from scipy import sparse
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import PairEvidence, pair_evidence
from semicrowd.expfam import beta
from semicrowd.expfam.divergence import kl_divergence


class AnswerGraph:
    """The answers as counts between annotated items, by annotator and answer.

    Attributes
    ----------
    items : [n] ids of the annotated items
    counts : [M, 2] float64, answers of each annotator
    """

    def __init__(self, pairs: PairAnnotations) -> None:
        self.items = pairs.annotated
        n = len(self.items)
        num_cells = 2 * pairs.num_annotators
        cell = 2 * pairs.worker + pairs.label
        i, j = np.searchsorted(self.items, pairs.i), np.searchsorted(self.items, pairs.j)
        rows = np.concatenate([cell * n + i, cell * n + j])
        ones = np.ones(len(rows), np.float32)
        shape = (num_cells * n, n)
        self._adjacency = sparse.coo_array((ones, (rows, np.concatenate([j, i]))), shape=shape).tocsr()
        self.counts = torch.from_numpy(np.bincount(cell, minlength=num_cells).reshape(-1, 2).astype(np.float64))

    def agreement(self, eta: Float[Tensor, "R G n K"]) -> tuple[Float[Tensor, "R G M 2"], Float[Tensor, "C n F"]]:
        """Expected pairs of one cluster, float64, and the sums of η over neighbours that :meth:`pull` wants."""
        restarts, views, n, k = eta.shape
        flat = eta.permute(2, 0, 1, 3).reshape(n, -1)
        neighbours = torch.from_numpy(self._adjacency @ flat.numpy()).reshape(-1, n, flat.shape[1])
        # Every answer is in the symmetric adjacency twice.
        both = (neighbours * flat).sum(1).double().reshape(-1, 2, restarts, views, k).sum(-1)
        return 0.5 * both.permute(2, 3, 0, 1), neighbours

    def pull(self, neighbours: Float[Tensor, "C n F"], weight: Float[Tensor, "R G M 2"]) -> Float[Tensor, "R G n K"]:
        """Derivative of Σ weight · agreement by η."""
        restarts, views = weight.shape[:2]
        k = neighbours.shape[2] // (restarts * views)
        columns = weight.permute(2, 3, 0, 1).reshape(len(neighbours), 1, -1).repeat_interleave(k, -1)
        total = (neighbours * columns.to(neighbours.dtype)).sum(0)
        return total.reshape(-1, restarts, views, k).permute(1, 2, 0, 3)


class Prior(NamedTuple):
    """Natural parameters [2] of the Beta priors of α and β, and of the sticks ν."""

    quality: Tensor
    stick: Tensor


class Experts(NamedTuple):
    """What is believed of the annotators: natural parameters of Beta posteriors, and q(c).

    Attributes
    ----------
    sensitivity, specificity : [R, M, 2]
    sticks : [R, G − 1, 2]
    view : [R, M, G] probabilities
    """

    sensitivity: Tensor
    specificity: Tensor
    sticks: Tensor
    view: Tensor


def initial_experts(view: Float[Tensor, "R M G"], prior: Prior) -> Experts:
    """Annotators as good as the prior says, in the views given."""
    restarts, num_annotators, views = view.shape
    quality = prior.quality.expand(restarts, num_annotators, 2)
    return Experts(quality, quality, prior.stick.expand(restarts, views - 1, 2), view)


def evidence(experts: Experts) -> PairEvidence:
    """E ln p(answer a of m) = weight · 1[one cluster] + offset; each [R, M, 2]."""
    num_annotators = experts.view.shape[1]
    worker = torch.arange(num_annotators).repeat_interleave(2)
    label = torch.tensor([0, 1]).repeat(num_annotators)
    alpha, beta_ = (beta.expected_statistics(eta) for eta in (experts.sensitivity, experts.specificity))
    weight, offset = pair_evidence(alpha, beta_, worker, label)
    return PairEvidence(weight.unflatten(1, (-1, 2)), offset.unflatten(1, (-1, 2)))


def answer_weight(experts: Experts) -> Float[Tensor, "R G M 2"]:
    """Derivative of the bound by the agreement."""
    return torch.einsum("rmg,rma->rgma", experts.view, evidence(experts).weight)


def log_view_prior(sticks: Float[Tensor, "R H 2"]) -> Float[Tensor, "R G"]:
    """E ln p(c = g) = E ln ν_g + Σ_{h<g} E ln(1 − ν_h), the last stick being 1; G = H + 1."""
    log_stick, log_rest = beta.expected_statistics(sticks).unbind(-1)
    zero = log_stick.new_zeros(len(sticks), 1)
    return torch.cat([log_stick, zero], -1) + torch.cat([zero, log_rest.cumsum(-1)], -1)


def update(
    experts: Experts, agreement: Float[Tensor, "R G M 2"], counts: Float[Tensor, "M 2"], prior: Prior
) -> Experts:
    """The optimal q(α), q(β), q(ν) given q(c), then the optimal q(c)."""
    same = torch.einsum("rmg,rgma->rma", experts.view, agreement)
    used = experts.view.sum(1)
    later = used.flip(-1).cumsum(-1).flip(-1) - used
    experts = Experts(
        prior.quality + same.flip(-1),
        prior.quality + counts - same,
        prior.stick + torch.stack([used, later], -1)[:, :-1],
        experts.view,
    )
    logits = torch.einsum("rma,rgma->rmg", evidence(experts).weight, agreement)
    return experts._replace(view=(logits + log_view_prior(experts.sticks)[:, None]).softmax(-1))


def bound(
    experts: Experts,
    agreement: Float[Tensor, "R G M 2"],
    counts: Float[Tensor, "M 2"],
    prior: Prior,
    squared_weights: Float[Tensor, "R"],
) -> Float[Tensor, "R"]:
    """The bound in nats.

    ``squared_weights`` is |w|² of the networks' weights: with q(w) = N(w, I) and the prior N(0, I), KL = ½ |w|².
    """
    weight, offset = evidence(experts)
    same = torch.einsum("rmg,rgma->rma", experts.view, agreement)
    answers = (weight * same + offset * counts).sum((1, 2))
    quality = kl_divergence(beta, torch.stack([experts.sensitivity, experts.specificity]), prior.quality).sum((0, 2))
    sticks = kl_divergence(beta, experts.sticks, prior.stick).sum(-1)
    log_prior = log_view_prior(experts.sticks)[:, None]
    views = (experts.view * log_prior - torch.xlogy(experts.view, experts.view)).sum((1, 2))
    return answers + views - quality - sticks - 0.5 * squared_weights


def used_views(experts: Experts, least: float = 1e-3) -> Float[Tensor, "R G"]:
    """Views of each restart worth keeping, the most popular first, [R, G'] with G' ≤ G.

    A view that no annotator has is pulled by no answer, so that its best weights are 0 and it stays empty. All restarts
    keep as many views as the one that uses most; a view counts as used from ``least`` annotators on.
    """
    popularity = experts.view.sum(1)
    order = popularity.argsort(dim=-1, descending=True, stable=True)
    return order[:, : int((popularity > least).sum(-1).max())]
