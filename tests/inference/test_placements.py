"""Placements against the sum over all z and y, eq. 14 as their limit, bounds that never fall, counts and gradients."""

import itertools

import pytest
import torch
from tests.inference.test_message_passing import globals_, recognition

from semicrowd.crowd.batch import Placements
from semicrowd.crowd.two_coin import PairEvidence, pair_evidence
from semicrowd.inference.bound import surrogate_bound
from semicrowd.inference.graph import PairGraph
from semicrowd.inference.message_passing import infer_local, infer_placed, infer_z
from semicrowd.inference.placements import (
    Belief,
    PlacementGraph,
    SlipStatistics,
    belief,
    belief_bound,
    first_belief,
    perceived,
    placement_term,
    proposal,
    slip_counts,
    slip_statistics,
)
from semicrowd.inference.statistics import ExpectedGlobals

K, N = 3, 4
#: Items of each task, and its annotator.
TASKS: dict[str, list[tuple[int, tuple[int, ...]]]] = {
    "one task": [(0, (0, 1, 2, 3))],
    "two tasks": [(0, (0, 1, 2)), (1, (1, 2, 3))],
}
Problem = tuple[torch.Tensor, PlacementGraph[SlipStatistics], PairEvidence, Placements]


def placed(tasks: list[tuple[int, tuple[int, ...]]]) -> Placements:
    item: list[int] = []
    worker: list[int] = []
    i: list[int] = []
    j: list[int] = []
    for annotator, members in tasks:
        base = len(item)
        for a, b in itertools.combinations(range(len(members)), 2):
            i.append(base + a)
            j.append(base + b)
        item += members
        worker += [annotator] * len(members)
    return Placements(*(torch.tensor(one) for one in (item, worker, i, j)))


def beliefs(slip: float = 0.1, dtype: torch.dtype = torch.float64) -> ExpectedGlobals:
    """Two annotators known exactly."""
    alpha, beta = torch.tensor([[0.9, 0.75], [0.8, 0.9]], dtype=dtype)
    epsilon = torch.tensor([slip, 2 * slip], dtype=dtype)
    rho = torch.tensor([[0.4, 0.2, 0.1, 0.3]], dtype=dtype)
    log = [torch.stack([p, 1 - p], -1).log()[None] for p in (alpha, beta, epsilon)]
    return globals_(1, K, 2, 2)._replace(
        sensitivity=log[0], specificity=log[1], slips=log[2], slip_kinds=rho.log()
    )


def problem(tasks: str, seed: int = 0, slip: float = 0.1, strong: float = 1.0) -> Problem:
    placements, expected = placed(TASKS[tasks]), beliefs(slip)
    draw = torch.Generator().manual_seed(seed)
    label = torch.randint(2, (len(placements.i),), generator=draw)
    unary = strong * torch.randn(1, N, K, generator=draw, dtype=torch.float64)
    evidence = pair_evidence(expected.sensitivity, expected.specificity, placements.worker[placements.i], label)
    return unary, graph_of(placements, evidence, slip_statistics(expected, placements)), evidence, placements


def graph_of(placements: Placements, evidence: PairEvidence, statistics: SlipStatistics) -> PlacementGraph:
    U, none = len(placements.item), torch.zeros(0, dtype=torch.long)
    zeros = torch.zeros(U, dtype=torch.long)
    answers = PairGraph(U, placements.i, placements.j, evidence.weight, zeros, 1)
    links = PairGraph(N, none, none, evidence.weight[:, :0], torch.zeros(N, dtype=torch.long), 1)
    return PlacementGraph(placements.item, answers, statistics, links)


def log_joint(problem: Problem) -> tuple[list[tuple[int, ...]], torch.Tensor]:
    """Every z [Z] and ln Σ_y p(z, y, L) of it [Z], by enumeration; y = K is "alone"."""
    unary, graph, evidence, placements = problem
    stays, slips, kinds, alone = (one[0] for one in graph.statistics)
    rho = torch.cat([kinds[0], alone[0]])
    U = len(placements.item)
    ys = torch.tensor(list(itertools.product(range(K + 1), repeat=U)))
    same = (ys[:, placements.i] == ys[:, placements.j]) & (ys[:, placements.i] < K)
    answers = (evidence.weight[0] * same + evidence.offset[0]).sum(-1)
    zs, values = list(itertools.product(range(K), repeat=N)), []
    for z in zs:
        own = torch.tensor(z)[placements.item]
        stay = torch.where(ys == own, stays[:, 0], torch.tensor(-torch.inf))
        prior = torch.logaddexp(stay, slips[:, 0] + rho[ys]).sum(-1)
        values.append((prior + answers).logsumexp(0) + sum(unary[0, n, k] for n, k in enumerate(z)))
    return zs, torch.stack(values)


def climbed(problem: Problem, sweeps: int = 300) -> tuple[Belief, list[float]]:
    """The belief after sweeps, and the bound with its constant after each that was taken."""
    unary, graph, evidence, _ = problem
    now, step = first_belief(unary.log_softmax(-1), graph), torch.ones(1, 1, dtype=torch.float64)
    bounds = [float(belief_bound(now, unary, graph).sum() + evidence.offset.sum())]
    for _ in range(sweeps):
        new = proposal(now, unary, step, graph)
        bound = float(belief_bound(new, unary, graph).sum() + evidence.offset.sum())
        if bound < bounds[-1] - 1e-12:
            step = step / 2
            continue
        now, step = new, (1.25 * step).clamp(max=1)
        bounds.append(bound)
    return now, bounds


@pytest.mark.parametrize("tasks", TASKS)
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_below_the_evidence(tasks: str, seed: int) -> None:
    case = problem(tasks, seed)
    now, bounds = climbed(case)
    exact = float(log_joint(case)[1].logsumexp(0))
    assert bounds[-1] < exact
    # It is a useful bound, and its q(z) is near the exact marginals.
    assert bounds[-1] > exact - 1.5
    term = placement_term(now.z, now.heard, case[1], case[2], case[1].statistics)
    unary = (now.z * (case[0] - now.log_z)).sum()
    torch.testing.assert_close(float(term + unary), bounds[-1])


@pytest.mark.parametrize("tasks", TASKS)
def test_where_all_but_one_item_are_certain_it_is_exact(tasks: str) -> None:
    """Certain items that do not slip leave one item free: its z and y are one factor of the family."""
    unary, graph, evidence, placements = problem(tasks, seed=1)
    sure = torch.full((1, N, K), -60.0, dtype=torch.float64)
    for n, k in enumerate((0, 0, 2, 1)):
        sure[0, n, k] = 0
    sure[0, 1] = unary[0, 1]
    free = (placements.item == 1)[None, :, None]
    stays, slips, kinds, alone = graph.statistics
    statistics = SlipStatistics(
        torch.where(free, stays, 0.0), torch.where(free, slips, torch.tensor(-60.0).double()), kinds, alone
    )
    case = sure, graph_of(placements, evidence, statistics), evidence, placements
    now, bounds = climbed(case)
    zs, values = log_joint(case)
    assert bounds[-1] == pytest.approx(float(values.logsumexp(0)), abs=1e-9)
    exact = torch.zeros(K, dtype=torch.float64).index_add(0, torch.tensor([z[1] for z in zs]), values.softmax(0))
    torch.testing.assert_close(now.z[0, 1], exact, atol=1e-8, rtol=0)


def test_an_item_alone_hears_nothing() -> None:
    """A task of one item has no answers: λ = 0 for every z, and y is the prior's."""
    unary = torch.randn(1, N, K, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    placements = Placements(*(torch.tensor(one, dtype=torch.long) for one in ([2], [0], [], [])))
    none = PairEvidence(torch.zeros(1, 0).double(), torch.zeros(1, 0).double())
    graph = graph_of(placements, none, slip_statistics(beliefs(), placements))
    now = proposal(first_belief(unary.log_softmax(-1), graph), unary, torch.ones(1, 1).double(), graph)
    torch.testing.assert_close(now.z, unary.softmax(-1))
    assert float(belief_bound(now, unary, graph)) == pytest.approx(float(unary.logsumexp(-1).sum()))
    seen = perceived(now.z, graph.statistics.hearing(now.heard), graph)
    prior = 0.9 * now.z[0, 2] + 0.1 * torch.tensor([0.4, 0.2, 0.1], dtype=torch.float64)
    torch.testing.assert_close(seen.kind[0, 0], prior)
    assert float(seen.slip) == pytest.approx(0.1)


@pytest.mark.parametrize("tasks", TASKS)
def test_equation_14_is_the_limit_without_slips(tasks: str) -> None:
    unary, graph, evidence, placements = problem(tasks, seed=2, slip=1e-14)
    i, j = placements.item[placements.i], placements.item[placements.j]
    pairs = PairGraph(N, i, j, evidence.weight, torch.zeros(N, dtype=torch.long), 1)
    torch.testing.assert_close(infer_z(unary, graph, 500, 1e-12), infer_z(unary, pairs, 500, 1e-12))


def test_a_message_is_bounded_by_what_a_slip_costs() -> None:
    """35 answers of 8 nats against an item: two-coin's message is 280 nats, this one less than 10."""
    statistics = SlipStatistics(*(torch.tensor(p).double().log().view(1, 1, -1) for p in (0.98, 0.02, [0.1] * 3, 0.7)))
    heard = torch.tensor([[[280.0, -280.0, 0.0]]], dtype=torch.float64)
    message = statistics.hearing(heard).message[0, 0]
    assert 5 < message[0] - message[1] < 10


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("seed", range(6))
def test_the_surrogate_bound_never_falls_with_strong_answers(seed: int, dtype: torch.dtype) -> None:
    """Message passing as training does it, x included, two restarts and a link between two items."""
    draw = torch.Generator().manual_seed(seed)
    placements = placed(TASKS["two tasks"])
    expected = globals_(2, K, 2, 2)._replace(
        slips=torch.tensor([0.02, 0.98]).double().log().expand(2, 2, 2),
        slip_kinds=torch.full((2, K + 1), 0.25).double().log(),
    ).cast(dtype)  # fmt: skip
    weight = (16 * torch.randn(2, len(placements.i), generator=draw)).to(dtype)
    evidence, none = PairEvidence(weight, torch.zeros_like(weight)), torch.zeros(N, dtype=torch.long)
    answers = PairGraph(len(placements.item), placements.i, placements.j, weight, none, 1)
    link = torch.full((2, 1), 4.6, dtype=dtype)
    links = PairGraph(5, torch.tensor([0]), torch.tensor([4]), link, none.new_zeros(5), 1)
    statistics = slip_statistics(expected, placements)
    graph = PlacementGraph(placements.item, answers, statistics, links)
    r = recognition(2, 6, 2, seed=seed).to(dtype)
    bounds = []
    for sweeps in range(25):
        local = infer_local(r, expected, graph, sweeps, 0.0)
        z = local.probabilities[:, :5]
        assert local.heard is not None
        terms = placement_term(z, local.heard, graph, evidence, statistics)
        bounds.append(surrogate_bound(local, r, expected) + terms + 4.6 * links.agreement(z)[:, 0])
    stacked = torch.stack(bounds)
    tolerance = 1e-4 if dtype == torch.float32 else 1e-8
    assert (stacked.diff(dim=0) > -tolerance * (1 + stacked[:-1].abs())).all()


def test_counts_are_the_gradient_of_the_bound() -> None:
    """Expected slips and agreements are the derivatives by E ln ε, E ln(1 − ε), E ln ρ and the weights."""
    unary, graph, evidence, placements = problem("two tasks", seed=3)
    now, _ = climbed((unary, graph, evidence, placements))
    leaves = [one.clone().requires_grad_() for one in graph.statistics]
    weight = evidence.weight.clone().requires_grad_()
    term = placement_term(now.z, now.heard, graph, PairEvidence(weight, evidence.offset), SlipStatistics(*leaves))
    stays, slips, kinds, alone, same = torch.autograd.grad(term.sum(), [*leaves, weight])
    seen = perceived(now.z, graph.statistics.hearing(now.heard), graph)
    by_worker, by_kind = slip_counts(seen, placements.worker, 2)
    for m in range(2):
        of = placements.worker == m
        torch.testing.assert_close(by_worker[0, m], torch.stack([slips[0, of].sum(), stays[0, of].sum()]))
    torch.testing.assert_close(by_kind[0], torch.cat([kinds[0, 0], alone[0, 0]]))
    torch.testing.assert_close(graph.answers.agreement(seen.kind), same)
    assert float(by_worker.sum()) == pytest.approx(len(placements.item))
    assert float(by_kind.sum()) == pytest.approx(float(by_worker[..., 0].sum()))


def test_the_bound_s_maximum_over_q_moves_with_its_parameters_as_the_counts_say() -> None:
    """Finite differences of the converged bound, everything else following: the envelope theorem."""
    case = problem("two tasks", seed=4)
    now, _ = climbed(case, 2000)
    seen = perceived(now.z, case[1].statistics.hearing(now.heard), case[1])
    u, step = 1, 1e-5

    def converged(change: float) -> float:
        statistics = case[1].statistics
        slips = statistics.slips.clone()
        slips[0, u] += change
        moved = graph_of(case[3], case[2], statistics._replace(slips=slips))
        return climbed((case[0], moved, case[2], case[3]), 2000)[1][-1]

    slope = (converged(step) - converged(-step)) / (2 * step)
    assert slope == pytest.approx(float(seen.slip[0, u]), rel=1e-4)


def test_the_term_s_gradient_by_z_is_the_message() -> None:
    """At the optimum of q(y | z): dF/dq(z = l) = Σ_t λ_ti(l), up to the same number for all l of an item."""
    unary, graph, evidence, placements = problem("two tasks", seed=5)
    now, _ = climbed((unary, graph, evidence, placements), 2000)
    z = now.z.clone().requires_grad_()
    term = placement_term(z, now.heard, graph, evidence, graph.statistics)
    (slope,) = torch.autograd.grad(term.sum(), z)
    message = graph.to_items(graph.statistics.hearing(now.heard).message)
    torch.testing.assert_close(slope, message, atol=1e-6, rtol=0)


def test_one_hearing_of_the_belief_is_its_own_bound() -> None:
    """The value of a belief that is no optimum: by the joint distribution of every item's z and y."""
    unary, graph, evidence, placements = problem("two tasks", seed=6)
    draw = torch.Generator().manual_seed(0)
    heard = torch.randn(1, len(placements.item), K, generator=draw, dtype=torch.float64)
    now = belief(torch.randn(1, N, K, generator=draw, dtype=torch.float64), heard, graph)
    stays, slips, kinds, alone = (one[0] for one in graph.statistics)
    total = (evidence.offset).sum() + (now.z * (unary - now.log_z)).sum()
    marginals = torch.zeros(len(placements.item), K, dtype=torch.float64)
    for u, n in enumerate(placements.item.tolist()):
        for k in range(K):
            # States of (s, y): no slip, a slip to each kind, a slip to a kind of its own.
            prior = torch.cat([stays[u], slips[u] + kinds[0], slips[u] + alone[0]])
            felt = torch.cat([heard[0, u, k : k + 1], heard[0, u], torch.zeros(1).double()])
            q = (prior + felt).softmax(0)
            total += now.z[0, n, k] * (q * (prior - q.log())).sum()
            marginals[u] += now.z[0, n, k] * q[1:-1]
            marginals[u, k] += now.z[0, n, k] * q[0]
    total += (evidence.weight[0] * (marginals[placements.i] * marginals[placements.j]).sum(-1)).sum()
    torch.testing.assert_close(perceived(now.z, graph.statistics.hearing(heard), graph).kind[0], marginals)
    torch.testing.assert_close(belief_bound(now, unary, graph).sum() + evidence.offset.sum(), total)


def test_nobody_slips_in_the_first_sweeps() -> None:
    """Before slips begin, the items of one task are where two sweeps of eq. 14 lead."""
    placements, expected = placed(TASKS["one task"]), beliefs(0.2)
    draw = torch.Generator().manual_seed(7)
    weight = torch.randn(1, len(placements.i), generator=draw, dtype=torch.float64)
    evidence = PairEvidence(weight, torch.zeros_like(weight))
    graph = graph_of(placements, evidence, slip_statistics(expected, placements))
    pairs = PairGraph(N, placements.i, placements.j, weight, torch.zeros(N, dtype=torch.long), 1)
    potentials = recognition(1, N, 2).double()
    surely = infer_local(potentials, expected, graph, max_sweeps=0)
    torch.testing.assert_close(surely.log_z, infer_local(potentials, expected, pairs, 2, 0.0).log_z)
    again = infer_local(potentials, expected, graph, 0, start=surely.found)
    torch.testing.assert_close(again.log_z, surely.log_z)


def test_placed_items_are_where_their_tasks_and_features_agree() -> None:
    """A fixed point of the factors, whose bound is that of steps from features alone, and from which nothing leads."""
    unary, graph, evidence, placements = problem("two tasks", seed=8)
    found = infer_placed(unary, graph)
    assert found.heard is not None
    now = first_belief(found.log_z, graph, found.heard)
    torch.testing.assert_close(now.heard, now.incoming, rtol=0, atol=0.05)
    target = (unary + graph.to_items(graph.statistics.hearing(now.heard).message)).log_softmax(-1)
    torch.testing.assert_close(found.log_z.exp(), target.exp(), rtol=0, atol=0.01)
    bounds = climbed((unary, graph, evidence, placements), 100)[1]
    assert float(belief_bound(now, unary, graph).sum() + evidence.offset.sum()) > bounds[-1] - 0.01
    torch.testing.assert_close(infer_placed(unary, graph, found).log_z.exp(), found.log_z.exp(), rtol=0, atol=0.01)
