"""A step of networks that learn from answers: its gradient against differences of the bound."""

import numpy as np
import pytest
import torch
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.inference.mcvc import Prior, bound, initial_experts, update
from semicrowd.nets.mlp import MLP, squared_weights
from semicrowd.random import stream, torch_stream
from semicrowd.starts.answer_classifier import AnswerNetworks, cosine

PRIOR = Prior(torch.tensor([9.0, 0.0], dtype=torch.float64), torch.tensor([0.0, 0.0], dtype=torch.float64))


@pytest.mark.parametrize("counted", [None, torch.tensor([True, False])])
def test_gradient_by_the_weights(counted: Tensor | None) -> None:
    rng = stream(0, "test")
    i = rng.integers(6, size=20)
    worker = np.arange(20) % 3
    pairs = PairAnnotations.from_arrays(i, rng.integers(i + 1, 7), worker, rng.integers(2, size=20), num_items=7)
    graph = pairs.index.graph
    features = torch.randn(len(graph.items), 2, generator=torch_stream(0, "x"), dtype=torch.float64)
    net = MLP(2, (3,), (3,), [torch_stream(0, "net", r) for r in range(4)], linear_skip=False).double()

    def probabilities() -> Tensor:
        return net(features)[0].softmax(-1).unflatten(0, (2, 2))

    view = torch.randn(2, 3, 2, generator=torch_stream(0, "view"), dtype=torch.float64).softmax(-1)
    experts = update(initial_experts(view, PRIOR), graph.agreement(probabilities().detach())[0], graph.counts, PRIOR)
    fit = AnswerNetworks(net, experts, PRIOR, graph)
    agreement = fit.step(probabilities(), 0.0, held=True, counted=counted)  # a step of no length
    torch.testing.assert_close(agreement, graph.agreement(probabilities().detach())[0])

    @torch.no_grad()
    def objective() -> float:
        squared = squared_weights(net).unflatten(0, (2, 2)).sum(-1)
        found = bound(fit.experts, graph.agreement(probabilities())[0], graph.counts, PRIOR, squared)
        # A restart that does not count is held near 0 by its prior alone.
        return float((found if counted is None else torch.where(counted, found, -0.5 * squared)).sum())

    step = 1e-5
    for parameter in net.parameters():
        assert parameter.grad is not None
        flat, gradient = parameter.data.view(-1), parameter.grad.view(-1)
        for k in range(len(flat)):
            flat[k] += step
            up = objective()
            flat[k] -= 2 * step
            down = objective()
            flat[k] += step
            assert -gradient[k].item() == pytest.approx((up - down) / (2 * step), abs=1e-6)


def test_rates_fall_along_a_cosine() -> None:
    assert [cosine(0.2, step, 4) for step in (0, 2, 4)] == pytest.approx([0.2, 0.1, 0])
    assert cosine(1.0, 1, 4) == pytest.approx(0.5 + 2**-1.5)
