"""A batch of answers and their items as tensors, from which a training step or the bound is computed."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Placements:
    """Placements of items in complete tasks; a placement is a combination of a task, its annotator and an item.

    Attributes
    ----------
    item : [U] position of the item
    worker : [U] annotator of the task
    i, j : [P] placements of the two items of each answer
    """

    item: Tensor
    worker: Tensor
    i: Tensor
    j: Tensor

    def to(self, device: torch.device | str) -> "Placements":
        """The same on another device."""
        return Placements(*(tensor.to(device) for tensor in (self.item, self.worker, self.i, self.j)))


@dataclass(frozen=True)
class RelationalBatch:
    """Answers about n distinct items, which are numbered from 0 to n − 1 within the batch.

    Attributes
    ----------
    items : [n] item ids
    item_weight : [n] weights of the items' local terms
    i, j : [P] positions in ``items``
    worker, label : [P]
    pair_weight : weight of each answer's term
    component, num_components : [n] connected component of each item in the graph of answers, and their number
    placements : placements, if the batch consists of complete tasks, else None
    """

    items: Tensor
    item_weight: Tensor
    i: Tensor
    j: Tensor
    worker: Tensor
    label: Tensor
    pair_weight: float
    component: Tensor
    num_components: int
    placements: Placements | None = None

    @property
    def num_nodes(self) -> int:
        """n, the number of distinct items."""
        return len(self.items)

    def to(self, device: torch.device | str) -> "RelationalBatch":
        """The same on another device."""
        both = Tensor | Placements
        moved: dict[str, Any] = {name: v.to(device) for name, v in vars(self).items() if isinstance(v, both)}
        return replace(self, **moved)
