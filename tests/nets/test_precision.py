"""Networks computed in bfloat16."""

import pytest
import torch
from torch import nn

from semicrowd.nets.classifier import ClusterEncoder
from semicrowd.nets.decoder import BernoulliDecoder
from semicrowd.nets.mlp import MLP, RestartLinear, set_precision

from .conftest import generators


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
def test_bfloat16_outputs_are_float32_and_close(seeds: tuple[int, ...], skip: bool) -> None:
    net = MLP(50, (40, 30), (4, 5), generators(*seeds), skip)
    items = torch.randn(64, 50, generator=torch.Generator().manual_seed(5))
    exact = torch.cat(net(items), -1)
    set_precision(net, "bfloat16")
    rounded = torch.cat(net(items), -1)
    assert rounded.dtype == torch.float32
    assert 0 < (rounded - exact).norm() / exact.norm() < 0.01  # a few roundings of at most 2⁻⁹ each
    set_precision(net, "float32")
    torch.testing.assert_close(torch.cat(net(items), -1), exact, atol=0, rtol=0)


def test_likelihoods_and_encoders_of_bfloat16_networks_are_float32() -> None:
    decoder = BernoulliDecoder(MLP(3, (5,), (6,), generators(1, 2)))
    encoder = ClusterEncoder(6, (5, 7), 3, 4, generators(1, 2))
    for net in (decoder, encoder):
        set_precision(net, "bfloat16")
    pixels, x = (torch.rand(shape, generator=torch.Generator().manual_seed(5)) for shape in ((8, 6), (2, 8, 3)))
    mean, variance = encoder(pixels)
    assert {mean.dtype, variance.dtype, decoder.log_likelihood(x, pixels).dtype} == {torch.float32}


def test_parameters_and_their_gradients_stay_float32() -> None:
    net = MLP(5, (4,), (3,), generators(1, 2))
    set_precision(net, "bfloat16")
    net(torch.randn(8, 5, generator=torch.Generator().manual_seed(5)))[0].sum().backward()
    for parameter in net.parameters():
        assert parameter.dtype == torch.float32
        assert parameter.grad is not None
        assert parameter.grad.dtype == torch.float32


@pytest.mark.parametrize("native", [True, False])
def test_auto_takes_bfloat16_where_the_machine_has_instructions_for_it(
    monkeypatch: pytest.MonkeyPatch, native: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True, "avx512_bf16": native})
    net = nn.ModuleList([RestartLinear(3, 2, generators(1))])
    set_precision(net, "auto")
    assert net[0](torch.ones(4, 3)).dtype == (torch.bfloat16 if native else torch.float32)


def test_only_networks_of_the_module_change() -> None:
    one, other = (nn.ModuleList([RestartLinear(3, 2, generators(1))]) for _ in range(2))
    set_precision(one, "bfloat16")
    items = torch.randn(4, 3, generator=torch.Generator().manual_seed(5))
    assert [net[0](items).dtype for net in (one, other)] == [torch.bfloat16, torch.float32]
