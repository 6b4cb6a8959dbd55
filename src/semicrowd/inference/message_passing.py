"""Local variational message passing with the relational term (SCDC paper, eqs. 12 and 14, App. A.4).

The pairs of a batch form a graph over its first n items. Updating all z at once can cycle for ever if cannot-links are
strong (two nodes, w = −4). So each connected component has its own step size γ in the natural parameters, η_z ←
(1 − γ) η_z + γ η_z*. A step that would lower the surrogate bound (eq. 10) is not taken, and γ is halved.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from semicrowd.expfam import gaussian
from semicrowd.inference.graph import PairGraph
from semicrowd.inference.statistics import ExpectedGlobals

#: A decrease smaller than this fraction of the bound is a rounding error.
_ROUNDING = 1e-6
#: Initial value of ``_Sweep.change``: infinite, because no sweep has been made yet.
_NEVER = torch.tensor(torch.inf)
#: Lower limit of ln q(z); the smallest normal float32 is about e^−87.
LEAST = -80.0


def log_softmax(x: Tensor) -> Tensor:
    """Log softmax over the last axis, at least −80.

    On a CPU, a contiguous last axis with few clusters (K = 15) takes nine times as long to normalise as the transposed
    array. Exponentials that underflow take fifteen times as long as others, hence the lower limit.
    """
    return x.mT.contiguous().log_softmax(-2).mT.clamp(min=LEAST)


class LocalPosterior(NamedTuple):
    """q(x_i) and q(z_i) of B items.

    Attributes
    ----------
    eta_x : natural parameter of q(x_i), S = d + d²
    t_x : E t(x_i)
    root : upper triangular, root · rootᵀ is the covariance of q(x_i)
    log_z : ln q(z_i = k)
    """

    eta_x: Float[Tensor, "R B S"]
    t_x: Float[Tensor, "R B S"]
    root: Float[Tensor, "R B d d"]
    log_z: Float[Tensor, "R B K"]

    @property
    def mean(self) -> Tensor:
        """E x_i, shape [R, B, d]."""
        return self.t_x[..., : self.root.shape[-1]]

    @property
    def probabilities(self) -> Tensor:
        """q(z_i = k), shape [R, B, K]."""
        return self.log_z.exp()


class _Sweep(NamedTuple):
    log_z: Float[Tensor, "R B K"]
    z: Float[Tensor, "R B K"]  # its exponential
    messages: Float[Tensor, "R n K"] | None  # Σ_j w_ij q(z_j) at log_z
    step: Float[Tensor, "R C"] | None  # γ of every connected component
    change: Float[Tensor, ""]  # largest change of a probability


def update_x(
    z: Float[Tensor, "R B K"], recognition: Float[Tensor, "R B S"], expected: ExpectedGlobals
) -> Float[Tensor, "R B S"]:
    """Eq. 12, which eq. 18 repeats: η_x = Σ_k q(z = k) E[t(μ_k, Σ_k)[:2]] + r(o)."""
    return z @ expected.components[..., :-2] + recognition


def unary_message(t_x: Float[Tensor, "R B S"], expected: ExpectedGlobals) -> Float[Tensor, "R B K"]:
    """The first two terms of eq. 14: E ln π_k + ⟨E t(μ_k, Σ_k), (E t(x), 1, 1)⟩."""
    constant = expected.log_pi + expected.components[..., -2:].sum(-1)
    return torch.baddbmm(constant[:, None], t_x, expected.components[..., :-2].mT)


def target_z(unary: Float[Tensor, "R B K"], messages: Float[Tensor, "R n K"]) -> Float[Tensor, "R B K"]:
    """Eq. 14: η_z = unary + Σ_j w_ij q(z_j), the messages of the neighbours. Items from n on have no neighbours."""
    n = messages.shape[1]
    return torch.cat([unary[:, :n] + messages, unary[:, n:]], 1)


def initial_z(recognition: Float[Tensor, "R B S"], expected: ExpectedGlobals) -> Float[Tensor, "R B K"]:
    """ln q(z) given the q(x) that the recognition network alone defines: a deterministic initial value."""
    return unary_message(gaussian.expected_statistics(recognition), expected).log_softmax(-1)


def infer_local(
    recognition: Float[Tensor, "R B S"],
    expected: ExpectedGlobals,
    graph: PairGraph | None = None,
    max_sweeps: int = 20,
    tolerance: float = 1e-3,
    start: Float[Tensor, "R B K"] | None = None,
) -> LocalPosterior:
    """q(x) and q(z) after sweeps towards the local optimum of the surrogate bound (eq. 15), with gradients.

    The sweeps run without gradients until no probability changes by more than ``tolerance``, at most ``max_sweeps``
    times. One last pass, which is differentiable in ``recognition``, ``expected`` and the graph's weights, adds
    gradients: its ln q(z) has the value of the last sweep. The gradient treats the neighbours' q(z), and the q(z) in
    eq. 12, as constants.

    Parameters
    ----------
    recognition : natural parameters r(o_i; φ) of the recognition potentials, flat (eq. 9)
    expected : expected global statistics, in the dtype of ``recognition``
    graph : answers over the first ``graph.num_nodes`` of the B items
    start : initial ln q(z); None: that of :func:`initial_z`
    """
    with torch.no_grad():
        state = _first(recognition, expected, graph, start)
        for _ in range(max_sweeps):
            state = _sweep(state, recognition, expected, graph)
            if state.change <= tolerance:
                break
    messages = None if graph is None else graph.messages(state.z[:, : graph.num_nodes])
    eta_x, t_x, root, target = _targets(state.z, messages, recognition, expected)
    return LocalPosterior(eta_x, t_x, root, (state.log_z + target - target.detach()).log_softmax(-1))


def infer_unrolled(
    recognition: Float[Tensor, "R B S"],
    expected: ExpectedGlobals,
    graph: PairGraph | None,
    sweeps: int,
    start: Float[Tensor, "R B K"],
) -> LocalPosterior:
    """q(x) and q(z) after a fixed number of undamped sweeps, whose gradients go through all of them.

    So does the authors' code, from a random ``start``, ln q(z), in every step; q(x) is that before the last q(z).
    """
    log_z = start
    for _ in range(sweeps):
        messages = None if graph is None else graph.messages(log_z[:, : graph.num_nodes].exp())
        eta_x, t_x, root, target = _targets(log_z.exp(), messages, recognition, expected)
        log_z = log_softmax(target)
    return LocalPosterior(eta_x, t_x, root, log_z)


def _targets(
    z: Tensor, messages: Tensor | None, recognition: Tensor, expected: ExpectedGlobals
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """η_x by eq. 12, E t(x), the root of its covariance, and the target of ln q(z) by eq. 14, all with gradients."""
    eta_x = update_x(z, recognition, expected)
    mean, root = gaussian.location_and_root(eta_x)
    t_x = gaussian.statistics(mean, root @ root.mT)
    unary = unary_message(t_x, expected)
    return eta_x, t_x, root, unary if messages is None else target_z(unary, messages)


@torch.no_grad()
def infer_each(
    recognition: Float[Tensor, "R B S"], expected: ExpectedGlobals, max_sweeps: int = 200, tolerance: float = 1e-4
) -> Float[Tensor, "R B K"]:
    """ln q(z) of items without answers, each swept until its own probabilities have converged, in all restarts.

    The sweeps and the tolerance are those of :func:`infer_local`, which sweeps all items until the last has converged.
    Most items need two sweeps, and a few more than a hundred. So this is faster, and the result of an item does not
    depend on the others, except for rounding.
    """
    log_z = initial_z(recognition, expected).clamp(min=LEAST)
    z, moving = log_z.exp(), torch.arange(log_z.shape[1], device=log_z.device)
    for _ in range(max_sweeps):
        new = log_softmax(unary_message(gaussian.expected_statistics(update_x(z, recognition, expected)), expected))
        log_z[:, moving] = new
        new_z = new.exp()
        still = (new_z - z).abs().amax((0, 2)) > tolerance
        if not still.any():
            break
        moving, z, recognition = moving[still], new_z[:, still], recognition[:, still]
    return log_z


def _first(recognition: Tensor, expected: ExpectedGlobals, graph: PairGraph | None, start: Tensor | None) -> _Sweep:
    log_z = (initial_z(recognition, expected) if start is None else start).clamp(min=LEAST)
    return _Sweep(log_z, log_z.exp(), None, None, _NEVER) if graph is None else _with_graph(log_z, graph)


def _with_graph(log_z: Tensor, graph: PairGraph) -> _Sweep:
    z, step = log_z.exp(), log_z.new_ones(log_z.shape[0], graph.num_components)
    return _Sweep(log_z, z, graph.messages(z[:, : graph.num_nodes]), step, _NEVER)


def _sweep(state: _Sweep, recognition: Tensor, expected: ExpectedGlobals, graph: PairGraph | None) -> _Sweep:
    """Update q(x) by eq. 12, then q(z) by eq. 14. The surrogate bound does not decrease."""
    unary = unary_message(gaussian.expected_statistics(update_x(state.z, recognition, expected)), expected)
    return _update_z(state, unary, graph)


def _update_z(state: _Sweep, unary: Tensor, graph: PairGraph | None) -> _Sweep:
    """Update q(z) from the unary messages and the neighbours (eq. 14)."""
    if graph is None or state.messages is None or state.step is None:  # the last two conditions: for the type checker
        log_z = log_softmax(unary)
        z = log_z.exp()
        return _Sweep(log_z, z, None, None, largest_change(z, state.z))
    n = graph.num_nodes
    old, old_z, unary_n = state.log_z[:, :n], state.z[:, :n], unary[:, :n]
    target = target_z(unary_n, state.messages)
    proposed = log_softmax(old + graph.per_node(state.step)[..., None] * (target - old))
    proposed_z = proposed.exp()
    messages = graph.messages(proposed_z)
    before = _relational_bound(old, old_z, unary_n, state.messages, graph)
    after = _relational_bound(proposed, proposed_z, unary_n, messages, graph)
    worse = fell(before, after)
    stay = graph.per_node(worse)[..., None]
    rest = log_softmax(unary[:, n:])
    rest_z = rest.exp()
    log_z = torch.cat([torch.where(stay, old, proposed), rest], 1)
    z = torch.cat([torch.where(stay, old_z, proposed_z), rest_z], 1)
    # A rejected step is no sign of convergence, so the change is that of the proposal.
    change = torch.maximum(largest_change(proposed_z, old_z), largest_change(rest_z, state.z[:, n:]))
    return _Sweep(log_z, z, torch.where(stay, state.messages, messages), next_step(state.step, worse), change)


def fell(before: Float[Tensor, "R C"], after: Float[Tensor, "R C"]) -> Bool[Tensor, "R C"]:
    """Whether a step has lowered the bound of a component by more than rounding errors."""
    return after < before - _ROUNDING * before.abs()


def next_step(step: Float[Tensor, "R C"], worse: Bool[Tensor, "R C"]) -> Float[Tensor, "R C"]:
    """The next γ of each component: half if the step lowered its bound, else a quarter more, at most 1."""
    return torch.where(worse, step / 2, (1.25 * step).clamp(max=1))


def largest_change(new: Tensor, old: Tensor) -> Float[Tensor, ""]:
    """The largest change of a probability; 0 if there are no probabilities."""
    return (new - old).abs().max() if new.numel() else new.new_zeros(())


@torch.no_grad()
def infer_z(
    unary: Float[Tensor, "R n K"],
    graph: PairGraph,
    max_sweeps: int = 200,
    tolerance: float = 1e-4,
    start: Float[Tensor, "R n K"] | None = None,
) -> Float[Tensor, "R n K"]:
    """ln q(z) of a graph's nodes given unary log potentials and the answers (eq. 14, with q(x) fixed).

    Parameters
    ----------
    start : initial ln q(z); None: the normalised ``unary``
    """
    state = _with_graph((unary if start is None else start).log_softmax(-1), graph)
    for _ in range(max_sweeps):
        state = _update_z(state, unary, graph)
        if state.change <= tolerance:
            break
    return state.log_z


def _relational_bound(log_z: Tensor, z: Tensor, unary: Tensor, messages: Tensor, graph: PairGraph) -> Tensor:
    """The part of the surrogate bound that depends on q(z) of the graph's nodes, by component: [R, C]."""
    per_node = (z * (unary - log_z + 0.5 * messages)).sum(-1)
    return graph.per_component(per_node)

