"""Several processes that train one model: they average gradients, and take over decisions of the first process."""

from collections.abc import Iterable

import torch
from torch import Tensor, distributed, nn


def several() -> bool:
    """Whether this process is one of several that train together."""
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def is_first() -> bool:
    """Whether this process decides and writes for all."""
    return not several() or distributed.get_rank() == 0


def average(tensors: Iterable[Tensor]) -> None:
    """Replace each tensor by its mean over the processes."""
    if several():
        for tensor in tensors:
            distributed.all_reduce(tensor)
            tensor /= distributed.get_world_size()


@torch.no_grad()
def share(model: nn.Module) -> None:
    """Copy the parameters and buffers of the first process to all processes."""
    if several():
        for tensor in (*model.parameters(), *model.buffers()):
            held = tensor.detach().contiguous()
            distributed.broadcast(held, 0)
            tensor.copy_(held)
