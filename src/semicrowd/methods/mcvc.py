"""MCVC: multiple clustering views from multiple uncertain experts; and deep MCVC, with networks for its linear maps.

Chang, Chen, Castaldi, Cho, Glass & Dy, ICML 2017; SCDC paper, App. C. The SCDC paper's main baselines (section 5.2).
"""

from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import QUALITY_PRIOR
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data.preparation import ColumnScaler
from semicrowd.errors import UserError
from semicrowd.estimators.base import COUNT, COUNT_OR_0, POSITIVE, CrowdClusterer, progress
from semicrowd.expfam import dirichlet
from semicrowd.inference.mcvc import Prior, initial_experts, used_views
from semicrowd.nets.mlp import MLP, choose_restarts
from semicrowd.random import torch_stream
from semicrowd.result import Assignment, Result
from semicrowd.starts.answer_classifier import AnswerNetworks, cosine

#: Views without annotators are removed after each such number of steps.
_PRUNE_EVERY = 50
#: Number of steps between two points of the curves.
_SHOW_EVERY = 10


class MCVC(CrowdClusterer):
    """Discriminative clustering views, one for each group of annotators, fitted to noisy answers.

    In view g an item belongs to cluster k with probability softmax(x W_g + b_g)_k. The answers of an annotator follow
    one of the views, with the annotator's sensitivity and specificity (Chang et al. 2017). Inference is variational,
    with point estimates of the weights: Adam on the weights, and exact updates of all other posteriors
    (:mod:`semicrowd.inference.mcvc`). All restarts are fitted at once, and the one with the highest bound is kept.
    Features are standardised first, as in the released code.

    Only annotated items are used for training. The priors and the number of restarts are those of the released code:
    N(0, 1) for each weight, Beta(10, 1) for sensitivity and specificity, Beta(1, 1) for the stick-breaking weights, 20
    restarts. The truncation of the stick-breaking weights, the learning rate and the number of steps were chosen by the
    bound. "All items in one cluster, all annotators guess" is a fixed point of the updates; the fit avoids it by
    keeping the annotators' rates at their prior in the first steps.

    Parameters
    ----------
    n_clusters : int, default=4
    n_views : int, default=5
        Maximal number of views (groups of annotators).
    n_restarts : int, default=20
        Restarts, of which the one with the highest bound is kept.
    learning_rate : float, default=0.1
        Initial learning rate of Adam.
    n_steps : int, default=300
        Steps of Adam.
    n_held : int, default=40
        Number of first steps in which the annotators' rates stay at their prior.
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    view_labels_ : ndarray of shape (n_views_with_annotators, n_samples)
        Clusters in each view that has annotators, in decreasing order of their number; ``labels_`` is the first view.
    expert_view_ : ndarray of shape (n_annotators,)
        View of each annotator.
    sensitivity_shape_, specificity_shape_ : ndarray of shape (n_annotators, 2)
        Shape parameters of the annotators' Beta posteriors.
    sensitivity_, specificity_ : ndarray of shape (n_annotators,)
        Their means.
    bound_, bounds_ : float, ndarray of shape (n_restarts,)
        Variational bound of the restart that was kept, and of all restarts.
    scaler_ : ColumnScaler
    weights_ : dict
        Weights of the networks of the views, by name.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CrowdClusterer._parameter_constraints, "n_views": [COUNT], "n_restarts": [COUNT],
        "learning_rate": [POSITIVE], "n_steps": [COUNT], "n_held": [COUNT_OR_0],
    }  # fmt: skip
    #: Widths of hidden layers.
    _hidden: ClassVar[list[int]] = []
    view_labels_: np.ndarray
    expert_view_: np.ndarray
    sensitivity_shape_: np.ndarray
    specificity_shape_: np.ndarray
    sensitivity_: np.ndarray
    specificity_: np.ndarray
    bound_: float
    bounds_: np.ndarray
    scaler_: ColumnScaler
    weights_: dict

    def __init__(
        self, n_clusters: int = 4, *, n_views: int = 5, n_restarts: int = 20, learning_rate: float = 0.1,
        n_steps: int = 300, n_held: int = 40, random_state: Any = 0, verbose: Any = False,
    ) -> None:  # fmt: skip
        self.n_clusters = n_clusters
        self.n_views = n_views
        self.n_restarts = n_restarts
        self.learning_rate = learning_rate
        self.n_steps = n_steps
        self.n_held = n_held
        self.random_state = random_state
        self.verbose = verbose

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

    def _run(self, features: np.ndarray, answers: PairAnnotations) -> Result:
        self.scaler_ = ColumnScaler(indicators=self.indicators).fit(features)
        graph, annotators = answers.index.graph, answers.num_annotators
        items = self._standardised(features)[torch.from_numpy(graph.items)]
        quality = torch.tensor(QUALITY_PRIOR, dtype=torch.float64)
        prior = Prior(dirichlet.to_natural(quality), dirichlet.to_natural(torch.ones(2, dtype=torch.float64)))
        views, restarts = min(self.n_views, annotators), range(self.n_restarts)
        draws = [
            torch.rand(annotators, views, dtype=torch.float64, generator=torch_stream(self.seed_, "mcvc-views", r))
            for r in restarts
        ]
        view = torch.stack(draws)
        experts = initial_experts(view / view.sum(-1, keepdim=True), prior)
        net = self._network([torch_stream(self.seed_, "mcvc", r, g) for r in restarts for g in range(views)])
        fit = AnswerNetworks(net, experts, prior, graph)
        for step in progress(range(self.n_steps), "steps", self.verbose):
            if step and step % _PRUNE_EVERY == 0:
                fit = _without_empty_views(fit, prior, graph)
            rate = cosine(self.learning_rate, step, self.n_steps)
            agreement = fit.step(_probabilities(fit.net, items, self.n_restarts), rate, held=step < self.n_held)
            if (step + 1) % _SHOW_EVERY == 0 or step + 1 == self.n_steps:
                self.history_.append({"epoch": step + 1, "elbo/epoch": float(fit.bound(agreement).max())})
        with torch.no_grad():
            agreement, _ = graph.agreement(_probabilities(fit.net, items, self.n_restarts))
            fit.update_annotators(agreement)
            return self._take(fit, fit.bound(agreement), features)

    def _take(self, fit: AnswerNetworks, bounds: Tensor, features: np.ndarray) -> Result:
        """The restart with the highest bound, its views in decreasing order of the number of their annotators."""
        experts, best = fit.experts, int(bounds.argmax())
        view = experts.view[best]
        popularity = view.sum(0)
        order = popularity.argsort(descending=True, stable=True)
        order = order[popularity[order] > 0.5]
        net = choose_restarts(fit.net, order + best * view.shape[-1])
        self.weights_ = {name: weight.detach() for name, weight in net.state_dict().items()}
        self.bounds_, self.bound_ = bounds.numpy(), float(bounds[best])
        self.expert_view_ = view[:, order].argmax(-1).numpy()
        shapes = [dirichlet.to_standard(eta)[best].numpy() for eta in (experts.sensitivity, experts.specificity)]
        self.sensitivity_shape_, self.specificity_shape_ = shapes
        self.sensitivity_, self.specificity_ = (shape[:, 0] / shape.sum(-1) for shape in shapes)
        views = self._views(features)
        self.view_labels_ = views.argmax(-1)
        assignment = Assignment.of(views[0])
        return self._result(assignment, assignment, WorkerPosterior(shapes[0][None], shapes[1][None]))

    def _standardised(self, features: np.ndarray) -> Tensor:
        return torch.from_numpy(self.scaler_.transform(features).astype(np.float32))

    def _network(self, generators: list[torch.Generator]) -> nn.Module:
        return MLP(self.n_features_in_, self._hidden, (int(self.n_clusters),), generators, linear_skip=False)

    @torch.no_grad()
    def _views(self, features: np.ndarray) -> np.ndarray:
        """Cluster probabilities [G', N, K] in every view."""
        net = self._network([torch.Generator()] * len(next(iter(self.weights_.values()))))
        net.load_state_dict(self.weights_)
        return np.asarray(_probabilities(net, self._standardised(features), 1)[0])


class DeepMCVC(MCVC):
    """:class:`MCVC` whose views are networks with the SCDC paper's two hidden layers of 40 ReLU units (appendix C).

    Otherwise it is the same: each weight of the network has the prior N(0, 1). The learning rate, .03, and the number
    of steps, 600, were chosen by the bound. Parameters and attributes are those of :class:`MCVC`.
    """

    _hidden: ClassVar[list[int]] = [40, 40]

    def __init__(
        self, n_clusters: int = 4, *, n_views: int = 5, n_restarts: int = 20, learning_rate: float = 0.03,
        n_steps: int = 600, n_held: int = 40, random_state: Any = 0, verbose: Any = False,
    ) -> None:  # fmt: skip
        super().__init__(
            n_clusters, n_views=n_views, n_restarts=n_restarts, learning_rate=learning_rate, n_steps=n_steps,
            n_held=n_held, random_state=random_state, verbose=verbose,
        )  # fmt: skip


def _without_empty_views(fit: AnswerNetworks, prior: Prior, graph: Any) -> AnswerNetworks:
    """The same fit without the views that have no annotators."""
    experts = fit.experts
    keep, views = used_views(experts), experts.view.shape[-1]
    if keep.shape[-1] == views:
        return fit
    first = views * torch.arange(len(keep))[:, None]
    view = experts.view.gather(-1, keep[:, None].expand(-1, experts.view.shape[1], -1))
    sticks = experts.sticks[:, : keep.shape[-1] - 1]
    experts = experts._replace(view=view / view.sum(-1, keepdim=True), sticks=sticks)
    return AnswerNetworks(choose_restarts(fit.net, (first + keep).flatten()), experts, prior, graph)


def _probabilities(net: nn.Module, items: Tensor, restarts: int) -> Tensor:
    """Cluster probabilities [R, G, B, K] of items [B, D]."""
    # Transposed, because softmax over a short last axis is several times slower.
    return net(items)[0].mT.contiguous().softmax(1).mT.unflatten(0, (restarts, -1))
