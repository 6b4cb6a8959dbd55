"""MCVC: multiple clustering views from multiple uncertain experts; and deep MCVC, with networks for its linear maps.

Chang, Chen, Castaldi, Cho, Glass & Dy, ICML 2017; SCDC paper, App. C. The SCDC paper's main baselines (section 5.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data.preparation import ColumnScaler
from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.expfam import dirichlet
from semicrowd.fitting.iterate import Method, iterate
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.result import Assignment, Result
from semicrowd.inference.mcvc import Experts, Prior, initial_experts, used_views
from semicrowd.nets.mlp import MLP, choose_restarts
from semicrowd.random import torch_stream
from semicrowd.settings.fields import each, flag, number, setting, whole
from semicrowd.settings.parameters import QUALITY_PRIOR, STANDARDIZE, WIDTHS, CountedParameters
from semicrowd.starts.answer_classifier import AnswerNetworks, cosine
from semicrowd.starts.recent import ProgressCallback

#: Views without annotators are removed after each such number of steps.
_PRUNE_EVERY = 50
#: Number of steps between two points of the curves.
_SHOW_EVERY = 10


@dataclass(eq=False, repr=False, kw_only=True)
class MCVCParameters(CountedParameters):
    """Parameters of :class:`MCVC`."""

    n_views: int = setting(5, "maximal number of views (groups of annotators)", whole(1, 10_000))
    n_restarts: int = setting(20, "restarts, of which the one with the highest bound is kept", whole(1, 100_000))
    hidden: tuple[int, ...] = setting((), "widths of hidden layers; MCVC is linear", WIDTHS)
    quality_prior: tuple[float, float] = setting(
        QUALITY_PRIOR, "Beta prior of sensitivity and specificity", each(number(above=0), "[10.0, 1.0]", length=2)
    )
    learning_rate: float = setting(0.1, "initial learning rate of Adam", number(above=0))
    n_steps: int = setting(300, "steps of Adam", whole(1))
    n_held: int = setting(40, "number of first steps in which the annotators' rates stay at their prior", whole(0))
    standardize: bool = setting(True, STANDARDIZE, flag())


@dataclass(eq=False, repr=False, kw_only=True)
class DeepMCVCParameters(MCVCParameters):
    """Parameters of :class:`DeepMCVC`."""

    hidden: tuple[int, ...] = setting((40, 40), "widths of hidden layers", WIDTHS)
    learning_rate: float = setting(0.03, "initial learning rate of Adam", number(above=0))
    n_steps: int = setting(600, "steps of Adam", whole(1))


class MCVC(MCVCParameters, CrowdClusterer):
    """Discriminative clustering views, one for each group of annotators, fitted to noisy answers.

    In view g an item belongs to cluster k with probability softmax(x W_g + b_g)_k. The answers of an annotator follow
    one of the views, with the annotator's sensitivity and specificity. Inference is variational, with point estimates
    of the weights: Adam on the weights, and exact updates of all other posteriors (:mod:`semicrowd.inference.mcvc`).
    All restarts are fitted at once, and the one with the highest bound is kept. Features are standardised first, as in
    the released code (``standardize``).

    Only annotated items are used for training. The priors and the number of restarts are those of the released code:
    N(0, 1) for each weight, Beta(10, 1) for sensitivity and specificity, Beta(1, 1) for the stick-breaking weights, 20
    restarts. The truncation of the stick-breaking weights, the learning rate and the number of steps were chosen by the
    bound. "All items in one cluster, all annotators guess" is a fixed point of the updates; the fit avoids it by
    keeping the annotators' rates at their prior in the first steps.

    Attributes
    ----------
    view_labels_ : [G', N] clusters in each view that has annotators, in decreasing order of their number; ``labels_``
        is the first view
    expert_view_ : [M] view of each annotator
    sensitivity_shape_, specificity_shape_ : [M, 2] shape parameters of the annotators' Beta posteriors
    sensitivity_, specificity_ : [M] their means
    bound_ : variational bound of the restart that was kept; ``bounds_`` [R] has those of all restarts
    scaler_ : the fitted ColumnScaler
    weights_ : weights of the networks of the views, by name
    """

    def predict_proba(self, X: Any, view: int = 0) -> np.ndarray:
        """Cluster probabilities [N, K] of items in one of the views of ``view_labels_``."""
        features = self._new_items(X)
        if not 0 <= view < len(self.view_labels_):
            raise UserError(f"view={view}: expected 0 to {len(self.view_labels_) - 1}")
        probabilities = self._views(features)[view]
        return probabilities if view else self._in_order(probabilities)

    def predict(self, X: Any, view: int = 0) -> np.ndarray:
        """Clusters [N] of items from their features alone."""
        return Assignment.of(self.predict_proba(X, view), None if view else self.components_).cluster

    def number_clusters(self) -> None:
        """Number the clusters of the first view; see :meth:`CrowdClusterer.number_clusters`."""
        super().number_clusters()
        self.view_labels_[0] = self.labels_

    def _run(self, features: np.ndarray, answers: PairAnnotations | None, monitor: Monitor) -> Result:
        assert answers is not None
        scaler = ColumnScaler(with_mean=self.standardize, with_std=self.standardize, indicators=self.indicators)
        self.scaler_ = scaler.fit(features)
        return iterate(_Fit(self, features, answers), monitor)

    def _standardised(self, features: np.ndarray) -> Tensor:
        return torch.from_numpy(self.scaler_.transform(features).astype(np.float32))

    def _network(self, generators: list[torch.Generator]) -> nn.Module:
        hidden = [int(width) for width in self.hidden]
        return MLP(self.n_features_in_, hidden, (int(self.n_clusters),), generators, linear_skip=False)

    @torch.no_grad()
    def _views(self, features: np.ndarray) -> np.ndarray:
        """Cluster probabilities [G', N, K] in every view."""
        net = self._network([torch.Generator()] * len(next(iter(self.weights_.values()))))
        net.load_state_dict(self.weights_)
        return _probabilities(net, self._standardised(features)).numpy()


class DeepMCVC(DeepMCVCParameters, MCVC):
    """:class:`MCVC` whose views are networks with hidden layers, by default the paper's 40 and 40 ReLU units.

    Otherwise it is the same: each weight of the network has the prior N(0, 1). Learning rate and number of steps were
    chosen by the bound. Attributes are those of :class:`MCVC`.
    """


class _Fit(Method):
    """MCVC's steps on the annotated items; all restarts and views at once."""

    def __init__(self, model: MCVC, features: np.ndarray, answers: PairAnnotations) -> None:
        self.model, self.features, self.iterations = model, features, model.n_steps
        self.graph = answers.index.graph
        self.items = model._standardised(features)[torch.from_numpy(self.graph.items)]
        self.restarts, self.annotators = model.n_restarts, answers.num_annotators
        quality = torch.tensor([float(shape) for shape in model.quality_prior], dtype=torch.float64)
        self.prior = Prior(dirichlet.to_natural(quality), dirichlet.to_natural(torch.ones(2, dtype=torch.float64)))

    def start(self, progress: ProgressCallback) -> None:  # noqa: ARG002 - too short to report progress
        """Initialise networks and views at random."""
        seed, views = self.model.seed_, min(self.model.n_views, self.annotators)
        streams = [torch_stream(seed, "mcvc", r, g) for r in range(self.restarts) for g in range(views)]
        draws = [
            torch.rand(self.annotators, views, dtype=torch.float64, generator=torch_stream(seed, "mcvc-views", r))
            for r in range(self.restarts)
        ]
        view = torch.stack(draws)
        experts = initial_experts(view / view.sum(-1, keepdim=True), self.prior)
        self.fit = AnswerNetworks(self.model._network(streams), experts, self.prior, self.graph)

    def step(self, iteration: int) -> Mapping[str, float]:
        """One step of Adam; every few steps it returns the bound of the best restart."""
        if iteration and iteration % _PRUNE_EVERY == 0:
            self._drop_empty_views()
        rate = cosine(self.model.learning_rate, iteration, self.iterations)
        agreement = self.fit.step(self._eta(), rate, held=iteration < self.model.n_held)
        if (iteration + 1) % _SHOW_EVERY and iteration + 1 < self.iterations:
            return {}
        return {"elbo/epoch": float(self.fit.bound(agreement).max())}

    def state(self) -> dict[str, Any]:
        """Networks, annotators and optimizer."""
        return {
            "net": self.fit.net.state_dict(), "experts": tuple(self.fit.experts),
            "optimizer": self.fit.optimizer.state_dict(),
        }  # fmt: skip

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`state` returned."""
        experts = Experts(*state["experts"])
        net = self.model._network([torch.Generator()] * (self.restarts * experts.view.shape[-1]))
        net.load_state_dict(state["net"])
        self.fit = AnswerNetworks(net, experts, self.prior, self.graph)
        self.fit.optimizer.load_state_dict(state["optimizer"])

    @torch.no_grad()
    def result(self) -> Result:
        """The restart with the highest bound, its views in decreasing order of the number of their annotators."""
        agreement, _ = self.graph.agreement(self._eta())
        self.fit.update_annotators(agreement)
        bounds, experts, model = self.fit.bound(agreement), self.fit.experts, self.model
        best = int(bounds.argmax())
        view = experts.view[best]
        popularity = view.sum(0)
        order = popularity.argsort(descending=True, stable=True)
        order = order[popularity[order] > 0.5]
        net = choose_restarts(self.fit.net, order + best * view.shape[-1])
        model.weights_ = {name: weight.detach() for name, weight in net.state_dict().items()}
        model.bounds_, model.bound_ = bounds.numpy(), float(bounds[best])
        model.expert_view_ = view[:, order].argmax(-1).numpy()
        shapes = [dirichlet.to_standard(eta)[best].numpy() for eta in (experts.sensitivity, experts.specificity)]
        model.sensitivity_shape_, model.specificity_shape_ = shapes
        model.sensitivity_, model.specificity_ = (shape[:, 0] / shape.sum(-1) for shape in shapes)
        views = model._views(self.features)
        model.view_labels_ = views.argmax(-1)
        assignment = Assignment.of(views[0])
        return model._result(assignment, assignment, WorkerPosterior(shapes[0][None], shapes[1][None]))

    def _eta(self) -> Tensor:
        return _probabilities(self.fit.net, self.items).unflatten(0, (self.restarts, -1))

    def _drop_empty_views(self) -> None:
        experts = self.fit.experts
        keep, views = used_views(experts), experts.view.shape[-1]
        if keep.shape[-1] == views:
            return
        first = views * torch.arange(len(keep))[:, None]
        view = experts.view.gather(-1, keep[:, None].expand(-1, experts.view.shape[1], -1))
        sticks = experts.sticks[:, : keep.shape[-1] - 1]
        experts = experts._replace(view=view / view.sum(-1, keepdim=True), sticks=sticks)
        net = choose_restarts(self.fit.net, (first + keep).flatten())
        self.fit = AnswerNetworks(net, experts, self.prior, self.graph)


def _probabilities(net: nn.Module, items: Tensor) -> Tensor:
    """Cluster probabilities [R · G, B, K] of items [B, D]."""
    # Transposed, because softmax over a short last axis is several times slower.
    return net(items)[0].mT.contiguous().softmax(1).mT
