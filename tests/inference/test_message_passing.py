"""Message passing against brute-force enumeration, coordinate ascent, and the 2-cycle under cannot-links."""

import itertools
import math
from typing import Any

import pytest
import torch

from semicrowd.crowd.two_coin import PairEvidence, pair_evidence
from semicrowd.expfam import dirichlet, gaussian, normal_inverse_wishart
from semicrowd.inference.bound import local_terms, relational_term
from semicrowd.inference.graph import PairGraph
from semicrowd.inference.message_passing import (
    LocalPosterior,
    _relational_bound,
    infer_each,
    infer_local,
    infer_unrolled,
    update_x,
)
from semicrowd.inference.statistics import ExpectedGlobals


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def globals_(R: int, K: int, d: int, M: int, seed: int = 0) -> ExpectedGlobals:
    """Expected statistics of a random global posterior."""
    root = normal(R, K, d, d, seed=seed)
    count = torch.full((R, K), 6.0, dtype=torch.float64)
    niw = normal_inverse_wishart.to_natural(
        2 * normal(R, K, d, seed=seed + 1), count, root @ root.mT + torch.eye(d).double(), count + d
    )
    quality = torch.tensor([9.0, 1.5], dtype=torch.float64).expand(R, M, 2)
    return ExpectedGlobals(
        dirichlet.expected_statistics(normal(R, K, seed=seed + 2).exp()),
        normal_inverse_wishart.expected_statistics(niw),
        dirichlet.expected_statistics(quality),
        dirichlet.expected_statistics(quality),
    )


def recognition(R: int, B: int, d: int, precision: float = 1.0, seed: int = 5) -> torch.Tensor:
    eye = (-0.5 * precision * torch.eye(d).double()).flatten().expand(R, B, d * d)
    return torch.cat([precision * 2 * normal(R, B, d, seed=seed), eye], -1)


def graph_of(pairs: list[tuple[int, int]], weight: torch.Tensor, n: int) -> PairGraph:
    i, j = torch.tensor(pairs).T
    return PairGraph(n, i, j, weight, torch.zeros(n, dtype=torch.long), 1)


def surrogate_bound(
    local: LocalPosterior, r: torch.Tensor, expected: ExpectedGlobals, graph: PairGraph, evidence: PairEvidence
) -> torch.Tensor:
    """Eq. 10 without the global KL divergence, which is constant in local updates; message passing maximises it."""
    terms = local_terms(local, expected)
    potential = (r * local.t_x).sum(-1)
    of_items = (potential - terms.kl_z - terms.kl_x).sum(-1)
    return of_items + relational_term(local, graph, evidence).sum(-1)


ALL_PAIRS = list(itertools.combinations(range(4), 2))


def answers(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return torch.zeros(6, dtype=torch.long), torch.randint(2, (6,), generator=draw)


def test_relational_term_is_the_expectation_over_all_assignments() -> None:
    """K^N enumeration at N = 4, K = 3."""
    expected = globals_(1, 3, 2, 1)
    worker, label = answers()
    evidence = pair_evidence(expected.sensitivity, expected.specificity, worker, label)
    graph = graph_of(ALL_PAIRS, evidence.weight, 4)
    local = infer_local(recognition(1, 4, 2), expected, graph)
    q = local.probabilities[0]
    total = torch.zeros((), dtype=torch.float64)
    for z in itertools.product(range(3), repeat=4):
        probability = torch.stack([q[n, k] for n, k in enumerate(z)]).prod()
        same = torch.tensor([z[i] == z[j] for i, j in ALL_PAIRS], dtype=torch.float64)
        total += probability * (evidence.weight[0] * same + evidence.offset[0]).sum()
    torch.testing.assert_close(relational_term(local, graph, evidence).sum(), total)


def test_local_inference_is_the_best_mean_field_optimum_found_by_enumerating_starts() -> None:
    """No start of coordinate ascent, one of each of the K^N hard assignments, beats it on an easy problem, and the
    bound is below the exact log evidence of the potentials and answers summed over all K^N assignments."""
    expected = globals_(1, 3, 2, 1)
    r = recognition(1, 4, 2, precision=4.0)
    worker, label = answers(3)
    evidence = pair_evidence(expected.sensitivity, expected.specificity, worker, label)
    graph = graph_of(ALL_PAIRS, evidence.weight, 4)
    ours = surrogate_bound(infer_local(r, expected, graph, 500, 1e-10), r, expected, graph, evidence)
    bounds, evidences = [], []
    for z in itertools.product(range(3), repeat=4):
        hard = torch.nn.functional.one_hot(torch.tensor(z), 3).double()
        local = infer_local(r, expected, graph, 500, 1e-10, start=(hard[None] + 1e-6).log().log_softmax(-1))
        bounds.append(surrogate_bound(local, r, expected, graph, evidence))
        evidences.append(exact_log_joint(z, r, expected, evidence))
    best = torch.cat(bounds).max()
    assert ours > best - 1e-6
    assert best <= torch.stack(evidences).logsumexp(0)


def exact_log_joint(
    z: tuple[int, ...], r: torch.Tensor, expected: ExpectedGlobals, evidence: PairEvidence
) -> torch.Tensor:
    """log of Σ over x of exp(E ln p(z, x, L) + ⟨r, t(x)⟩) at one assignment: the Gaussian integral in closed form."""
    total = torch.zeros((), dtype=torch.float64)
    d = gaussian.dimension(r.shape[-1])
    for n, k in enumerate(z):
        component = expected.components[0, k]
        total += expected.log_pi[0, k] + component[-2:].sum() + gaussian.log_partition(component[:-2] + r[0, n])
        total -= 0.5 * d * torch.tensor(2 * torch.pi, dtype=torch.float64).log()
    same = torch.tensor([z[i] == z[j] for i, j in ALL_PAIRS], dtype=torch.float64)
    return total + (evidence.weight[0] * same + evidence.offset[0]).sum()


def test_without_answers_the_fixed_point_satisfies_equations_12_and_14() -> None:
    expected = globals_(2, 3, 2, 1)
    r = recognition(2, 5, 2)
    local = infer_local(r, expected, max_sweeps=2000, tolerance=1e-13)
    torch.testing.assert_close(local.eta_x, update_x(local.probabilities, r, expected), atol=1e-9, rtol=0)
    mean, sigma = gaussian.to_standard(local.eta_x)
    t = torch.cat([mean, (sigma + mean[..., :, None] * mean[..., None, :]).flatten(-2)], -1)
    for restart, item in itertools.product(range(2), range(5)):
        logits = expected.log_pi[restart].clone()
        for k in range(3):
            logits[k] += expected.components[restart, k] @ torch.cat([t[restart, item], torch.ones(2)])
        torch.testing.assert_close(local.probabilities[restart, item], logits.softmax(-1), atol=1e-8, rtol=0)


def test_each_item_is_swept_until_it_has_itself_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The results are those of the items by themselves, and near the fixed point of all; few items need many sweeps.

    An item that moves little in each of many sweeps stops further from it than the tolerance of a sweep.
    """
    expected, r = globals_(1, 3, 2, 1), recognition(1, 200, 2, precision=0.3)
    swept: list[int] = []

    def counted(z: torch.Tensor, *rest: Any) -> torch.Tensor:
        swept.append(z.shape[1])
        return update_x(z, *rest)

    monkeypatch.setattr("semicrowd.inference.message_passing.update_x", counted)
    found = infer_each(r, expected)
    sweeps = swept.copy()
    alone = [infer_local(r[:, i : i + 1], expected, None, 200, 1e-4).log_z for i in range(200)]
    torch.testing.assert_close(found, torch.cat(alone, 1), rtol=0, atol=1e-12)
    fixed = infer_local(r, expected, None, 2000, 1e-13).probabilities
    torch.testing.assert_close(found.exp(), fixed, rtol=0, atol=1e-3)
    assert sweeps == sorted(sweeps, reverse=True)
    assert sum(sweeps) < len(sweeps) * 200 / 2
    # An item is only left out once it has converged in all restarts.
    two, both = globals_(2, 3, 2, 1), recognition(2, 200, 2, precision=0.3)
    fixed = infer_local(both, two, None, 2000, 1e-13).probabilities
    torch.testing.assert_close(infer_each(both, two).exp(), fixed, rtol=0, atol=5e-3)


def test_local_kl_divergences_match_the_closed_forms() -> None:
    """With a point-like NIW, KL(q(x)‖Σ_k q_k …) has the Gaussian closed form of torch.distributions."""
    d, K = 2, 1
    nu = 1e9
    location, sigma = normal(1, K, d), torch.eye(d).double().expand(1, K, d, d) * 1.7
    big = torch.full((1, K), nu, dtype=torch.float64)
    niw = normal_inverse_wishart.to_natural(location, big, sigma * nu, big)
    certain = dirichlet.expected_statistics(torch.full((1, 1, 2), 1.0).double())
    expected = ExpectedGlobals(
        torch.zeros(1, K).double(), normal_inverse_wishart.expected_statistics(niw), certain, certain
    )
    local = infer_local(recognition(1, 3, d), expected)
    mean, covariance = gaussian.to_standard(local.eta_x)
    q = torch.distributions.MultivariateNormal(mean, covariance)
    p = torch.distributions.MultivariateNormal(location, sigma)
    exact = torch.distributions.kl_divergence(q, p)
    torch.testing.assert_close(local_terms(local, expected).kl_x, exact, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(local_terms(local, expected).kl_z, torch.zeros(1, 3).double())


def cases() -> list[tuple[str, torch.Tensor]]:
    mixed = 4 * normal(1, 6, seed=2)
    return [
        ("cannot-links", torch.full((1, 6), -4.0).double()),
        ("must-links", torch.full((1, 6), 4.0).double()),
        ("mixed", mixed),
        ("strong", 30 * mixed),
    ]


@pytest.mark.parametrize("dense_nodes", [0, 512])
def test_the_bound_that_no_step_may_decrease_sums_over_all_assignments_of_a_component(
    dense_nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E [Σ_i unary + Σ_pairs w 1[z_i = z_j] − ln q(z)] by enumeration, for a component of three items with two answers
    on one pair, one of two items, and one item without answers. A pair counts once, though both ends hear of it."""
    monkeypatch.setattr("semicrowd.inference.graph.DENSE_NODES", dense_nodes)
    pairs, members = [(0, 2), (2, 4), (4, 2), (3, 1)], [(0, 2, 4), (1, 3), (5,)]
    component = torch.tensor([0, 1, 0, 1, 0, 2])
    weight, unary, log_z = 3 * normal(2, 4), normal(2, 6, 3, seed=1), normal(2, 6, 3, seed=2).log_softmax(-1)
    i, j = torch.tensor(pairs).T
    graph = PairGraph(6, i, j, weight, component, 3)
    found = _relational_bound(log_z, log_z.exp(), unary, graph.messages(log_z.exp()), graph)
    for r, (c, items) in itertools.product(range(2), enumerate(members)):
        total = 0.0
        for z in itertools.product(range(3), repeat=len(items)):
            kind = dict(zip(items, z, strict=True))
            log_q = sum(float(log_z[r, item, k]) for item, k in kind.items())
            value = sum(float(unary[r, item, k]) for item, k in kind.items()) - log_q
            value += sum(
                float(w) for (a, b), w in zip(pairs, weight[r], strict=True) if a in kind and kind[a] == kind[b]
            )
            total += math.exp(log_q) * value
        assert float(found[r, c]) == pytest.approx(total)


@pytest.mark.parametrize(("name", "weight"), cases(), ids=[name for name, _ in cases()])
def test_the_surrogate_bound_never_falls_over_sweeps(name: str, weight: torch.Tensor) -> None:
    expected = globals_(1, 3, 2, 1, seed=4)
    r = recognition(1, 4, 2, precision=0.3)
    evidence = PairEvidence(weight, torch.zeros_like(weight))
    graph = graph_of(ALL_PAIRS, weight, 4)
    bounds = [
        float(surrogate_bound(infer_local(r, expected, graph, sweeps, 0.0), r, expected, graph, evidence))
        for sweeps in range(30)
    ]
    assert all(later >= earlier - 1e-6 for earlier, later in itertools.pairwise(bounds)), bounds
    assert bounds[-1] > bounds[0]


def test_two_nodes_under_a_strong_cannot_link_do_not_flip_for_ever() -> None:
    """Both start at [.6, .4] with w = −4: undamped parallel updates exchange [.3, .7] and [.7, .3] without end."""
    flat = globals_(1, 2, 1, 1)
    flat = ExpectedGlobals(torch.full((1, 2), -0.69).double(), flat.components[:, :1].expand(1, 2, 4), *flat[2:])
    weight = torch.full((1, 1), -4.0).double()
    graph = graph_of([(0, 1)], weight, 2)
    start = torch.tensor([[[0.6, 0.4], [0.6, 0.4]]]).double().log()
    q = start.exp()
    undamped = [q := (graph.messages(q)).softmax(-1) for _ in range(50)]
    assert (undamped[-1] - undamped[-2]).abs().max() > 0.3
    r = recognition(1, 2, 1)
    local = infer_local(r, flat, graph, 200, 1e-10, start=start)
    again = infer_local(r, flat, graph, 201, 1e-10, start=start)
    torch.testing.assert_close(local.probabilities, again.probabilities, atol=1e-6, rtol=0)
    # From a start that breaks the tie, they part.
    start = torch.tensor([[[0.6, 0.4], [0.5, 0.5]]]).double().log()
    parted = infer_local(r, flat, graph, 200, 1e-10, start=start).probabilities[0]
    assert parted[0, 0] > 0.9
    assert parted[1, 1] > 0.9


def test_gradients_of_the_live_pass_match_finite_differences_of_one_more_sweep() -> None:
    """The live pass is z ← f(x(z*, r)) with z* fixed: its derivative in r by central differences."""
    expected = globals_(1, 3, 2, 1)
    r = recognition(1, 3, 2)
    fixed = infer_local(r, expected, max_sweeps=500, tolerance=1e-12).log_z

    def value(r: torch.Tensor) -> torch.Tensor:
        return infer_local(r, expected, max_sweeps=0, start=fixed).probabilities[0, :, 0].sum()

    live = r.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(value(live), live)

    def moved(r: torch.Tensor) -> torch.Tensor:
        t_x = gaussian.expected_statistics(update_x(fixed.exp(), r, expected))
        constant = expected.log_pi + expected.components[..., -2:].sum(-1)
        return (constant[:, None] + t_x @ expected.components[..., :-2].mT).softmax(-1)[0, :, 0].sum()

    for index in (0, 1):
        step = torch.zeros_like(r)
        step[0, 1, index] = 1e-5
        difference = (moved(r + step) - moved(r - step)) / 2e-5
        assert float(gradient[0, 1, index]) == pytest.approx(float(difference), rel=1e-4, abs=1e-9)


def test_unrolled_sweeps_end_at_the_fixed_point_and_have_its_gradient() -> None:
    """Many sweeps reach what :func:`infer_local` finds; gradients of few are those of finite differences."""
    expected, r, weight = globals_(1, 3, 2, 1), recognition(1, 4, 2), torch.full((1, 6), 0.3, dtype=torch.float64)
    graph, start = graph_of(ALL_PAIRS, weight, 4), normal(1, 4, 3, seed=8).log_softmax(-1)
    fixed = infer_local(r, expected, graph, 500, 1e-12, start)
    found = infer_unrolled(r, expected, graph, 300, start)
    torch.testing.assert_close(found.log_z, fixed.log_z, rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(found.eta_x, fixed.eta_x)

    def value(first: torch.Tensor) -> torch.Tensor:
        return infer_unrolled(torch.cat([first, r[..., 2:]], -1), expected, graph, 4, start).log_z

    assert torch.autograd.gradcheck(value, (r[..., :2].clone().requires_grad_(),))
