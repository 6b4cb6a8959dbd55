"""Evaluate networks in pieces of a step's rows if autograd would store too much for the whole step."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

#: Default budget: bytes that a network may store for one step.
BUDGET = 2 * 2**30
#: Numbers of rows of two trial evaluations, from which the memory per row is computed.
PROBE = (2, 4)
#: The number of rows of a piece is a multiple of this: on a CPU bfloat16 products compile a kernel for every new size.
STRIDE = 32
#: Fewest rows of a piece: with one image torch 2.13 computes a wrong gradient of grouped convolutions in float64.
LEAST = 2

#: Rows of some tensors, [R, b, ...] each, from a slice of rows.
OfRows = Callable[[slice], tuple[Tensor, ...]]


class Pieces:
    """Evaluates functions of rows (items, or pairs of item and cluster) on as many rows at once as a budget allows.

    The bytes that autograd saves for each row for the backward pass are measured. If all rows fit, the function is
    called directly. Otherwise each piece is evaluated again in the backward pass (Chen et al. 2016, *Training deep nets
    with sublinear memory cost*): two forward passes instead of one, and the same result up to rounding.

    Parameters
    ----------
    budget : bytes
    """

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget = budget
        self._bytes: dict[str, int] = {}

    def __call__(self, name: str, function: OfRows, num_rows: int) -> tuple[Tensor, ...]:
        """``function(slice(0, num_rows))``.

        Parameters
        ----------
        name : of the function; the memory per row is measured once for each name
        function : computes each row independently of the others, without random draws
        """
        size = self.size(name, function, num_rows)
        if num_rows <= size:
            return function(slice(0, num_rows))
        evaluate = partial(checkpoint, function, use_reentrant=False, preserve_rng_state=False)
        run = evaluate if torch.is_grad_enabled() else function
        starts = range(0, num_rows - LEAST + 1, size)
        parts = [run(slice(start, end)) for start, end in zip(starts, [*starts[1:], num_rows], strict=True)]
        return tuple(torch.cat(part, 1) for part in zip(*parts, strict=True))

    def size(self, name: str, function: OfRows, num_rows: int) -> int:
        """Rows of a piece."""
        if num_rows <= PROBE[1]:
            return PROBE[1]
        if name not in self._bytes:
            few, more = (saved_bytes(function, rows) for rows in PROBE)
            self._bytes[name] = max(math.ceil((more - few) / (PROBE[1] - PROBE[0])), 1)
        size = self.budget // self._bytes[name]
        return max(size // STRIDE * STRIDE if size > STRIDE else size, LEAST)


def saved_bytes(function: OfRows, num_rows: int) -> int:
    """Bytes of memory that autograd stores during an evaluation; shared memory is counted once."""
    kept: dict[int, Tensor] = {}  # kept alive so that no memory address is reused

    def keep(tensor: Tensor) -> Tensor:
        kept.setdefault(tensor.untyped_storage().data_ptr(), tensor)
        return tensor

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        function(slice(0, num_rows))
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
