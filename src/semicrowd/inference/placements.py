"""Answers of whole tasks: an annotator places each item among kinds, and may slip (docs/DEVIATIONS.md).

Item i of task t, a placement, has a perceived kind y_ti. Without a slip it is z_i. With a slip, whose probability is
ε_m, it is drawn from ρ over the K kinds and one more state, "alone": a kind of its own, equal to no other item's. The
task's answers follow the two-coin model on whether y_ti = y_tj. The variational family has one factor for each item,
q(z_i) Π_t q(s_ti, y_ti | z_i), in which y given z is exact: with h_ti(k) = Σ_j w_ij q(y_tj = k), and 0 for "alone",

    q(s, y | z) ∝ p(s, y | z) exp h(y),    λ_ti(l) = ln Σ_y p(y | z = l) exp h(y)

is the message to z_i. It is bounded by what a slip costs, where the third term of eq. 14, its limit at ε = 0, is not.

Axes: R restarts, n items, U placements, P answers, K kinds, C connected components.
"""

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import softplus

from semicrowd.crowd.batch import Placements, RelationalBatch
from semicrowd.crowd.two_coin import PairEvidence
from semicrowd.inference.graph import PairGraph
from semicrowd.inference.simplex import LEAST, log_softmax
from semicrowd.inference.statistics import ExpectedGlobals


class SlipStatistics(NamedTuple):
    """What each placement may do.

    Attributes
    ----------
    stays : [R, U, 1], E ln(1 − ε) of its annotator
    slips : [R, U, 1], E ln ε
    kinds : [R, 1, K], E ln ρ_k
    alone : [R, 1, 1], E ln ρ of a kind of its own
    """

    stays: Tensor
    slips: Tensor
    kinds: Tensor
    alone: Tensor

    def never(self) -> "SlipStatistics":
        """The same of annotators who hardly ever slip."""
        return self._replace(slips=torch.full_like(self.slips, RARE))

    def hearing(self, heard: Float[Tensor, "R U K"]) -> "Hearing":
        """q(s, y | z) and the message to z from h."""
        moved = heard + self.kinds
        normaliser = torch.logaddexp(moved.logsumexp(-1, keepdim=True), self.alone)
        # Less than e^−60 of a probability is nothing, and numbers that underflow are slow.
        odds = (heard + (self.stays - self.slips) - normaliser).clamp(min=-60)
        message = softplus(odds) + (normaliser + self.slips)
        kinds = (moved - normaliser).clamp(min=LEAST).exp()
        return Hearing(message, odds.sigmoid(), (-odds).sigmoid(), kinds)


@runtime_checkable
class Statistics(Protocol):
    """What each placement may do, of whatever model of the annotators."""

    def never(self) -> Self:
        """The same of annotators who hardly ever err."""

    def hearing(self, heard: Float[Tensor, "R U K"]) -> "Heard":
        """q(y | z) and the message to z from h."""


@runtime_checkable
class Heard(Protocol):
    """q(y | z) of every placement, given what the others of its task say."""

    @property
    def message(self) -> Float[Tensor, "R U K"]:
        """λ(l), to z = l."""

    def kind(self, own: Float[Tensor, "R U K"]) -> Float[Tensor, "R U K"]:
        """q(y = k), linear in q(z) of the placement's item."""


#: Logarithm of the chance of a slip that no task is ever explained by.
RARE = -60.0


def slip_statistics(expected: ExpectedGlobals, placements: Placements) -> SlipStatistics:
    """Of the placements, under q(ε) and q(ρ)."""
    assert expected.slips is not None
    assert expected.slip_kinds is not None
    each, kinds = expected.slips[:, placements.worker], expected.slip_kinds[:, None]
    return SlipStatistics(each[..., 1:], each[..., :1], kinds[..., :-1], kinds[..., -1:])


S = TypeVar("S", bound=Statistics)


@dataclass
class PlacementGraph(Generic[S]):
    """Placements of the items of a batch, and the answers between them.

    Parameters
    ----------
    item : [U] node of each placement
    answers : the answers, over the U placements
    statistics : what each placement may do
    links : pairs of items that no annotator placed, over the n nodes; their components count the answers too
    """

    item: Int[Tensor, "U"]
    answers: PairGraph
    statistics: S
    links: PairGraph

    @property
    def num_nodes(self) -> int:
        """n."""
        return self.links.num_nodes

    @property
    def num_components(self) -> int:
        """C."""
        return self.links.num_components

    def per_node(self, values: Tensor) -> Tensor:
        """[R, C] → [R, n]."""
        return self.links.per_node(values)

    def per_component(self, values: Tensor) -> Tensor:
        """Sum over the nodes of each component, [R, n] → [R, C]."""
        return self.links.per_component(values)

    def to_items(self, values: Tensor) -> Tensor:
        """Sum over the placements of each item, [R, U, *] → [R, n, *]."""
        return values.new_zeros(values.shape[0], self.num_nodes, *values.shape[2:]).index_add(1, self.item, values)


def graph_of_tasks(
    answers: RelationalBatch, weight: Float[Tensor, "R P"], statistics: S, links: PairGraph | None = None
) -> PlacementGraph[S]:
    """The graph of a batch's placements, whose answers have these weights; ``links`` are between its items."""
    placements, none = answers.placements, answers.i[:0]
    assert placements is not None
    between = PairGraph(len(placements.item), placements.i, placements.j, weight, torch.zeros_like(placements.item), 1)
    if links is None:
        where = answers.component, answers.num_components
        links = PairGraph(answers.num_nodes, none, none, weight[:, :0], *where)
    return PlacementGraph(placements.item, between, statistics, links)


class Hearing(NamedTuple):
    """q(s, y | z) of every placement, given what the others of its task say.

    Attributes
    ----------
    message : [R, U, K], λ(l), to z = l
    stays, moves : [R, U, K], q(no slip | z = l) and its complement
    kinds : [R, U, K], q(y = k | a slip)
    """

    message: Tensor
    stays: Tensor
    moves: Tensor
    kinds: Tensor

    def kind(self, own: Float[Tensor, "R U K"]) -> Float[Tensor, "R U K"]:
        """q(y = k); what is missing to 1 is "alone"."""
        return own * self.stays + (own * self.moves).sum(-1, keepdim=True) * self.kinds


class Perceived(NamedTuple):
    """What q(z) and q(s, y | z) make of every placement.

    Attributes
    ----------
    kind : [R, U, K], q(y = k); what is missing to 1 is "alone"
    slip : [R, U, 1], q(s = 1)
    slip_kind : [R, U, K], q(s = 1, y = k)
    """

    kind: Tensor
    slip: Tensor
    slip_kind: Tensor


def perceived(z: Float[Tensor, "R n K"], hearing: Hearing, graph: PlacementGraph[Any]) -> Perceived:
    """Marginals of y and s; linear in q(z)."""
    own = z[:, graph.item]
    slip = (own * hearing.moves).sum(-1, keepdim=True)
    return Perceived(hearing.kind(own), slip, slip * hearing.kinds)


class Belief(NamedTuple):
    """q(z), and q(s, y | z) in their natural parameters: a sweep moves both by the same share γ towards their optimum.

    Attributes
    ----------
    log_z, z : [R, n, K], ln q(z) and its exponential
    own : [R, n, K], the part of ln q(z), not normalised, that no task says
    heard : [R, U, K], h in q(s, y | z)
    incoming : [R, U, K], Σ_j w_ij q(y_j), h at its optimum
    linked : [R, n, K], messages of the links
    value : [R, n], the bound without unary messages and without the entropy of q(z), by item
    """

    log_z: Tensor
    z: Tensor
    own: Tensor
    heard: Tensor
    incoming: Tensor
    linked: Tensor
    value: Tensor


def belief(own: Float[Tensor, "R n K"], heard: Float[Tensor, "R U K"], graph: PlacementGraph[Any]) -> Belief:
    """From the natural parameters."""
    conditional = graph.statistics.hearing(heard)
    log_z = log_softmax(own + graph.to_items(conditional.message))
    z = log_z.exp()
    kind = conditional.kind(z[:, graph.item])
    incoming, linked = graph.answers.messages(kind), linked_messages(z, graph)
    of_placements = (z[:, graph.item] * conditional.message + kind * (0.5 * incoming - heard)).sum(-1)
    value = graph.to_items(of_placements) + 0.5 * (z * linked).sum(-1)
    return Belief(log_z, z, own, heard, incoming, linked, value)


def linked_messages(z: Float[Tensor, "R n K"], graph: PlacementGraph[Any]) -> Float[Tensor, "R n K"]:
    """What the links say to z."""
    return graph.links.messages(z) if len(graph.links.i) else torch.zeros_like(z)


def first_belief(
    log_z: Float[Tensor, "R n K"], graph: PlacementGraph[Any], heard: Float[Tensor, "R U K"] | None = None
) -> Belief:
    """q(z) as given, with nothing heard of any other item, or with what was heard when it was found."""
    if heard is None:
        return belief(log_z, log_z.new_zeros(log_z.shape[0], len(graph.item), log_z.shape[-1]), graph)
    return belief(log_z - graph.to_items(graph.statistics.hearing(heard).message), heard, graph)


def proposal(
    now: Belief, unary: Float[Tensor, "R n K"], step: Float[Tensor, "R C"], graph: PlacementGraph[Any]
) -> Belief:
    """Every item's factor by a share of the way to its optimum given the others'."""
    share = graph.per_node(step)[..., None]
    own = now.own + share * (unary + now.linked - now.own)
    return belief(own, now.heard + share[:, graph.item] * (now.incoming - now.heard), graph)


def keep(marked: Bool[Tensor, "R n"], old: Belief, new: Belief, graph: PlacementGraph[Any]) -> Belief:
    """``old`` of the marked items, [R, n] bool, ``new`` of the others."""
    if not marked.any():
        return new
    wide, placed = marked[..., None], marked[:, graph.item, None]
    masks = (wide, wide, wide, placed, placed, wide, marked)
    return Belief(*(torch.where(mask, a, b) for mask, a, b in zip(masks, old, new, strict=True)))


def belief_bound(now: Belief, unary: Float[Tensor, "R n K"], graph: PlacementGraph[Any]) -> Float[Tensor, "R C"]:
    """The part of the surrogate bound that the items of the graph decide, by component, up to a constant."""
    return graph.per_component((now.z * (unary - now.log_z)).sum(-1) + now.value)


def item_messages(kind: Float[Tensor, "R U K"], graph: PlacementGraph[Any]) -> Float[Tensor, "R n K"]:
    """Σ_t λ_ti(l) given q(y) of the others: what the tasks say to z."""
    return graph.to_items(graph.statistics.hearing(graph.answers.messages(kind)).message)


def placement_term(
    z: Float[Tensor, "R n K"],
    heard: Float[Tensor, "R U K"],
    graph: PlacementGraph[SlipStatistics],
    evidence: PairEvidence,
    statistics: SlipStatistics,
) -> Float[Tensor, "R"]:
    """E ln p(L, y, s | z) − ln q(s, y | z) over the graph, in float64: what stands in the bound for eq. 20.

    Differentiable in ``z``, ``evidence`` and ``statistics`` with q(s, y | z) held fixed: at its optimum the bound does
    not change with it.

    Parameters
    ----------
    heard : h of q(s, y | z), from which it is made with the graph's own statistics
    evidence : of the answers
    statistics : under which the bound is taken
    """
    theirs = graph.statistics
    conditional = theirs.hearing(heard)
    seen = perceived(z, conditional, graph)
    answers = (evidence.weight * graph.answers.agreement(seen.kind) + evidence.offset).double().sum(-1)
    # Were the statistics those of the graph, λ − h would do; the differences are what others change.
    free = (z[:, graph.item] * conditional.message - seen.kind * heard).double().sum((-2, -1))
    by_kind = (seen.slip_kind * (statistics.kinds - theirs.kinds)).double().sum((-2, -1))
    alone = seen.slip - seen.slip_kind.sum(-1, keepdim=True)
    by_slip = (1 - seen.slip) * (statistics.stays - theirs.stays) + seen.slip * (statistics.slips - theirs.slips)
    return answers + free + by_kind + (by_slip + alone * (statistics.alone - theirs.alone)).double().sum((-2, -1))


def slip_counts(
    seen: Perceived, worker: Int[Tensor, "U"], num_annotators: int
) -> tuple[Float[Tensor, "R M 2"], Float[Tensor, "R K1"]]:
    """Expected slips and other placements of each annotator, and expected slips to each kind and to "alone"."""
    slip = seen.slip.double()
    each = torch.cat([slip, 1 - slip], -1)
    by_worker = each.new_zeros(each.shape[0], num_annotators, 2).index_add(1, worker, each)
    kinds = seen.slip_kind.double()
    alone = (slip - kinds.sum(-1, keepdim=True)).clamp(min=0)
    return by_worker, torch.cat([kinds, alone], -1).sum(1)
