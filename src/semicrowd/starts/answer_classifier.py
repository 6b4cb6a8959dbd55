"""Classifiers q(z | o) trained on the answers alone: a source of initial clusters that the answers support.

A network q(z | o) trained on L_rel (SCDC paper, eqs. 4 and 20) learns the classes that annotators distinguish, while a
VAE learns what explains most of the pixels' variance. "All items in one cluster, all annotators guess" is a fixed point
of the training, and most networks end in a local optimum with two classes in one cluster. Four measures help: the
annotators' rates are fixed to a confident prior for the first steps; some candidates first learn the signed spectral
clusters of the answers; the others are first rewarded for the entropy of the cluster sizes, so that no cluster empties
early; and the candidate with the highest bound initialises the model.

Every weight has the prior N(0, 1), q(α) and q(β) are updated in closed form, and each step adds fresh Gaussian noise to
the features; otherwise a network with thousands of weights would overfit 1000 noisy answers.
"""

from collections.abc import Callable, Sequence
from math import cos, pi
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import one_hot

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.batch import AnswerGraph
from semicrowd.crowd.cells import kmeans_cells, signed_embedding
from semicrowd.crowd.two_coin import QUALITY_PRIOR
from semicrowd.expfam import dirichlet
from semicrowd.inference.mcvc import Experts, Prior, answer_weight, bound, evidence, initial_experts, update
from semicrowd.nets import descend
from semicrowd.nets.classifier import Classifier
from semicrowd.nets.mlp import choose_restarts, squared_weights
from semicrowd.random import stream, torch_stream

#: Updates of the annotators in a step: of q(α), q(β) and the stick-breaking weights, and of the annotators' views.
_SWEEPS = 2


class AnswerNetworks:
    """R · G networks and the annotators of their answers.

    Attributes
    ----------
    net : networks from features to logits or probabilities of K clusters, R · G at once
    experts : posteriors of the annotators
    optimizer : Adam
    """

    def __init__(self, net: nn.Module, experts: Experts, prior: Prior, graph: AnswerGraph, **adam: Any) -> None:
        self.net, self.experts, self.prior, self.graph = net, experts, prior, graph
        self.optimizer = torch.optim.Adam(net.parameters(), **adam)

    def step(
        self,
        eta: Float[Tensor, "R G n K"],
        rate: float,
        *,
        held: bool,
        counted: Bool[Tensor, "R"] | None = None,
        penalty: Tensor | float = 0.0,
    ) -> Float[Tensor, "R G M 2"]:
        """One step; returns the agreement of answers and clusters before it.

        Parameters
        ----------
        eta : the networks' cluster probabilities of the annotated items
        rate : step size of Adam
        held : the annotators are not updated
        counted : restarts that learn from the answers in this step; None: all
        penalty : added to the loss
        """
        agreement, neighbours = self.graph.agreement(eta.detach())
        if not held:
            self.update_annotators(agreement)
        # Its gradient in the weights is that of the answers' part of the bound; restarts are independent.
        gain = self.graph.pull(neighbours, answer_weight(self.experts)) * eta
        gain = gain if counted is None else gain[counted]
        descend(self.optimizer, penalty - gain.sum() + 0.5 * squared_weights(self.net).sum(), rate)
        return agreement

    def update_annotators(self, agreement: Float[Tensor, "R G M 2"]) -> None:
        """Update the annotators."""
        for _ in range(_SWEEPS if agreement.shape[1] > 1 else 1):
            self.experts = update(self.experts, agreement, self.graph.counts, self.prior)

    @torch.no_grad()
    def bound(self, agreement: Float[Tensor, "R G M 2"]) -> Float[Tensor, "R"]:
        """The variational bound in nats."""
        restarts, views = agreement.shape[:2]
        squared = squared_weights(self.net).double().unflatten(0, (restarts, views)).sum(-1)
        return bound(self.experts, agreement, self.graph.counts, self.prior, squared)


def cosine(rate: float, step: int, steps: int) -> float:
    """Step size that falls from ``rate`` to 0 along a cosine."""
    return rate * 0.5 * (1 + cos(pi * step / steps))


#: Share of the steps in which the annotators' rates are fixed to their prior.
HELD = 0.15
#: Share of the steps in which spectral clusters are learned or the entropy of cluster sizes is rewarded.
TAUGHT = 0.35
#: Steps of Adam.
STEPS = 300
#: Candidates of a restart that learn spectral clusters first.
SPECTRAL = 2
#: Standard deviation of the noise on the features.
NOISE = 0.3
#: First, and largest, learning rate of Adam.
RATE = 0.03
#: Items of a batch, at most.
_LEARNED = 500
#: Items whose probabilities all networks compute at once.
_PIECE = 1024
#: Probability of an item's spectral cluster while it is learned.
CONFIDENCE = 0.9


class Annotators(NamedTuple):
    """Natural parameters of q(α) and q(β)."""

    sensitivity: Float[Tensor, "R M 2"]
    specificity: Float[Tensor, "R M 2"]


class AnswerClassifiers(NamedTuple):
    """The best candidate of each restart: its network, its annotators' posteriors and its bound in nats."""

    net: Classifier
    annotators: Annotators
    bound: Float[Tensor, "R"]


def train_on_answers(
    features: Float[Tensor, "N D"],
    annotations: PairAnnotations,
    num_clusters: int,
    hidden: Sequence[int],
    networks: int,
    seed: int,
    reverse: Bool[np.ndarray, "R M"],
    progress: Callable[[str], None] = lambda _: None,
) -> AnswerClassifiers:
    """The best of ``networks`` classifiers of each restart.

    Parameters
    ----------
    networks : candidates for each restart
    reverse : annotators whose answers are assumed to be the opposite of their opinion, for each restart
    """
    restarts, candidates = len(reverse), networks
    graph, K = annotations.index.graph, num_clusters
    items = features[torch.from_numpy(graph.items)]
    numbers = [(r, c) for r in range(restarts) for c in range(candidates)]
    generators = [torch_stream(seed, "answers/networks", *number) for number in numbers]
    net = Classifier(features.shape[1], hidden, K, generators, head_gain=1.0)
    spectral = min(SPECTRAL, candidates) if len(graph.items) >= K else 0
    targets = spectral_clusters(annotations, K, spectral, stream(seed, "answers/spectral"))
    target = (CONFIDENCE * one_hot(targets, K) + (1 - CONFIDENCE) / K).float()
    taught = torch.arange(restarts * candidates) % candidates < len(target)
    target = target.repeat(restarts, 1, 1)
    prior = _prior(reverse, candidates)
    fit = AnswerNetworks(net, _one_view(prior), prior, graph, fused=True)
    noise = torch_stream(seed, "answers/noise")
    for step in range(STEPS):
        progress(f"start: classifiers of the answers {step + 1}/{STEPS}")
        log_q = net(items + NOISE * torch.randn(1, *items.shape, generator=noise))
        q, early = log_q.exp(), step < TAUGHT * STEPS
        penalty: Tensor | float = 0.0
        if early:
            # One nat an item: the weight with the highest bounds on Face, of weights from .5 to 3.
            evenness = torch.special.entr(q[~taught].mean(1)).sum()
            penalty = -(target * log_q[taught]).sum() - len(items) * evenness
        rate, held = cosine(RATE, step, STEPS), step < HELD * STEPS
        fit.step(q[:, None], rate, held=held, counted=~taught if early else None, penalty=penalty)
    with torch.no_grad():
        agreement = graph.agreement(net(items).exp()[:, None])[0]
    fit.update_annotators(agreement)
    bounds = fit.bound(agreement)
    best = bounds.view(restarts, candidates).argmax(1) + candidates * torch.arange(restarts)
    choose_restarts(net, best)
    return AnswerClassifiers(net, Annotators(*(eta[best] for eta in fit.experts[:2])), bounds[best])


def average_of_learners(
    features: Float[Tensor, "N D"],
    items: Tensor,
    target: Float[Tensor, "R n K"],
    hidden: Sequence[int],
    networks: int,
    seed: int,
) -> Float[Tensor, "R N K"]:
    """Mean q(z | o) of ``networks`` new networks for each restart that learned ``target`` of ``items``.

    Between the annotated items single networks differ from each other; their mean is stable.
    """
    net = learners(features[items], target.repeat_interleave(networks, 0), hidden, networks, seed)
    with torch.no_grad():
        means = [net(o).exp().unflatten(0, (-1, networks)).mean(1) for o in features.split(_PIECE, -2)]
    return torch.cat(means, 1)


def learners(
    features: Float[Tensor, "n D"],
    target: Float[Tensor, "C n K"],
    hidden: Sequence[int],
    networks: int,
    seed: int,
) -> Classifier:
    """New networks, each with its own target, ``networks`` of them for each restart."""
    generators = [torch_stream(seed, "learners/networks", *divmod(c, networks)) for c in range(len(target))]
    net = Classifier(features.shape[1], hidden, target.shape[-1], generators, head_gain=1.0)
    noise, optimizer = torch_stream(seed, "learners/noise"), torch.optim.Adam(net.parameters(), fused=True)
    for step in range(STEPS):
        rows = torch.randperm(len(features), generator=noise)[:_LEARNED] if len(features) > _LEARNED else slice(None)
        seen = features[rows]
        draws = torch.randn(1, *seen.shape, generator=noise)
        weight = len(features) / len(seen)
        loss = -weight * (target[:, rows] * net(seen + NOISE * draws)).sum() + 0.5 * squared_weights(net).sum()
        descend(optimizer, loss, cosine(RATE, step, STEPS))
    return net


def _prior(reverse: np.ndarray, candidates: int) -> Prior:
    usual = dirichlet.to_natural(torch.tensor(QUALITY_PRIOR, dtype=torch.float64))
    marked = torch.from_numpy(reverse).repeat_interleave(candidates, 0)[..., None]
    return Prior(torch.where(marked, usual.flip(-1), usual), torch.zeros(2, dtype=torch.float64))


def _one_view(prior: Prior) -> Experts:
    return initial_experts(torch.ones_like(prior.quality[..., :1]), prior)


def spectral_clusters(
    annotations: PairAnnotations, num_clusters: int, num: int, rng: np.random.Generator
) -> Tensor:
    """Clusters [num, n] of the annotated items by k-means on the signed spectral embedding of the answers.

    All answers have weight 1 at first; then their log-likelihood ratios given the previous clusters.
    """
    index, prior = annotations.index, _prior(np.zeros((1, annotations.num_annotators), bool), 1)
    graph = index.graph
    weight, rounds = 2.0 * annotations.label - 1, [torch.zeros(0, len(graph.items), dtype=torch.long)]
    for _ in range(num):
        embedding = signed_embedding(index.i, index.j, weight, len(graph.items), num_clusters)
        clusters = torch.from_numpy(kmeans_cells(embedding, num_clusters, int(rng.integers(2**31)), tries=5))[None]
        rounds.append(clusters)
        agreement = graph.agreement(one_hot(clusters, num_clusters)[:, None].float())[0]
        weights = evidence(update(_one_view(prior), agreement, graph.counts, prior)).weight[0].numpy()
        weight = weights[annotations.worker, annotations.label]
    return torch.cat(rounds)
