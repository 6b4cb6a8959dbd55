"""Counts between annotated items by annotator and answer, against loops over the answers."""

import numpy as np
import torch

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.random import stream, torch_stream


def _pairs() -> PairAnnotations:
    rng = stream(0, "test")
    i = rng.integers(8, size=25)
    worker = np.concatenate([np.arange(3), rng.integers(3, size=22)])
    return PairAnnotations.from_arrays(i, rng.integers(i + 1, 9), worker, rng.integers(2, size=25), num_items=9)


def test_agreement_is_counted_by_annotator_and_answer() -> None:
    pairs = _pairs()
    graph = pairs.index.graph
    draws = torch.randn(2, 3, len(graph.items), 4, generator=torch_stream(0, "eta"), dtype=torch.float64)
    eta = (2 * draws).softmax(-1)
    position = {int(item): k for k, item in enumerate(graph.items)}
    expected = torch.zeros(2, 3, 3, 2, dtype=torch.float64)
    counts = torch.zeros(3, 2, dtype=torch.float64)
    for i, j, m, a in zip(pairs.i, pairs.j, pairs.worker, pairs.label, strict=True):
        expected[:, :, m, a] += (eta[:, :, position[int(i)]] * eta[:, :, position[int(j)]]).sum(-1)
        counts[m, a] += 1
    torch.testing.assert_close(graph.agreement(eta)[0], expected)
    assert graph.counts.tolist() == counts.tolist()


def test_the_pull_is_the_derivative_of_the_weighted_agreement() -> None:
    graph = _pairs().index.graph
    generator = torch_stream(1, "eta")
    eta, step = (torch.randn(2, 3, len(graph.items), 4, generator=generator, dtype=torch.float64) for _ in range(2))
    weight = torch.randn(2, 3, 3, 2, generator=generator, dtype=torch.float64)
    agreement, neighbours = graph.agreement(eta)
    # The agreement is a quadratic form: central differences are exact.
    ahead, behind = ((weight * graph.agreement(eta + h * step)[0]).sum() for h in (0.5, -0.5))
    torch.testing.assert_close((graph.pull(neighbours, weight) * step).sum(), ahead - behind)
    assert agreement.shape == weight.shape
