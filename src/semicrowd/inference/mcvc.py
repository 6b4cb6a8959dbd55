"""The variational bound of MCVC and its closed-form updates (Chang et al. 2017; ERRATA 22 in docs/DEVIATIONS.md).

In view g, item i has the cluster probabilities η_ig, the softmax of a network (in MCVC, of a linear map). Annotator m
follows the view c_m, drawn from a stick-breaking process, and answers by the two-coin model. q(z_ig) = η_ig, with point
estimates of the network's weights, and q(c), q(α), q(β), q(ν) are factorised. The bound depends on η only through

    agreement[r, g, m, a] = Σ_{answers a of m} Σ_k η_ikg η_jkg,

the expected number of pairs within a cluster of view g, among the pairs to which annotator m answered a.

Axes: R restarts, G views, M annotators, A = 2 answers (0 different, 1 same), n annotated items, K clusters.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from semicrowd.crowd.two_coin import PairEvidence, pair_evidence, quality_posterior
from semicrowd.expfam import dirichlet, kl_divergence


class Prior(NamedTuple):
    """Natural parameters of the Beta priors of α and β, common or of each annotator, and of the sticks ν."""

    quality: Float[Tensor, "*annotators 2"]
    stick: Float[Tensor, "2"]


class Experts(NamedTuple):
    """The posterior of the annotators: natural parameters of its Beta factors, and q(c).

    Attributes
    ----------
    sensitivity, specificity : of α and β
    sticks : of ν
    view : q(c_m = g)
    """

    sensitivity: Float[Tensor, "R M 2"]
    specificity: Float[Tensor, "R M 2"]
    sticks: Float[Tensor, "R G-1 2"]
    view: Float[Tensor, "R M G"]


def initial_experts(view: Float[Tensor, "R M G"], prior: Prior) -> Experts:
    """Annotators with the prior of the rates and sticks, and with q(c) = ``view``."""
    restarts, num_annotators, views = view.shape
    quality = prior.quality.expand(restarts, num_annotators, 2)
    return Experts(quality, quality, prior.stick.expand(restarts, views - 1, 2), view)


def evidence(experts: Experts) -> PairEvidence:
    """E ln p(answer a of m) = weight · 1[same cluster] + offset; each [R, M, 2]."""
    num_annotators = experts.view.shape[1]
    worker = torch.arange(num_annotators).repeat_interleave(2)
    label = torch.tensor([0, 1]).repeat(num_annotators)
    alpha, beta = (dirichlet.expected_statistics(eta) for eta in (experts.sensitivity, experts.specificity))
    weight, offset = pair_evidence(alpha, beta, worker, label)
    return PairEvidence(weight.unflatten(1, (-1, 2)), offset.unflatten(1, (-1, 2)))


def answer_weight(experts: Experts) -> Float[Tensor, "R G M 2"]:
    """Derivative of the bound with respect to the agreement."""
    return torch.einsum("rmg,rma->rgma", experts.view, evidence(experts).weight)


def log_view_prior(sticks: Float[Tensor, "R H 2"]) -> Float[Tensor, "R G"]:
    """E ln p(c = g) = E ln ν_g + Σ_{h<g} E ln(1 − ν_h), the last stick being 1; G = H + 1."""
    log_stick, log_rest = dirichlet.expected_statistics(sticks).unbind(-1)
    zero = log_stick.new_zeros(len(sticks), 1)
    return torch.cat([log_stick, zero], -1) + torch.cat([zero, log_rest.cumsum(-1)], -1)


def update(
    experts: Experts, agreement: Float[Tensor, "R G M 2"], counts: Float[Tensor, "M 2"], prior: Prior
) -> Experts:
    """The optimal q(α), q(β), q(ν) given q(c), then the optimal q(c)."""
    same = torch.einsum("rmg,rgma->rma", experts.view, agreement)
    used = experts.view.sum(1)
    later = used.flip(-1).cumsum(-1).flip(-1) - used
    quality = quality_posterior(prior.quality, prior.quality, same, counts)
    experts = Experts(*quality, prior.stick + torch.stack([used, later], -1)[:, :-1], experts.view)
    if experts.view.shape[-1] == 1:
        return experts  # there is only one view
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
    rates = torch.stack([experts.sensitivity, experts.specificity])
    quality = kl_divergence(dirichlet, rates, prior.quality).sum((0, 2))
    sticks = kl_divergence(dirichlet, experts.sticks, prior.stick).sum(-1)
    log_prior = log_view_prior(experts.sticks)[:, None]
    views = (experts.view * log_prior - torch.xlogy(experts.view, experts.view)).sum((1, 2))
    return answers + views - quality - sticks - 0.5 * squared_weights


def used_views(experts: Experts) -> Int[Tensor, "R H"]:
    """Indices of the used views of each restart, that with the most annotators first, [R, G'] with G' ≤ G.

    No answer affects the weights of a view without annotators, so their optimum is 0 and the view stays unused. A view
    is used if it has more than .001 expected annotators. G' is the largest number of used views in a restart.
    """
    popularity = experts.view.sum(1)
    order = popularity.argsort(dim=-1, descending=True, stable=True)
    return order[:, : int((popularity > 1e-3).sum(-1).max())]
