"""Messages of whole tasks against the sum over all z and y, eq. 14 as their limit, bounds that never fall, counts."""

import itertools
import math

import numpy as np
import pytest
import torch

from semicrowd.crowd.batch import Placements
from semicrowd.inference.graph import PairGraph
from semicrowd.inference.message_passing import infer_z
from semicrowd.inference.task_messages import (
    Belief,
    Confusions,
    TaskGraph,
    belief,
    belief_bound,
    infer_tasks,
    proposal,
)

K, N = 3, 4
#: Items of each task, and its annotator.
TASKS: dict[str, list[tuple[int, tuple[int, ...]]]] = {
    "one task": [(0, (0, 1, 2, 3))],
    "two tasks": [(0, (0, 1, 2)), (1, (1, 2, 3))],
}
#: ln p(z) of each item, up to a constant, and the graph.
Problem = tuple[torch.Tensor, TaskGraph]


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
    return Placements(*(torch.tensor(one, dtype=torch.long) for one in (item, worker, i, j)))


def table(rng: np.random.Generator, right: float = 3.0) -> torch.Tensor:
    """ln C of two annotators, [1, 2, K, K + 1]; ``right``: how much more often a kind is taken for itself."""
    return torch.from_numpy(np.stack([rng.dirichlet(row) for _ in range(2) for row in 1 + right * np.eye(K, K + 1)])
                            .reshape(1, 2, K, K + 1)).log()  # fmt: skip


def graph_of(placements: Placements, weight: torch.Tensor, log_table: torch.Tensor, num_items: int = N) -> TaskGraph:
    zeros = torch.zeros_like(placements.item)
    answers = PairGraph(len(placements.item), placements.i, placements.j, weight, zeros, 1)
    component = torch.zeros(num_items, dtype=torch.long)
    return TaskGraph(placements.item, answers, Confusions(log_table, placements.worker), component, 1)


def problem(tasks: str, seed: int = 0, strong: float = 2.0) -> Problem:
    rng, placements = np.random.default_rng(seed), placed(TASKS[tasks])
    weight = torch.from_numpy(rng.normal(scale=strong, size=(1, len(placements.i))))
    unary = torch.from_numpy(rng.normal(size=(1, N, K)))
    return unary, graph_of(placements, weight, table(rng))


def log_joint(case: Problem) -> tuple[list[tuple[int, ...]], torch.Tensor]:
    """Every z [Z] and ln Σ_y p(z, y, L) of it [Z], up to the same constant, by enumeration; y = K is "alone"."""
    unary, graph = case
    i, j, U = graph.answers.i, graph.answers.j, len(graph.item)
    ys = torch.tensor(list(itertools.product(range(K + 1), repeat=U)))
    answers = (graph.answers.weight[0] * ((ys[:, i] == ys[:, j]) & (ys[:, i] < K))).sum(-1)
    zs, values = list(itertools.product(range(K), repeat=N)), []
    for z in zs:
        own = torch.tensor(z)[graph.item]
        perceived = graph.confusions.table[0, graph.confusions.worker, own].gather(1, ys.T).sum(0)
        values.append((perceived + answers).logsumexp(0) + unary[0, torch.arange(N), torch.tensor(z)].sum())
    return zs, torch.stack(values)


def converged(case: Problem, start: Belief | None = None) -> tuple[Belief, float]:
    """The optimum, and its bound."""
    found = infer_tasks(*case, start, 3000, 0.0)
    return found, float(belief_bound(found, *case).sum())


@pytest.mark.parametrize("tasks", TASKS)
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_below_the_evidence_and_near_it(tasks: str, seed: int) -> None:
    case = problem(tasks, seed, strong=1.0)
    exact = float(log_joint(case)[1].logsumexp(0))
    assert exact - 1.5 < converged(case)[1] < exact


@pytest.mark.parametrize("tasks", TASKS)
def test_where_all_but_one_item_are_certain_it_is_exact(tasks: str) -> None:
    """Certain items that nobody takes for others leave one item free: its z and y are one factor of the family."""
    unary, graph = problem(tasks, seed=1)
    sure = torch.full((1, N, K), -60.0, dtype=torch.float64)
    for n, k in enumerate((0, 0, 2, 1)):
        sure[0, n, k] = 0
    sure[0, 1] = unary[0, 1]
    # An annotator of his own for each placement: those of the free item alone confuse kinds.
    free = (graph.item == 1)[None, :, None, None]
    never = graph.confusions.never().table[:, graph.confusions.worker]
    each = torch.where(free, graph.confusions.table[:, graph.confusions.worker], never)
    placements = Placements(graph.item, torch.arange(len(graph.item)), graph.answers.i, graph.answers.j)
    case = sure, graph_of(placements, graph.answers.weight, each)
    found, bound = converged(case)
    zs, values = log_joint(case)
    assert bound == pytest.approx(float(values.logsumexp(0)), abs=1e-9)
    exact = torch.zeros(K, dtype=torch.float64).index_add(0, torch.tensor([z[1] for z in zs]), values.softmax(0))
    torch.testing.assert_close(found.z[0, 1], exact, atol=1e-8, rtol=0)


def test_an_item_alone_has_no_message() -> None:
    """A task of one item has no answers: λ = 0 for every z, and y is what its annotator makes of the kinds."""
    rng, placements = np.random.default_rng(0), placed([(0, (2,))])
    unary, log_table = torch.from_numpy(rng.normal(size=(1, N, K))), table(rng)
    graph = graph_of(placements, torch.zeros(1, 0).double(), log_table)
    found = infer_tasks(unary, graph)
    torch.testing.assert_close(found.z, unary.softmax(-1))
    assert float(belief_bound(found, unary, graph)) == pytest.approx(float(unary.logsumexp(-1).sum()))
    kind = graph.confusions.perception(found.h).marginal(found.z[:, graph.item])
    torch.testing.assert_close(kind[0, 0], found.z[0, 2] @ log_table[0, 0].exp()[:, :K])


@pytest.mark.parametrize("tasks", TASKS)
def test_equation_14_is_the_limit_without_confusions(tasks: str) -> None:
    unary, graph = problem(tasks, seed=2)
    never = graph.confusions.never()
    placements = Placements(graph.item, never.worker, graph.answers.i, graph.answers.j)
    i, j = graph.item[graph.answers.i], graph.item[graph.answers.j]
    pairs = PairGraph(N, i, j, graph.answers.weight, torch.zeros(N, dtype=torch.long), 1)
    found = infer_tasks(unary, graph_of(placements, graph.answers.weight, never.table), None, 500, 1e-12)
    torch.testing.assert_close(found.log_z, infer_z(unary, pairs, 500, 1e-12))


def test_a_message_is_bounded_by_the_odds_of_a_confusion() -> None:
    """35 answers of 8 nats against an item: two-coin's message is 280 nats, this one less than 10."""
    rows = torch.full((1, 1, K, K + 1), 0.002, dtype=torch.float64)
    rows[..., -1] = 0.014
    rows.diagonal(dim1=-2, dim2=-1).fill_(0.98)
    h = torch.tensor([[[280.0, -280.0, 0.0]]], dtype=torch.float64)
    message = Confusions(rows.log(), torch.tensor([0])).perception(h).message[0, 0]
    assert 5 < message[0] - message[1] < 10


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("seed", range(6))
def test_the_bound_never_falls_with_strong_answers(seed: int, dtype: torch.dtype) -> None:
    unary, graph = problem("two tasks", seed, strong=16.0)
    placements = Placements(graph.item, graph.confusions.worker, graph.answers.i, graph.answers.j)
    unary = unary.to(dtype)
    graph = graph_of(placements, graph.answers.weight.to(dtype), graph.confusions.table.to(dtype))
    bounds = torch.stack([belief_bound(infer_tasks(unary, graph, None, n, 0.0), unary, graph) for n in range(25)])
    tolerance = 1e-4 if dtype == torch.float32 else 1e-8
    assert (bounds.diff(dim=0) > -tolerance * (1 + bounds[:-1].abs())).all()


def test_the_bound_s_maximum_moves_as_the_expected_counts_say() -> None:
    """Finite differences by ln C of the converged bound, everything else following: the envelope theorem."""
    unary, graph = problem("two tasks", seed=4, strong=1.0)
    found, _ = converged((unary, graph))
    placements = Placements(graph.item, graph.confusions.worker, graph.answers.i, graph.answers.j)
    conditional, step = graph.confusions.perception(found.h).conditional, 1e-5
    for m, of, seen in ((0, 1, 1), (1, 0, 2), (1, 2, K)):
        def moved(change: float, where: tuple[int, ...] = (0, m, of, seen)) -> float:
            log_table = graph.confusions.table.clone()
            log_table[where] += change
            return converged((unary, graph_of(placements, graph.answers.weight, log_table)), found)[1]

        mine = placements.worker == m
        count = (found.z[0, graph.item, of] * conditional[0, :, of, seen])[mine].sum()
        assert (moved(step) - moved(-step)) / (2 * step) == pytest.approx(float(count), rel=1e-4)


def test_the_value_of_a_belief_is_its_bound() -> None:
    """Of one that is no optimum: by the joint distribution of every item's z and y."""
    unary, graph = problem("two tasks", seed=6)
    draw = torch.Generator().manual_seed(0)
    h = torch.randn(1, len(graph.item), K, generator=draw, dtype=torch.float64)
    now = belief(torch.randn(1, N, K, generator=draw, dtype=torch.float64), h, graph)
    total = float((now.z * (unary - now.log_z)).sum())
    marginals = torch.zeros(len(graph.item), K, dtype=torch.float64)
    for u, n in enumerate(graph.item.tolist()):
        for of in range(K):
            log_prior = [float(graph.confusions.table[0, graph.confusions.worker[u], of, y]) for y in range(K + 1)]
            felt = [*h[0, u].tolist(), 0.0]
            weights = [math.exp(a + b) for a, b in zip(log_prior, felt, strict=True)]
            for y, weight in enumerate(weights):
                q = float(now.z[0, n, of]) * weight / sum(weights)
                total += q * (log_prior[y] - math.log(weight / sum(weights)))
                if y < K:
                    marginals[u, y] += q
    i, j = graph.answers.i, graph.answers.j
    total += float((graph.answers.weight[0] * (marginals[i] * marginals[j]).sum(-1)).sum())
    assert float(belief_bound(now, unary, graph).sum()) == pytest.approx(total)


def test_nobody_confuses_kinds_in_the_first_sweeps() -> None:
    """Before confusions begin, the items of one task are where two sweeps of eq. 14 lead."""
    unary, graph = problem("one task", seed=7)
    pairs = PairGraph(N, graph.answers.i, graph.answers.j, graph.answers.weight, torch.zeros(N, dtype=torch.long), 1)
    surely = infer_tasks(unary, graph, max_sweeps=0)
    torch.testing.assert_close(surely.log_z, infer_z(unary, pairs, 2, 0.0))
    torch.testing.assert_close(infer_tasks(unary, graph, surely, max_sweeps=0).log_z, surely.log_z)


def test_items_are_where_their_tasks_and_features_agree() -> None:
    """A fixed point of the factors, from which nothing leads."""
    unary, graph = problem("two tasks", seed=8, strong=1.0)
    found = infer_tasks(unary, graph)
    torch.testing.assert_close(found.h, found.incoming, rtol=0, atol=0.05)
    target = unary + graph.to_items(graph.confusions.perception(found.h).message)
    torch.testing.assert_close(found.z, target.softmax(-1), rtol=0, atol=0.01)
    torch.testing.assert_close(infer_tasks(unary, graph, found).z, found.z, rtol=0, atol=0.01)
    step = torch.ones(1, 1, dtype=torch.float64)
    torch.testing.assert_close(proposal(found, unary, step, graph).z, found.z, rtol=0, atol=0.01)
