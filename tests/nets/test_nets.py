"""Networks with a restart axis, against one restart at a time and against plain torch."""

from collections.abc import Callable, Sequence

import pytest
import torch
from tests.made import shaken
from torch import Tensor, nn
from torch.distributions import Bernoulli, Independent, Normal

from semicrowd.errors import UserError
from semicrowd.expfam import gaussian
from semicrowd.nets.classifier import Classifier, ClusterEncoder
from semicrowd.nets.conv import ConvNet
from semicrowd.nets.decoder import BernoulliDecoder, GaussianDecoder, Recognition
from semicrowd.nets.mlp import MLP, RestartLinear, set_precision
from semicrowd.nets.resnet import NineLayerBody, ResidualBody, ResidualDecoder
from semicrowd.settings.model import NetSettings

from .conftest import generators

D, d, K = 6, 3, 4


@pytest.mark.parametrize(
    ("build", "width"),
    [
        (lambda g: MLP(D, (5, 7), (2, 3), g), D),
        (lambda g: MLP(D, (5, 7), (2, 3), g, linear_skip=False), D),
        (lambda g: Recognition(MLP(D, (5, 7), (d, d), g)), D),
        (lambda g: Classifier(D, (5, 7), K, g), D),
        (lambda g: ClusterEncoder(D, (5, 7), d, K, g), D),
        (lambda g: Classifier(216, (), K, g, body=NineLayerBody((3, 9, 8), 2, g)), 3 * 9 * 8),
        (lambda g: ConvNet(ResidualBody((3, 9, 8), (2, 3), 2, g), (4,), (2, 3), g), 3 * 9 * 8),
        (lambda g: ResidualDecoder((3, 9, 8), (2, 3), 2, d, 2, g), d),
    ],
)
def test_restarts_in_one_network_are_as_many_single_networks(
    build: Callable[[Sequence[torch.Generator]], nn.Module], width: int
) -> None:
    items = torch.randn(8, width, generator=torch.Generator().manual_seed(5))
    together = build(generators(1, 2, 3))(items)
    for r, seed in enumerate((1, 2, 3)):
        alone = build(generators(seed))(items)
        pairs = [(together, alone)] if isinstance(together, Tensor) else list(zip(together, alone, strict=True))
        for one, other in pairs:
            torch.testing.assert_close(one[r], other[0], atol=1e-5, rtol=1e-5)


def test_an_mlp_is_what_torch_computes_layer_by_layer() -> None:
    net = shaken(MLP(D, (5, 7), (2, 3), generators(1, 2)))
    assert isinstance(net, MLP)
    items = torch.randn(2, 8, D, generator=torch.Generator().manual_seed(5))
    outputs = net(items)
    for r in range(2):
        h = items[r]
        for layer in net.hidden:
            assert isinstance(layer, RestartLinear)
            h = nn.functional.linear(h, layer.weight[r].T, layer.bias[r]).relu()
        for index, head in enumerate(net.heads):
            assert isinstance(head, RestartLinear)
            expected = nn.functional.linear(h, head.weight[r].T, head.bias[r])
            if index == 0:
                assert net.skip is not None
                expected = expected + items[r] @ net.skip[r]
            torch.testing.assert_close(outputs[index][r], expected, atol=1e-5, rtol=1e-5)


def test_the_skip_starts_as_a_partial_isometry() -> None:
    wide, narrow = MLP(D, (5,), (2,), generators(1)).skip, MLP(2, (5,), (D,), generators(1)).skip
    assert wide is not None
    assert narrow is not None
    torch.testing.assert_close(wide[0].T @ wide[0], torch.eye(2), atol=1e-5, rtol=0)
    torch.testing.assert_close(narrow[0] @ narrow[0].T, torch.eye(2), atol=1e-5, rtol=0)


@pytest.mark.parametrize("initial", [0.03, 0.1, 1.0])
def test_untrained_networks_have_about_the_initial_variance(initial: float) -> None:
    items = torch.randn(200, D, generator=torch.Generator().manual_seed(5))
    _, variance = Recognition(MLP(D, (40, 40), (d, d), generators(1), head_gain=0.1), initial)(items)
    assert variance.median().item() == pytest.approx(initial, rel=0.25)


def test_recognition_potentials_are_natural_parameters_of_its_gaussian() -> None:
    net = shaken(Recognition(MLP(D, (5, 7), (d, d), generators(1, 2))))
    items = torch.randn(8, D, generator=torch.Generator().manual_seed(5))
    mean, variance = net(items)
    assert isinstance(net, Recognition)
    back_mean, back_covariance = gaussian.to_standard(net.potentials(items))
    torch.testing.assert_close(back_mean, mean, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(back_covariance, variance.diag_embed(), atol=1e-4, rtol=1e-4)


def test_the_cluster_encoder_is_an_mlp_of_the_item_and_its_one_hot_cluster() -> None:
    net = shaken(ClusterEncoder(D, (5, 7), d, K, generators(1, 2)))
    assert isinstance(net, ClusterEncoder)
    features = torch.randn(8, D, generator=torch.Generator().manual_seed(5))
    items = torch.randint(8, (20,), generator=torch.Generator().manual_seed(6))
    clusters = torch.randint(K, (2, 20), generator=torch.Generator().manual_seed(7))
    mean, variance = net(features, items, clusters)
    assert net.skip is not None
    for r in range(2):
        first = torch.cat([net.first.weight[r], net.cluster[r]])
        for t in range(20):
            item = features[items[t]]
            joined = torch.cat([item, nn.functional.one_hot(clusters[r, t], K).float()])
            h = (joined @ first + net.first.bias[r]).relu()
            (second,) = (layer for layer in net.rest.hidden if isinstance(layer, RestartLinear))
            h = (h @ second.weight[r] + second.bias[r]).relu()
            heads = [h @ x.weight[r] + x.bias[r] for x in net.rest.heads if isinstance(x, RestartLinear)]
            expected = heads[0] + item @ net.skip.weight[r] + net.skip.bias[r]
            torch.testing.assert_close(mean[r, t], expected, atol=1e-5, rtol=1e-5)
            shifted = heads[1] + torch.tensor(0.1).expm1().log()  # softplus of it at 0 is .1
            softplus = nn.functional.softplus(shifted)
            torch.testing.assert_close(variance[r, t], softplus, atol=2e-4, rtol=1e-4)


def test_the_cluster_encoder_in_bfloat16_is_near_that_in_float32_and_returns_float32() -> None:
    features = torch.randn(4, D, generator=torch.Generator().manual_seed(5))
    items = torch.arange(8000) % 4  # many pairs of one item and of one cluster: sums of their gradients go on growing
    clusters = (torch.arange(8000) // 4).expand(2, -1) % K
    results = []
    for precision in ("float32", "bfloat16"):
        net = shaken(ClusterEncoder(D, (50, 70), d, K, generators(1, 2)))
        set_precision(net, precision)
        mean, variance = net(features, items, clusters)
        (mean.square().sum() + variance.sum()).backward()
        results.append([mean, variance, *(parameter.grad for parameter in net.parameters())])
    for exact, rounded in zip(*results, strict=True):
        assert rounded.dtype == torch.float32
        distance = (exact - rounded).norm() / exact.norm()
        assert 0 < distance < 0.04


def test_log_likelihoods_are_those_of_torch_distributions() -> None:
    x = torch.randn(2, 8, d, generator=torch.Generator().manual_seed(5))
    normal = shaken(GaussianDecoder(MLP(d, (5, 7), (D, D), generators(1, 2))))
    assert isinstance(normal, GaussianDecoder)
    observed = torch.randn(8, D, generator=torch.Generator().manual_seed(6))
    mean, raw = normal.net(x)
    variance = nn.functional.softplus(raw + torch.tensor(0.1).expm1().log()) + 1e-4
    expected = Independent(Normal(mean, variance.sqrt()), 1).log_prob(observed)
    torch.testing.assert_close(normal.log_likelihood(x, observed), expected, atol=1e-3, rtol=1e-4)
    torch.testing.assert_close(normal.mean(x), mean)

    bernoulli = shaken(BernoulliDecoder(MLP(d, (5, 7), (D,), generators(1, 2))))
    assert isinstance(bernoulli, BernoulliDecoder)
    pixels = (observed > 0).float()
    expected = Independent(Bernoulli(logits=bernoulli.net(x)[0]), 1).log_prob(pixels)
    torch.testing.assert_close(bernoulli.log_likelihood(x, pixels), expected, atol=1e-4, rtol=1e-4)


def test_a_residual_network_has_a_block_at_each_resolution() -> None:
    with pytest.raises(UserError, match=r"nets\.blocks=0: expected 1 at least with nets=resnet"):
        NetSettings(kind="resnet", blocks=0)
    assert NetSettings(kind="conv", blocks=0).blocks == 0
