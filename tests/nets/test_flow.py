"""NICE: a bijection whose Jacobian has determinant 1."""

import pytest
import torch

from semicrowd.nets.mlp import NICE
from semicrowd.random import torch_stream


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


def test_the_whole_flow_keeps_volumes() -> None:
    flow, y = trained(4).double(), torch.randn(1, 4, generator=torch_stream(2, "test"), dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda x: flow(x)[0, 0], y)[:, 0]
    assert torch.linalg.slogdet(jacobian)[1].abs() < 1e-12


def test_it_begins_as_the_identity_and_its_restarts_are_their_own() -> None:
    flow, y = NICE(3, 6, 16, [torch_stream(0, "test", r) for r in (0, 1)]), torch.randn(20, 3)
    assert torch.equal(flow(y), y.expand(2, 20, 3))
    weights = flow.nets[0].hidden[0].weight  # type: ignore[index, union-attr]
    assert not torch.equal(weights[0], weights[1])
