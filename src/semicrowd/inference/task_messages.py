"""Message passing over the items of whole tasks, whose annotators confuse kinds (docs/DEVIATIONS.md).

Item i of task t, a placement, has a perceived kind y_ti: one of the K kinds, or "alone", a kind of its own that is
equal to no other item's. The annotator of the task perceives y where the kind is l with probability C(l, y), and the
task's answers follow the two-coin model on whether y_ti = y_tj. The variational family has one factor for each item,
q(z_i) Π_t q(y_ti | z_i), in which y given z is exact: with h_ti(k) = Σ_j w_ij q(y_tj = k), and 0 for "alone",

    q(y | z = l) ∝ C(l, y) exp h(y),    λ_ti(l) = ln Σ_y C(l, y) exp h(y)

is the message to z_i. It is bounded by the odds of a confusion, where the third term of eq. 14, its limit when nobody
confuses anything, is not.

Axes: R restarts, n items, U placements, P answers, K kinds, M annotators, C connected components.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from semicrowd.crowd.batch import RelationalBatch
from semicrowd.inference.graph import PairGraph
from semicrowd.inference.message_passing import fell, largest_change, next_step
from semicrowd.inference.simplex import log_softmax

#: Logarithm of the chance of a confusion that no task is ever explained by.
RARE = -60.0
#: First sweeps, in which nobody confuses kinds: features that are sure of themselves would else explain away what
#: several items of a task say together, and confusions once believed stay so.
_SURE = 2


class Confusions(NamedTuple):
    """What the annotator of each placement makes of the kinds.

    Attributes
    ----------
    table : [R, M, K, K + 1], ln C_m(l, k), the last column for a kind of its own
    worker : [U]
    """

    table: Tensor
    worker: Tensor

    def never(self) -> "Confusions":
        """The same of annotators who hardly ever confuse."""
        sure = torch.full_like(self.table, RARE)
        sure.diagonal(dim1=-2, dim2=-1).zero_()
        return self._replace(table=sure)

    def hearing(self, heard: Float[Tensor, "R U K"]) -> "Hearing":
        """q(y | z) and the message to z from h."""
        joint = self.table[:, self.worker] + pad(heard, (0, 1))[:, :, None]
        message = joint.logsumexp(-1)
        return Hearing(message, (joint - message[..., None]).exp())


class Hearing(NamedTuple):
    """q(y | z) of every placement, given what the others of its task say.

    Attributes
    ----------
    message : [R, U, K], λ(l), to z = l
    conditional : [R, U, K, K + 1], q(y = k | z = l)
    """

    message: Tensor
    conditional: Tensor

    def kind(self, own: Float[Tensor, "R U K"]) -> Float[Tensor, "R U K"]:
        """q(y = k), linear in q(z) of the placement's item; what is missing to 1 is "alone"."""
        return (own[..., None, :] @ self.conditional)[..., 0, :-1]


@dataclass
class TaskGraph:
    """Placements of the items of a batch, and the answers between them.

    Parameters
    ----------
    item : [U] node of each placement
    answers : the answers, over the U placements
    confusions : what their annotators make of the kinds
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
    """The graph of a batch's placements, whose answers have these weights."""
    placements = answers.placements
    assert placements is not None
    between = PairGraph(len(placements.item), placements.i, placements.j, weight, torch.zeros_like(placements.item), 1)
    return TaskGraph(placements.item, between, confusions, answers.component, answers.num_components)


class Belief(NamedTuple):
    """q(z), and q(y | z) in its natural parameters: a sweep moves both by the same share γ towards their optimum.

    Attributes
    ----------
    log_z, z : [R, n, K], ln q(z) and its exponential
    own : [R, n, K], the part of ln q(z), not normalised, that no task says
    heard : [R, U, K], h in q(y | z)
    incoming : [R, U, K], Σ_j w_ij q(y_j), h at its optimum
    value : [R, n], the bound without unary messages and without the entropy of q(z), by item
    """

    log_z: Tensor
    z: Tensor
    own: Tensor
    heard: Tensor
    incoming: Tensor
    value: Tensor


def belief(own: Float[Tensor, "R n K"], heard: Float[Tensor, "R U K"], graph: TaskGraph) -> Belief:
    """From the natural parameters."""
    conditional = graph.confusions.hearing(heard)
    log_z = log_softmax(own + graph.to_items(conditional.message))
    z = log_z.exp()
    kind = conditional.kind(z[:, graph.item])
    incoming = graph.answers.messages(kind)
    of_placements = (z[:, graph.item] * conditional.message + kind * (0.5 * incoming - heard)).sum(-1)
    return Belief(log_z, z, own, heard, incoming, graph.to_items(of_placements))


def belief_of(log_z: Float[Tensor, "R n K"], heard: Float[Tensor, "R U K"], graph: TaskGraph) -> Belief:
    """That in which q(z) is as given, and the placements have heard so much of the others."""
    return belief(log_z - graph.to_items(graph.confusions.hearing(heard).message), heard, graph)


def proposal(now: Belief, unary: Float[Tensor, "R n K"], step: Float[Tensor, "R C"], graph: TaskGraph) -> Belief:
    """Every item's factor by a share of the way to its optimum given the others'."""
    share = graph.per_node(step)[..., None]
    own = now.own + share * (unary - now.own)
    return belief(own, now.heard + share[:, graph.item] * (now.incoming - now.heard), graph)


def belief_bound(now: Belief, unary: Float[Tensor, "R n K"], graph: TaskGraph) -> Float[Tensor, "R C"]:
    """The part of the surrogate bound that the items of the graph decide, by component, up to a constant."""
    return graph.per_component((now.z * (unary - now.log_z)).sum(-1) + now.value)


@torch.no_grad()
def infer_tasks(
    unary: Float[Tensor, "R n K"],
    graph: TaskGraph,
    start: Belief | None = None,
    max_sweeps: int = 200,
    tolerance: float = 1e-4,
) -> Belief:
    """q(z) of a graph's nodes from given unary log potentials, and what every placement has heard.

    Parameters
    ----------
    start : to begin with, found under other confusions; None: nobody confuses kinds in the first sweeps
    """
    if start is None:
        sure, log_z = replace(graph, confusions=graph.confusions.never()), unary.log_softmax(-1)
        nothing = log_z.new_zeros(len(log_z), len(graph.item), log_z.shape[-1])
        start = _swept(belief(log_z, nothing, sure), unary, sure, _SURE, tolerance)
    return _swept(belief_of(start.log_z, start.heard, graph), unary, graph, max_sweeps, tolerance)


def _swept(now: Belief, unary: Tensor, graph: TaskGraph, max_sweeps: int, tolerance: float) -> Belief:
    """After sweeps in which the bound does not fall, each component by a step of its own."""
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
    """``old`` of the marked items, ``new`` of the others."""
    if not marked.any():
        return new
    wide, placed = marked[..., None], marked[:, graph.item, None]
    masks = (wide, wide, wide, placed, placed, marked)
    return Belief(*(torch.where(mask, a, b) for mask, a, b in zip(masks, old, new, strict=True)))
