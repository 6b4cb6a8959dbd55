"""Observation models as probability densities, and the variance that networks start with."""

import numpy as np
import pytest
import torch
from scipy.stats import logistic
from tests.made import generators
from torch import nn

from semicrowd.nets.classifier import ClusterEncoder
from semicrowd.nets.decoder import (
    INITIAL_VARIANCE,
    MIN_VARIANCE,
    BernoulliDecoder,
    LogisticDecoder,
    Recognition,
    positive,
)
from semicrowd.nets.mlp import MLP, RestartLinear


def test_grey_pixels_have_their_cross_entropy() -> None:
    decoder = BernoulliDecoder(MLP(2, (5,), (6,), generators(1)))
    x = 30 * torch.randn(1, 9, 2, generator=torch.Generator().manual_seed(0))  # logits far out, too
    grey = torch.rand(9, 6, generator=torch.Generator().manual_seed(1))
    loss = nn.functional.binary_cross_entropy_with_logits(decoder.net(x)[0][0], grey, reduction="none").sum(-1)
    torch.testing.assert_close(decoder.log_likelihood(x, grey)[0], -loss, rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(decoder.mean(x), decoder.net(x)[0].sigmoid())


def test_networks_without_a_signal_have_the_variance_of_untrained_ones() -> None:
    """All but the raw variance's zero bias is taken away: what is left is the constant itself."""
    net = MLP(4, (5, 7), (3, 3), generators(1, 2))
    recognition = Recognition(net)
    encoder = ClusterEncoder(4, (5, 7), 3, 6, generators(1, 2))
    with torch.no_grad():
        for each in (net, encoder.rest):
            list(each.heads.parameters())[2].zero_()  # weight and bias of the mean's head come first
    items = torch.randn(8, 4, generator=generators(3)[0])
    expected = INITIAL_VARIANCE + MIN_VARIANCE
    for _, variance in (recognition(items), encoder(items, torch.arange(8), torch.zeros(2, 8, dtype=torch.long))):
        torch.testing.assert_close(variance, torch.full_like(variance, expected))


def _logistic() -> tuple[LogisticDecoder, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A decoder of one feature, one x for every step from 0 to 255, and the logistic's location and scale there."""
    decoder = LogisticDecoder(MLP(2, (5,), (1, 1), generators(1)))
    x = torch.tensor([[[0.3, -0.2]]]).expand(1, 256, 2)
    location, raw = (head[0].double().flatten() for head in decoder.net(x))
    return decoder, x, location, (3 * positive(raw)).sqrt() / torch.pi


def test_the_256_steps_of_a_discretised_logistic_add_up_to_one() -> None:
    decoder, x, location, scale = _logistic()
    steps = torch.arange(256)[:, None] / 255
    found = decoder.log_likelihood(x, steps)[0].double()
    assert found.exp().sum().item() == pytest.approx(1, abs=1e-5)
    at = steps.flatten().double()
    above, below = (logistic(location.detach(), scale.detach()).cdf(at + half) for half in (0.5 / 255, -0.5 / 255))
    above[-1], below[0] = 1.0, 0.0
    np.testing.assert_allclose(found.detach().exp(), above - below, rtol=1e-3, atol=1e-9)


def test_far_out_steps_have_a_finite_likelihood_and_a_gradient() -> None:
    decoder, x, *_ = _logistic()
    with torch.no_grad():
        net = decoder.net
        assert isinstance(net, MLP)
        for head in net.heads:
            assert isinstance(head, RestartLinear)
            head.bias.fill_(-20.0)  # the location far below 0, the scale as small as it can be
    total = decoder.log_likelihood(x, torch.rand(256, 1)).sum()
    total.backward()
    assert total.isfinite()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in decoder.parameters())
