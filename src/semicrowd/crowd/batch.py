"""Answers over some items as tensors: what a step of training, or a bound over all answers, is computed from."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Placements:
    """Items in whole tasks: item u of an annotator's task stands once in it, beside the others of that task.

    Attributes
    ----------
    item : [U] position of the item
    worker : [U] the task's annotator
    i, j : [P] numbers of the placements that each answer compares
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
    """Answers over n distinct items, with local indices.

    Attributes
    ----------
    items : [n] item ids
    item_weight : [n] weights of the items' local terms
    i, j : [P] positions in ``items``
    worker, label : [P]
    pair_weight : weight of every pair's term
    component, num_components : connected components of the graph, [n] and their number
    placements : where the answers are those of whole tasks, else None
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
