"""Monte Carlo EM of a flow and a mixture."""

import numpy as np
import pytest
import torch
from torch.distributions import MultivariateNormal

from semicrowd.inference.gibbs.isotropic import isotropic
from semicrowd.models.deep_dpm import DeepMixture, energy, pushed
from semicrowd.nets.mlp import NICE
from semicrowd.random import stream, torch_stream

RNG = np.random.default_rng(0)
POINTS = np.concatenate([RNG.normal(size=(60, 2)) * [2.0, 0.3] - 3, RNG.normal(size=(60, 2)) * [0.3, 2.0] + 3])


def mixture() -> DeepMixture:
    flow = NICE(2, 4, 32, [torch_stream(0, "test")])
    found = DeepMixture(POINTS, flow, lambda z: isotropic(z, np.zeros(2), 0.01, 5.0, 5.0), 1e-2)
    found.chain.begin(np.arange(120) // 60)
    return found


def test_a_step_follows_the_gradient_of_eq_16() -> None:
    flow, y = NICE(2, 2, 8, [torch_stream(0, "test")]), torch.from_numpy(POINTS).float()
    cluster, mean, precision = torch.arange(120) % 2, torch.randn(2, 2), torch.tensor([0.5, 3.0])
    energy(flow(y)[0], mean, precision, cluster).mul(120).backward()
    found = [one.grad.clone() for one in flow.parameters() if one.grad is not None]
    flow.zero_grad()
    covariance = torch.eye(2) / precision[cluster, None, None]
    (-MultivariateNormal(mean[cluster], covariance).log_prob(flow(y)[0]).sum()).backward()
    for one, other in zip(found, (p.grad for p in flow.parameters()), strict=True):
        assert one.numpy() == pytest.approx(other.numpy(), rel=1e-3, abs=1e-3)  # type: ignore[union-attr]


def test_the_flow_makes_the_items_likelier_given_their_clusters() -> None:
    model = mixture()
    model.expectation([stream(0, "test", sweep) for sweep in range(5)])
    before = model.clusters().log_evidence()
    assert before == pytest.approx(model.chain.log_likelihood)
    model.maximisation(100, 64, torch_stream(0, "test"), stream(1, "test"))
    assert model.clusters().log_evidence() > before + 50
    assert pushed(model.flow, model.y) == pytest.approx(model.clusters().x)
    back = pushed(model.flow, torch.from_numpy(pushed(model.flow, model.y)).float(), inverse=True)
    assert back == pytest.approx(POINTS, abs=1e-4)


def test_no_steps_leave_all_as_it_is() -> None:
    model = mixture()
    model.expectation([stream(0, "test")])
    model.maximisation(0, 64, torch_stream(0, "test"), stream(1, "test"))
    assert pushed(model.flow, model.y) == pytest.approx(POINTS, abs=1e-6)
    assert model.log_likelihood == 0
