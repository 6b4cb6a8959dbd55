"""Networks evaluated piece by piece where what autograd keeps of a whole step would not fit in memory."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

#: Bytes that one network may keep of a step where nobody says otherwise.
BUDGET = 2 * 2**30
#: Rows of the two evaluations that measure what a row costs.
PROBE = (2, 4)
#: Pieces have a multiple of so many rows: on a CPU bfloat16 products compile a kernel for every new size.
STRIDE = 32
#: Of a single image torch 2.13 gets the gradient of grouped convolutions in float64 wrong.
LEAST = 2

#: Rows of some tensors, [R, b, ...] each, from a slice of rows.
OfRows = Callable[[slice], tuple[Tensor, ...]]


class Pieces:
    """Evaluates functions of rows (items, or pairs of item and cluster) on as many rows at once as a budget allows.

    What a row costs is measured: the bytes that autograd saves of it for the backward pass. Where all rows fit, nothing
    is different from a plain call. Where they do not, each piece is evaluated again in the backward pass (Chen et al.
    2016, *Training deep nets with sublinear memory cost*): its forward pass twice, the same result up to rounding.

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
        name : of the function; what a row costs is measured once for each
        function : row by row, without random draws
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
    """Bytes of memory that autograd keeps of an evaluation; what several operations share counts once."""
    kept: dict[int, Tensor] = {}  # alive until all are counted: no address is given twice

    def keep(tensor: Tensor) -> Tensor:
        kept.setdefault(tensor.untyped_storage().data_ptr(), tensor)
        return tensor

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        function(slice(0, num_rows))
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
