"""MCVC's bound against loops and quadrature, against the exact evidence of a tiny case, and by its derivatives."""

from itertools import product

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.special import betaln, digamma, logsumexp
from scipy.stats import beta as beta_law
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.batch import AnswerGraph
from semicrowd.inference.mcvc import Experts, Prior, bound, initial_experts, update, used_views
from semicrowd.random import stream, torch_stream

PRIOR = Prior(torch.tensor([9.0, 0.0], dtype=torch.float64), torch.tensor([0.0, 0.0], dtype=torch.float64))


def _pairs(num_items: int, num_annotators: int, num_pairs: int, seed: int) -> PairAnnotations:
    rng = stream(seed, "test")
    i = rng.integers(num_items - 1, size=num_pairs)
    j = rng.integers(i + 1, num_items)
    worker = np.concatenate([np.arange(num_annotators), rng.integers(num_annotators, size=num_pairs - num_annotators)])
    return PairAnnotations.from_arrays(i, j, worker, rng.integers(2, size=num_pairs), num_items=num_items)


def _eta(shape: tuple[int, ...], seed: int) -> Tensor:
    return (2 * torch.randn(shape, generator=torch_stream(seed, "eta"), dtype=torch.float64)).softmax(-1)


def _view(shape: tuple[int, ...], seed: int) -> Tensor:
    return torch.randn(shape, generator=torch_stream(seed, "view"), dtype=torch.float64).softmax(-1)


def _kl_by_quadrature(q: np.ndarray, p: np.ndarray) -> float:
    """KL of Beta distributions given by their shape parameters."""
    one, other = beta_law(*q), beta_law(*p)
    return float(quad(lambda x: one.pdf(x) * (one.logpdf(x) - other.logpdf(x)), 0, 1, epsabs=1e-11, limit=200)[0])


def _bound_by_loops(pairs: PairAnnotations, graph: AnswerGraph, eta: np.ndarray, experts: Experts, r: int) -> float:
    """The bound of restart r, answer by answer, without the weights' term."""
    alpha, beta, sticks = ((x[r] + 1).numpy() for x in experts[:3])
    view = experts.view[r].numpy()
    position = {int(item): k for k, item in enumerate(graph.items)}
    total = 0.0
    for i, j, m, label in zip(pairs.i, pairs.j, pairs.worker, pairs.label, strict=True):
        for g in range(view.shape[1]):
            same = eta[r, g, position[int(i)]] @ eta[r, g, position[int(j)]]
            if_same = digamma(alpha[m, 0 if label else 1]) - digamma(alpha[m].sum())
            if_different = digamma(beta[m, 1 if label else 0]) - digamma(beta[m].sum())
            total += view[m, g] * (same * if_same + (1 - same) * if_different)
    for shapes in (*alpha, *beta):
        total -= _kl_by_quadrature(shapes, np.array([10.0, 1.0]))
    for shapes in sticks:
        total -= _kl_by_quadrature(shapes, np.array([1.0, 1.0]))
    for m, g in np.ndindex(*view.shape):
        log_prior = sum(digamma(sticks[h, 1]) - digamma(sticks[h].sum()) for h in range(min(g, len(sticks))))
        if g < len(sticks):
            log_prior += digamma(sticks[g, 0]) - digamma(sticks[g].sum())
        total += view[m, g] * (log_prior - np.log(view[m, g]))
    return total


@pytest.mark.parametrize("views", [1, 3])
def test_bound_by_loops(views: int) -> None:
    pairs = _pairs(6, 4, 20, 1)
    graph = pairs.index.graph
    eta = _eta((2, views, len(graph.items), 3), 1)
    agreement = graph.agreement(eta)[0]
    # Away from the optimum as well: the state after one update, the annotators' views changed since.
    experts = update(initial_experts(_view((2, 4, views), 1), PRIOR), agreement, graph.counts, PRIOR)
    experts = experts._replace(view=_view((2, 4, views), 2))
    squared = torch.tensor([3.0, 5.0], dtype=torch.float64)
    found = bound(experts, agreement, graph.counts, PRIOR, squared)
    expected = [_bound_by_loops(pairs, graph, eta.numpy(), experts, r) - squared[r].item() / 2 for r in range(2)]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-8)


def _log_evidence(pairs: PairAnnotations, graph: AnswerGraph, eta: np.ndarray) -> float:
    """ln p(answers) given η [G, n, K]: a sum over all clusterings of all views and all views of all annotators."""
    views, n, k = eta.shape
    i, j = np.searchsorted(graph.items, pairs.i), np.searchsorted(graph.items, pairs.j)
    terms = []
    for choice in product(range(views), repeat=pairs.num_annotators):
        # The sticks integrated out, Beta(1, 1) each.
        log_choice = 0.0
        for g in range(views - 1):
            here, later = choice.count(g), sum(c > g for c in choice)
            log_choice += betaln(1 + here, 1 + later) - betaln(1, 1)
        for z in product(product(range(k), repeat=n), repeat=views):
            clusters = np.array(z)
            value = log_choice + np.log(np.take_along_axis(eta, clusters[..., None], -1)).sum()
            same = clusters[np.array(choice)[pairs.worker], i] == clusters[np.array(choice)[pairs.worker], j]
            for m in range(pairs.num_annotators):
                mine = pairs.worker == m
                for relation, right in ((same, 1), (~same, 0)):
                    hits = np.sum(mine & relation & (pairs.label == right))
                    misses = np.sum(mine & relation & (pairs.label != right))
                    value += betaln(10 + hits, 1 + misses) - betaln(10, 1)
            terms.append(value)
    return float(logsumexp(terms))


def _optimum(graph: AnswerGraph, eta: Tensor, num_annotators: int) -> Tensor:
    agreement = graph.agreement(eta[None])[0]
    experts = initial_experts(_view((1, num_annotators, len(eta)), 3), PRIOR)
    for _ in range(200):
        experts = update(experts, agreement, graph.counts, PRIOR)
    return bound(experts, agreement, graph.counts, PRIOR, torch.zeros(1, dtype=torch.float64))


@pytest.mark.parametrize("seed", range(3))
def test_bound_is_below_the_evidence(seed: int) -> None:
    pairs = _pairs(4, 2, 6, seed)
    graph = pairs.index.graph
    eta = _eta((2, len(graph.items), 2), seed)
    assert _optimum(graph, eta, 2).item() < _log_evidence(pairs, graph, eta.numpy())


def test_bound_is_the_evidence_where_nothing_is_approximated() -> None:
    # One view, certain clusters: the posterior of the annotators factorises, so that q can be exact.
    pairs = _pairs(4, 2, 12, 5)
    graph = pairs.index.graph
    eta = torch.nn.functional.one_hot(torch.tensor([[0, 1, 0, 0]]), 2).double()
    with np.errstate(divide="ignore"):
        expected = _log_evidence(pairs, graph, eta.numpy())
    assert _optimum(graph, eta, 2).item() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_updates_never_lower_the_bound(seed: int) -> None:
    pairs = _pairs(12, 5, 60, seed)
    graph = pairs.index.graph
    agreement = graph.agreement(_eta((3, 4, len(graph.items), 3), seed))[0]
    zero = torch.zeros(3, dtype=torch.float64)
    experts = initial_experts(_view((3, 5, 4), seed), PRIOR)
    last = bound(experts, agreement, graph.counts, PRIOR, zero)
    for _ in range(30):
        experts = update(experts, agreement, graph.counts, PRIOR)
        now = bound(experts, agreement, graph.counts, PRIOR, zero)
        assert (now >= last - 1e-9).all()
        last = now


def test_views_that_nobody_uses_are_dropped() -> None:
    view = torch.tensor(
        [[[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]], [[0.0, 0.4, 0.0, 0.6], [0.0, 0.5, 0.0, 0.5]]],
        dtype=torch.float64,
    )
    experts = initial_experts(view, PRIOR)
    assert used_views(experts)[:, 0].tolist() == [2, 3]
    assert used_views(experts).shape == (2, 2)
    assert used_views(experts)[1].tolist() == [3, 1]
