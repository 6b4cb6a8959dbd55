"""Steps in pieces that fit in memory are the whole steps, up to rounding; the memory is what the budget says."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from tests.small_fits import SmallFit, small_fit
from torch import Tensor, nn

from semicrowd.crowd.simulate import tasks
from semicrowd.nets.pieces import Pieces, saved_bytes
from semicrowd.random import torch_stream

N, SIDE, K = 96, 6, 5
IMAGES = np.random.default_rng(0).random((N, SIDE * SIDE)).astype(np.float32)
LABELS, RNG = np.arange(N) % 3, np.random.default_rng(0)
ANSWERS = tasks(LABELS, RNG, num_annotators=3, num_tasks=4, task_size=6, num_annotated=24)
NETS: dict[str, dict[str, Any]] = {
    "mlp": {}, "conv": {"architecture": "conv", "channels": (3, 2)},
    "resnet": {"architecture": "resnet", "channels": (3, 2)},
}  # fmt: skip


def new(name: str, nets: str, **settings: Any) -> SmallFit[Any]:
    made = small_fit(
        name, IMAGES, ANSWERS, n_clusters=K, hidden=(7, 6), **NETS[nets], image_shape=(SIDE, SIDE), restarts=2,
        batch_size=40, **settings,
    )  # fmt: skip
    made.model.double()
    return made


def step(made: SmallFit[Any]) -> tuple[Tensor, list[Tensor]]:
    """The bound of a step, and its gradient by autograd."""
    [batch, *_] = made.batches()
    noise, features = torch_stream(0, "noise"), made.features[batch.items].double()
    found = made.model.bound(features, batch.weight.double(), noise, N, batch.relational)
    made.model.zero_grad()
    found.elbo.sum().backward()
    return found.elbo.detach(), [parameter.grad.clone() for parameter in made.model.parameters()]


@cache
def whole_step(name: str, nets: str) -> tuple[Tensor, list[Tensor]]:
    """A step that is not divided."""
    return step(new(name, nets))


@pytest.mark.parametrize("budget", [1, 20_000, 200_000])
@pytest.mark.parametrize("nets", NETS)
@pytest.mark.parametrize("name", ["bayes", "scdc"])
def test_a_step_in_pieces_is_the_whole_step(name: str, nets: str, budget: int) -> None:
    pieces = new(name, nets)
    pieces.model.in_pieces.budget = budget
    (bound, gradients), (other, others) = whole_step(name, nets), step(pieces)
    torch.testing.assert_close(other, bound, rtol=1e-10, atol=0)
    for one, two in zip(gradients, others, strict=True):
        torch.testing.assert_close(two, one, rtol=0, atol=1e-9 * max(1.0, float(one.abs().max())))


def test_memory_kept_at_once_stays_in_the_budget() -> None:
    """Of every piece, in the forward pass and again in the backward pass, by autograd's own hooks."""
    net = nn.Sequential(*(nn.Linear(50, 50), nn.Tanh()) * 4)
    rows, budget = torch.randn(4096, 50, generator=torch.Generator().manual_seed(0)), 400_000
    seen: list[int] = []

    def function(part: slice) -> tuple[Tensor, ...]:
        seen.append(part.stop - part.start)
        return (net(rows[part]).sum(-1)[None],)

    Pieces(budget)("net", function, len(rows))[0].sum().backward()
    forward, backward = seen[2 : (n := 1 + len(seen) // 2)], seen[n:]  # the first two measure a row
    assert forward == backward[::-1]
    assert len(forward) > 5
    without = saved_bytes(function, 0)
    sizes = [saved_bytes(function, size) - without for size in forward]
    assert max(sizes) <= budget < 2 * max(sizes)


@pytest.mark.parametrize("num_rows", [5, 6, 7, 64, 95, 96, 97, 200])
@pytest.mark.parametrize("fitting", [1, 3, 40])
def test_pieces_are_all_rows_once_in_their_order_and_none_is_a_single_row(num_rows: int, fitting: int) -> None:
    seen: list[int] = []
    rows, weight = torch.arange(num_rows, dtype=torch.float32), torch.ones((), requires_grad=True)

    def function(part: slice) -> tuple[Tensor, ...]:
        seen.append(part.stop - part.start)
        return ((0 * (rows[part] * weight).tanh() + rows[part])[None],)

    pieces = Pieces(budget=4 * fitting)
    with torch.no_grad():
        (found,) = pieces("one", function, num_rows)
    assert torch.equal(found[0], rows)
    assert min(seen) >= 2
