"""Networks whose every parameter carries a leading restart axis."""

import torch
from torch import Tensor


def descend(optimizer: torch.optim.Optimizer, loss: Tensor, rate: float | None = None) -> None:
    """One step down the gradient of the loss; ``rate``: its step size, None: as the optimizer has it."""
    optimizer.zero_grad()
    loss.backward()
    for group in optimizer.param_groups if rate is not None else ():
        group["lr"] = rate
    optimizer.step()
