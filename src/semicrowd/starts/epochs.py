"""Shared by the training loops of the starts: the progress callback, and the shuffled batches of an epoch."""

from collections.abc import Callable

import torch
from torch import Tensor

from semicrowd.models.training_data import TrainingData
from semicrowd.random import stream

#: Is called with a line about the current step.
ProgressCallback = Callable[[str], None]


def shuffled(data: TrainingData, purpose: str, epoch: int, whole: bool = True) -> tuple[Tensor, ...]:
    """Batches of item ids, shuffled by the random stream ``purpose``; ``whole``: a smaller last batch is dropped."""
    order = torch.from_numpy(stream(data.seed, purpose, epoch).permutation(data.num_items)).to(data.device)
    size = min(data.batch_size, data.num_items)
    return order[: data.num_items // size * size if whole else None].split(size)
