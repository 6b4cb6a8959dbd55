"""Networks with a restart axis, against one restart at a time and against plain torch; in bfloat16; by settings."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
import torch
from tests.made import generators, shaken
from tests.small_fits import parameters
from torch import Tensor, nn
from torch.distributions import Independent, Normal

from semicrowd.errors import UserError
from semicrowd.expfam import gaussian
from semicrowd.nets.build import WIDTH, NetBuilder
from semicrowd.nets.classifier import Classifier, ClusterEncoder
from semicrowd.nets.conv import ConvBody, ConvNet
from semicrowd.nets.decoder import GaussianDecoder, Recognition
from semicrowd.nets.mlp import MLP, NICE, RestartLinear, set_precision
from semicrowd.nets.resnet import NineLayerBody, ResidualBody, ResidualDecoder
from semicrowd.random import torch_stream

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
        (lambda g: ConvNet(ConvBody((9, 8), (3, 4), 1, g), (6,), (2, 5), g), 72),
        (lambda g: ConvNet(ConvBody((9, 8), (3, 4), 1, g), (6,), (2, 5), g, linear_skip=False), 72),
        (lambda g: ConvNet(ResidualBody((3, 9, 8), (2, 3), 2, g), (4,), (2, 3), g), 3 * 9 * 8),
        (lambda g: ResidualDecoder((3, 9, 8), (2, 3), 2, d, 2, g), d),
    ],
)
def test_restarts_in_one_network_are_as_many_single_networks(
    build: Callable[[Sequence[torch.Generator]], nn.Module], width: int
) -> None:
    net = build(generators(1, 2, 3))
    drawn = torch.randn(4, 8, width, generator=torch.Generator().manual_seed(5))
    for items in (drawn[0], drawn[1:]):  # shared by the restarts, and of each its own
        together = net(items)
        for r, seed in enumerate((1, 2, 3)):
            alone = build(generators(seed))(items if items.dim() == 2 else items[r])
            pairs = [(together, alone)] if isinstance(together, Tensor) else list(zip(together, alone, strict=True))
            for one, other in pairs:
                torch.testing.assert_close(one[r], other[0], atol=1e-5, rtol=1e-5)


def test_an_mlp_is_what_torch_computes_layer_by_layer() -> None:
    net = shaken(MLP(D, (5, 7), (2, 3), generators(1, 2)))
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
                expected = expected + items[r] @ net.skip[r]
            torch.testing.assert_close(outputs[index][r], expected, atol=1e-5, rtol=1e-5)


def test_the_skip_starts_as_a_partial_isometry() -> None:
    wide, narrow = MLP(D, (5,), (2,), generators(1)).skip, MLP(2, (5,), (D,), generators(1)).skip
    torch.testing.assert_close(wide[0].T @ wide[0], torch.eye(2), atol=1e-5, rtol=0)
    torch.testing.assert_close(narrow[0] @ narrow[0].T, torch.eye(2), atol=1e-5, rtol=0)


def test_recognition_potentials_are_natural_parameters_of_its_gaussian() -> None:
    net = shaken(Recognition(MLP(D, (5, 7), (d, d), generators(1, 2))))
    items = torch.randn(8, D, generator=torch.Generator().manual_seed(5))
    mean, variance = net(items)
    back_mean, back_covariance = gaussian.to_standard(net.potentials(items))
    torch.testing.assert_close(back_mean, mean, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(back_covariance, variance.diag_embed(), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("log_sd", [False, True])
def test_the_cluster_encoder_is_an_mlp_of_the_item_and_its_one_hot_cluster(log_sd: bool) -> None:
    net = shaken(ClusterEncoder(D, (5, 7), d, K, generators(1, 2), log_sd=log_sd))
    features = torch.randn(8, D, generator=torch.Generator().manual_seed(5))
    items = torch.randint(8, (20,), generator=torch.Generator().manual_seed(6))
    clusters = torch.randint(K, (2, 20), generator=torch.Generator().manual_seed(7))
    mean, variance = net(features, items, clusters)
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
            usual = nn.functional.softplus(heads[1] + torch.tensor(0.1).expm1().log())  # .1 where the head is 0
            torch.testing.assert_close(variance[r, t], (2 * heads[1]).exp() if log_sd else usual, atol=2e-4, rtol=1e-4)


def test_log_likelihoods_are_those_of_torch_distributions() -> None:
    x = torch.randn(2, 8, d, generator=torch.Generator().manual_seed(5))
    normal = shaken(GaussianDecoder(MLP(d, (5, 7), (D, D), generators(1, 2))))
    observed = torch.randn(8, D, generator=torch.Generator().manual_seed(6))
    mean, raw = normal.net(x)
    variance = nn.functional.softplus(raw + torch.tensor(0.1).expm1().log()) + 1e-4
    expected = Independent(Normal(mean, variance.sqrt()), 1).log_prob(observed)
    torch.testing.assert_close(normal.log_likelihood(x, observed), expected, atol=1e-3, rtol=1e-4)
    torch.testing.assert_close(normal.mean(x), mean)


OfPrecision = Callable[[nn.Module], Tensor]


def _outputs(net: nn.Module, width: int = 50) -> Tensor:
    return torch.cat(net(torch.rand(64, width, generator=torch.Generator().manual_seed(5))), -1)


def _of_pairs(net: nn.Module) -> Tensor:
    """Many pairs of one item and of one cluster: sums of their gradients go on growing."""
    clusters = (torch.arange(8000) // 4).expand(2, -1) % K
    items = torch.randn(4, D, generator=torch.Generator().manual_seed(5))
    return torch.cat(net(items, torch.arange(8000) % 4, clusters), -1)


@pytest.mark.parametrize(
    ("build", "evaluate", "most"),
    [
        (lambda: MLP(50, (40, 30), (4, 5), generators(1)), _outputs, 0.015),  # a few roundings of at most 2⁻⁹ each
        (lambda: MLP(50, (40, 30), (4, 5), generators(1, 2), linear_skip=False), _outputs, 0.015),
        (lambda: ConvNet(ConvBody((28, 28), (16, 32), 1, generators(1, 2)), (128,), (8, 8), generators(3, 4)),
         partial(_outputs, width=784), 0.02),
        (lambda: shaken(ClusterEncoder(D, (50, 70), d, K, generators(1, 2))), _of_pairs, 0.04),
    ],
)  # fmt: skip
def test_bfloat16_is_near_float32_which_outputs_parameters_and_gradients_have(
    build: Callable[[], nn.Module], evaluate: OfPrecision, most: float
) -> None:
    net, other, results = build(), build(), []
    for precision in ("float32", "bfloat16"):
        set_precision(net, precision)
        net.zero_grad()
        outputs = evaluate(net)
        outputs.square().sum().backward()
        gradients = [parameter.grad for parameter in net.parameters() if parameter.grad is not None]
        assert {one.dtype for one in (outputs, *gradients, *net.parameters())} == {torch.float32}
        results.append((outputs.detach(), torch.cat([gradient.flatten() for gradient in gradients])))
    for exact, rounded in zip(*results, strict=True):
        assert 0 < (rounded - exact).norm() / exact.norm() < most
    torch.testing.assert_close(evaluate(other), results[0][0], atol=0, rtol=0)  # another network stays as it is
    set_precision(net, "float32")
    torch.testing.assert_close(evaluate(net), results[0][0], atol=0, rtol=0)


@pytest.mark.parametrize("native", [True, False])
def test_auto_takes_bfloat16_where_the_machine_has_instructions_for_it(
    monkeypatch: pytest.MonkeyPatch, native: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True, "avx512_bf16": native})
    net = nn.ModuleList([RestartLinear(3, 2, generators(1))])
    set_precision(net, "auto")
    assert net[0](torch.ones(4, 3)).dtype == (torch.bfloat16 if native else torch.float32)


MODEL: dict[str, Any] = {"latent_dim": 3, "hidden": (5, 7)}


def test_the_sizes_of_convolutions_are_their_parameters() -> None:
    params = parameters("bayes", **MODEL, architecture="conv", channels=(3, 4, 5), blocks=2)
    net = NetBuilder(params, 784, (28, 28), generators(1)).recognition().net
    assert isinstance(net, ConvNet)
    assert isinstance(net.body, ConvBody)
    assert [next(layer.parameters()).shape[1] for layer in net.body.down] == [3, 4, 5]
    assert len(net.body.blocks) == 2
    assert WIDTH in {size for parameter in net.parameters() for size in parameter.shape}


@pytest.mark.parametrize("shape", [None, (30, 28)])
def test_what_is_no_image_has_no_convolutions(shape: tuple[int, int] | None) -> None:
    with pytest.raises(UserError, match="architecture=conv"):
        NetBuilder(parameters("bayes", **MODEL, architecture="conv"), 784, shape, generators(1))


def trained(dim: int, layers: int = 6, restarts: int = 1) -> NICE:
    """With networks that are no longer 0."""
    flow = NICE(dim, layers, 512, [torch_stream(0, "test", r) for r in range(restarts)])
    for net in flow.nets:
        torch.nn.init.normal_(net.heads[0].weight, std=0.02, generator=torch_stream(1, "test"))  # type: ignore[index, union-attr]
    return flow


@pytest.mark.parametrize(("dim", "layers"), [(2, 6), (3, 5), (10, 6)])
@torch.no_grad()
def test_the_inverse_undoes_the_flow(dim: int, layers: int) -> None:
    flow, y = trained(dim, layers, restarts=2), torch.randn(500, dim, generator=torch_stream(2, "test"))
    z = flow(y)
    assert z.shape == (2, 500, dim)
    assert (z - y).abs().max() > 0.3
    assert (flow.inverse(z) - y).abs().max() <= 1e-5
    assert (flow(flow.inverse(y)) - y).abs().max() <= 1e-5


@pytest.mark.parametrize("dim", [2, 5])
def test_a_layer_is_triangular_with_ones(dim: int) -> None:
    """So that ln |det| of any number of them is 0, without rounding."""
    layer, y = trained(dim, layers=1), torch.randn(1, dim, generator=torch_stream(2, "test"))
    jacobian = torch.autograd.functional.jacobian(lambda x: layer(x)[0, 0], y)[:, 0]
    assert torch.equal(jacobian.diagonal(), torch.ones(dim))
    assert torch.equal(jacobian.triu(1), torch.zeros(dim, dim))
    assert jacobian.tril(-1).abs().max() > 1e-3


def test_it_begins_as_the_identity_and_its_restarts_are_their_own() -> None:
    flow, y = NICE(3, 6, 16, [torch_stream(0, "test", r) for r in (0, 1)]), torch.randn(20, 3)
    assert torch.equal(flow(y), y.expand(2, 20, 3))
    weights = flow.nets[0].hidden[0].weight  # type: ignore[index, union-attr]
    assert not torch.equal(weights[0], weights[1])
