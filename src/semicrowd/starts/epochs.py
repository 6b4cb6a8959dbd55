"""What the loops of the start share: a line on what is being done, and an epoch's batches."""

from collections.abc import Callable

import torch
from torch import Tensor

from semicrowd.models.training_data import TrainingData
from semicrowd.random import stream

#: Takes a line about what is being done.
Say = Callable[[str], None]


def shuffled(data: TrainingData, purpose: str, epoch: int, whole: bool = True) -> tuple[Tensor, ...]:
    """Ids of all items in batches, in an order of the stream ``purpose``; ``whole``: no last batch that is smaller."""
    order = torch.from_numpy(stream(data.seed, purpose, epoch).permutation(data.num_items)).to(data.device)
    size = min(data.batch_size, data.num_items)
    return order[: data.num_items // size * size if whole else None].split(size)
