"""Message passing over the items of tasks whose annotators may confuse clusters (docs/DEVIATIONS.md).

A *placement* is an item i in a task t. It has a perceived cluster y_ti: one of the K clusters, or "alone", which equals
no other item's. The task's annotator perceives an item of cluster l as y with probability C(l, y). The task's answers
follow the two-coin model for y_ti = y_tj. The variational family has one factor per item, q(z_i) Π_t q(y_ti | z_i).
With h_ti(k) = Σ_j w_ij q(y_tj = k), and 0 for "alone", the optimal q(y_ti | z_i) and the message λ_ti to z_i are

    q(y | z = l) ∝ C(l, y) exp h(y),    λ_ti(l) = ln Σ_y C(l, y) exp h(y).

The odds of a confusion bound this message. Without confusions it becomes the third term of eq. 14, which has no bound.

Axes: R restarts, n items, U placements, P answers, K clusters, M annotators, C connected components.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from semicrowd.crowd.batch import RelationalBatch
from semicrowd.inference.graph import PairGraph
from semicrowd.inference.message_passing import fell, largest_change, log_softmax, next_step

#: Logarithm of a probability so small that the confusion never occurs in practice.
RARE = -60.0
#: Number of first sweeps without confusions. With confusions, very confident features would explain away consistent
#: answers about several items of a task, and later sweeps would not correct this.
_FIRST_SWEEPS = 2


class Confusions(NamedTuple):
    """Confusion probabilities of the annotators, and the annotator of each placement.

    Attributes
    ----------
    table : ln C_m(l, k); the last column is "alone"
    worker : annotator of each placement
    """

    table: Float[Tensor, "R M K K+1"]
    worker: Int[Tensor, "U"]

    def never(self) -> "Confusions":
        """The same annotators, if the log probability of every confusion is :data:`RARE`."""
        sure = torch.full_like(self.table, RARE)
        sure.diagonal(dim1=-2, dim2=-1).zero_()
        return self._replace(table=sure)

    def perception(self, h: Float[Tensor, "R U K"]) -> "Perception":
        """q(y | z), its natural parameter being h, and the message to z."""
        joint = self.table[:, self.worker] + pad(h, (0, 1))[:, :, None]
        message = joint.logsumexp(-1)
        return Perception(message, (joint - message[..., None]).exp())


class Perception(NamedTuple):
    """q(y | z) of every placement, given the other placements of its task.

    Attributes
    ----------
    message : λ(l)
    conditional : q(y = k | z = l)
    """

    message: Float[Tensor, "R U K"]
    conditional: Float[Tensor, "R U K K+1"]

    def marginal(self, own: Float[Tensor, "R U K"]) -> Float[Tensor, "R U K"]:
        """q(y = k) from q(z) of each placement's item, ``own``; the remaining probability is that of "alone"."""
        return (own[..., None, :] @ self.conditional)[..., 0, :-1]


@dataclass
class TaskGraph:
    """Placements of the items of a batch, and the answers between them.

    Parameters
    ----------
    item : [U] node of each placement
    answers : the answers, over the U placements
    confusions : the confusion probabilities of their annotators
    component : [n] connected component of every node
    num_components : C
    """

    item: Int[Tensor, "U"]
    answers: PairGraph
    confusions: Confusions
    component: Int[Tensor, "n"]
    num_components: int

    def per_node(self, values: Tensor) -> Tensor:
        """[R, C] → [R, n]."""
        return values[:, self.component]

    def per_component(self, values: Float[Tensor, "R n"]) -> Float[Tensor, "R C"]:
        """Sum over the nodes of each component."""
        return values.new_zeros(len(values), self.num_components).index_add(1, self.component, values)

    def to_items(self, values: Float[Tensor, "R U *rest"]) -> Float[Tensor, "R n *rest"]:
        """Sum over the placements of each item."""
        total = values.new_zeros(len(values), len(self.component), *values.shape[2:])
        return total.index_add(1, self.item, values)


def graph_of_tasks(answers: RelationalBatch, weight: Float[Tensor, "R P"], confusions: Confusions) -> TaskGraph:
    """The graph of a batch's placements, with the weight w_ij of each answer."""
    placements = answers.placements
    assert placements is not None
    between = PairGraph(len(placements.item), placements.i, placements.j, weight, torch.zeros_like(placements.item), 1)
    return TaskGraph(placements.item, between, confusions, answers.component, answers.num_components)


class Belief(NamedTuple):
    """q(z) and the natural parameters of q(y | z); a sweep moves both by the same fraction γ towards their optimum.

    Attributes
    ----------
    log_z, z : ln q(z) and its exponential
    own : unnormalised ln q(z) without the messages from the tasks
    h : natural parameter of q(y | z), without "alone"
    incoming : Σ_j w_ij q(y_j), the optimal h
    value : each item's part of the bound, without unary messages and the entropy of q(z)
    """

    log_z: Float[Tensor, "R n K"]
    z: Float[Tensor, "R n K"]
    own: Float[Tensor, "R n K"]
    h: Float[Tensor, "R U K"]
    incoming: Float[Tensor, "R U K"]
    value: Float[Tensor, "R n"]


def belief(own: Float[Tensor, "R n K"], h: Float[Tensor, "R U K"], graph: TaskGraph) -> Belief:
    """The :class:`Belief` with these natural parameters."""
    conditional = graph.confusions.perception(h)
    log_z = log_softmax(own + graph.to_items(conditional.message))
    z = log_z.exp()
    perceived = conditional.marginal(z[:, graph.item])
    incoming = graph.answers.messages(perceived)
    of_placements = (z[:, graph.item] * conditional.message + perceived * (0.5 * incoming - h)).sum(-1)
    return Belief(log_z, z, own, h, incoming, graph.to_items(of_placements))


def belief_of(log_z: Float[Tensor, "R n K"], h: Float[Tensor, "R U K"], graph: TaskGraph) -> Belief:
    """The :class:`Belief` with this ln q(z) and this h."""
    return belief(log_z - graph.to_items(graph.confusions.perception(h).message), h, graph)


def proposal(now: Belief, unary: Float[Tensor, "R n K"], step: Float[Tensor, "R C"], graph: TaskGraph) -> Belief:
    """Each item's factor, moved by the fraction ``step`` towards its optimum given the other factors."""
    share = graph.per_node(step)[..., None]
    own = now.own + share * (unary - now.own)
    return belief(own, now.h + share[:, graph.item] * (now.incoming - now.h), graph)


def belief_bound(now: Belief, unary: Float[Tensor, "R n K"], graph: TaskGraph) -> Float[Tensor, "R C"]:
    """The part of the surrogate bound that depends on the graph's items, by component, up to a constant."""
    return graph.per_component((now.z * (unary - now.log_z)).sum(-1) + now.value)


@torch.no_grad()
def infer_tasks(
    unary: Float[Tensor, "R n K"],
    graph: TaskGraph,
    start: Belief | None = None,
    max_sweeps: int = 200,
    tolerance: float = 1e-4,
) -> Belief:
    """q(z) of a graph's nodes given unary log potentials, and h of every placement.

    Parameters
    ----------
    start : initial value, possibly found with other confusions; None: the first sweeps are without confusions
    """
    if start is None:
        sure, log_z = replace(graph, confusions=graph.confusions.never()), unary.log_softmax(-1)
        nothing = log_z.new_zeros(len(log_z), len(graph.item), log_z.shape[-1])
        start = _swept(belief(log_z, nothing, sure), unary, sure, _FIRST_SWEEPS, tolerance)
    return _swept(belief_of(start.log_z, start.h, graph), unary, graph, max_sweeps, tolerance)


def _swept(now: Belief, unary: Tensor, graph: TaskGraph, max_sweeps: int, tolerance: float) -> Belief:
    """The state after sweeps that never lower the bound; each component has its own step size."""
    step = unary.new_ones(len(unary), graph.num_components)
    for _ in range(max_sweeps):
        new = proposal(now, unary, step, graph)
        worse = fell(*(belief_bound(one, unary, graph) for one in (now, new)))
        change = largest_change(new.z, now.z)
        now, step = _keep(graph.per_node(worse), now, new, graph), next_step(step, worse)
        if change <= tolerance:
            break
    return now


def _keep(marked: Bool[Tensor, "R n"], old: Belief, new: Belief, graph: TaskGraph) -> Belief:
    """``old`` for the marked items, ``new`` for the others."""
    if not marked.any():
        return new
    wide, placed = marked[..., None], marked[:, graph.item, None]
    masks = (wide, wide, wide, placed, placed, marked)
    return Belief(*(torch.where(mask, a, b) for mask, a, b in zip(masks, old, new, strict=True)))
