"""MCVC: multiple clustering views from multiple uncertain experts.

Chang, Chen, Castaldi, Cho, Glass & Dy, ICML 2017. The SCDC paper's main baseline (its section 5.2).
"""

from collections.abc import Sequence
from math import cos, pi
from typing import Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from semicrowd.estimators.input_checks import check_count, check_features, check_input, check_not_negative
from semicrowd.inference.mcvc import (
    Experts,
    Prior,
    answer_weight,
    bound,
    initial_experts,
    update,
    used_views,
)
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.answer_graph import AnswerGraph
from semicrowd.errors import UserError
from semicrowd.expfam import beta
from semicrowd.nets.mlp import MLP, choose_restarts, squared_weights
from semicrowd.random import torch_stream

#: Steps between two looks for views that nobody uses.
_PRUNE_EVERY = 50
#: Updates of the annotators in each step.
_SWEEPS = 2


class MCVC(ClusterMixin, BaseEstimator):
    """Discriminative clustering views, one for each group of annotators, fitted to noisy answers.

    In view g an item belongs to cluster k with probability softmax(x W_g + b_g)_k; an annotator looks at one of the
    views and answers with a sensitivity and a specificity of his own. Variational inference, the weights plugged in:
    Adam on the weights, exact updates of all else (:mod:`semicrowd.inference.mcvc`). All restarts are fitted at
    once, the one with the highest bound is kept. Features are standardised first, as in the released code.

    Only annotated items are learnt from. The priors and the number of restarts are those of the released code: N(0, 1)
    for every weight, Beta(10, 1) for sensitivity and specificity, Beta(1, 1) for the sticks, 20 restarts. The
    truncation of the sticks, the step size and the number of steps were chosen by the bound.

    Parameters
    ----------
    n_clusters : K of every view
    n_views : most views (the truncation G of the sticks)
    n_restarts : R
    hidden : widths of hidden layers; none in MCVC
    quality_prior : shape parameters of the Beta prior of sensitivity and specificity
    learning_rate : largest step size; it falls along a cosine
    n_steps : of Adam
    n_held : first steps, in which the annotators are held at their prior. "All items in one cluster, all annotators
        guess" is a fixed point of the updates; annotators who are trusted at first draw the clusters away from it
    random_state : seed, 0, 1, 2 …

    Attributes
    ----------
    labels_ : [N] clusters of the items of ``fit`` in the view of most annotators
    view_labels_ : [G', N] clusters in each view that is used, the most popular first
    expert_view_ : [M] view of each annotator
    sensitivity_shape_, specificity_shape_ : [M, 2] shape parameters of the annotators' Beta posteriors
    sensitivity_, specificity_ : [M] their means
    bound_ : variational bound of the restart that was kept; ``bounds_`` [R] of all of them
    """

    def __init__(
        self,
        n_clusters: int = 4,
        *,
        n_views: int = 5,
        n_restarts: int = 20,
        hidden: Sequence[int] = (),
        quality_prior: tuple[float, float] = (10.0, 1.0),
        learning_rate: float = 0.1,
        n_steps: int = 300,
        n_held: int = 40,
        random_state: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_views = n_views
        self.n_restarts = n_restarts
        self.hidden = hidden
        self.quality_prior = quality_prior
        self.learning_rate = learning_rate
        self.n_steps = n_steps
        self.n_held = n_held
        self.random_state = random_state

    def fit(self, X: ArrayLike, pairs: PairAnnotations) -> Self:
        """Cluster the rows of X [N, D] with the help of answers about them.

        Raises
        ------
        UserError
            If X is not a table of finite numbers, the answers are about other items, there are fewer than K items, or a
            setting is out of range.
        """
        features = check_input(X, pairs, self.n_clusters)
        check_count(n_views=self.n_views, n_restarts=self.n_restarts, n_steps=self.n_steps)
        check_not_negative(n_held=self.n_held)
        self.n_features_in_ = features.shape[1]
        self.scaler_ = StandardScaler().fit(features)
        items = self._standardised(features)
        graph = pairs.index.graph
        net, experts, bounds = self._fit(items[torch.from_numpy(graph.items)], graph, pairs.num_annotators)

        best = int(bounds.argmax())
        views = experts.view.shape[-1]
        self.net_ = choose_restarts(net, torch.arange(views) + best * views)
        self.bounds_ = bounds.numpy()
        self.bound_ = float(bounds[best])
        self.sensitivity_shape_, self.specificity_shape_ = (
            beta.to_standard(quality)[best].numpy() for quality in (experts.sensitivity, experts.specificity)
        )
        self.sensitivity_, self.specificity_ = (
            shape[:, 0] / shape.sum(-1) for shape in (self.sensitivity_shape_, self.specificity_shape_)
        )
        popularity = experts.view[best].sum(0)
        order = popularity.argsort(descending=True, stable=True)
        order = order[popularity[order] > 0.5]
        self.net_ = choose_restarts(self.net_, order)
        self.expert_view_ = experts.view[best][:, order].argmax(-1).numpy()
        with torch.no_grad():
            self.view_labels_ = _probabilities(self.net_, items).argmax(-1).numpy()
        self.labels_ = self.view_labels_[0]
        return self

    def predict_proba(self, X: ArrayLike, view: int = 0) -> np.ndarray:
        """Cluster probabilities [N, K] of items in one of the views of ``view_labels_``."""
        check_is_fitted(self, "labels_")
        if not 0 <= view < len(self.view_labels_):
            raise UserError(f"view={view}: expected 0 to {len(self.view_labels_) - 1}")
        features = self._standardised(check_features(X, self.n_features_in_))
        with torch.no_grad():
            return _probabilities(self.net_, features)[view].numpy()

    def predict(self, X: ArrayLike, view: int = 0) -> np.ndarray:
        """Clusters [N] of items from their features alone."""
        return self.predict_proba(X, view).argmax(-1)

    def _standardised(self, features: np.ndarray) -> Tensor:
        return torch.from_numpy(self.scaler_.transform(features).astype(np.float32))

    def _fit(self, items: Tensor, graph: AnswerGraph, num_annotators: int) -> tuple[nn.Module, Experts, Tensor]:
        """Networks [R · G], annotators and bounds [R] after all steps."""
        restarts, views = self.n_restarts, min(self.n_views, num_annotators)
        prior = Prior(
            beta.to_natural(torch.tensor(self.quality_prior, dtype=torch.float64)),
            beta.to_natural(torch.ones(2, dtype=torch.float64)),
        )
        seed = self.random_state
        streams = [torch_stream(seed, "mcvc", r, g) for r in range(restarts) for g in range(views)]
        net: nn.Module = MLP(items.shape[1], self.hidden, (self.n_clusters,), streams, linear_skip=False)
        draws = [
            torch.rand(num_annotators, views, dtype=torch.float64, generator=torch_stream(seed, "mcvc-views", r))
            for r in range(restarts)
        ]
        view = torch.stack(draws)
        experts = initial_experts(view / view.sum(-1, keepdim=True), prior)
        optimizer = torch.optim.Adam(net.parameters())
        for step in range(self.n_steps):
            if step and step % _PRUNE_EVERY == 0:
                net, experts, changed = _without_empty_views(net, experts)
                optimizer = torch.optim.Adam(net.parameters()) if changed else optimizer
            eta = _probabilities(net, items).unflatten(0, (restarts, -1))
            agreement, neighbours = graph.agreement(eta.detach())
            for _ in range(_SWEEPS if step >= self.n_held else 0):
                experts = update(experts, agreement, graph.counts, prior)
            loss = surrogate_loss(net, eta, graph.pull(neighbours, answer_weight(experts)))
            optimizer.zero_grad()
            loss.backward()
            for group in optimizer.param_groups:
                group["lr"] = self.learning_rate * 0.5 * (1 + cos(pi * step / self.n_steps))
            optimizer.step()
        with torch.no_grad():
            eta = _probabilities(net, items).unflatten(0, (restarts, -1))
            agreement, _ = graph.agreement(eta)
            for _ in range(_SWEEPS):
                experts = update(experts, agreement, graph.counts, prior)
            squared = squared_weights(net).double().unflatten(0, (restarts, -1)).sum(-1)
            return net, experts, bound(experts, agreement, graph.counts, prior, squared)


def _probabilities(net: nn.Module, items: Tensor) -> Tensor:
    """Cluster probabilities [R · G, B, K] of items [B, D]."""
    # The softmax over a last axis of a few clusters is several times slower.
    return net(items)[0].mT.contiguous().softmax(1).mT


def surrogate_loss(net: nn.Module, eta: Tensor, gradient: Tensor) -> Tensor:
    """What has the gradient of the negative bounds' sum by the weights; no two restarts meet in it.

    ``gradient`` is the derivative of the bound by ``eta``, the networks' cluster probabilities.
    """
    return 0.5 * squared_weights(net).sum() - (gradient * eta).sum()


def _without_empty_views(net: nn.Module, experts: Experts) -> tuple[nn.Module, Experts, bool]:
    """Networks and annotators of the views that are used, and whether any was left out."""
    keep = used_views(experts)
    views = experts.view.shape[-1]
    if keep.shape[-1] == views:
        return net, experts, False
    first = views * torch.arange(len(keep))[:, None]
    view = experts.view.gather(-1, keep[:, None].expand(-1, experts.view.shape[1], -1))
    experts = experts._replace(view=view / view.sum(-1, keepdim=True), sticks=experts.sticks[:, : keep.shape[-1] - 1])
    return choose_restarts(net, (first + keep).flatten()), experts, True
