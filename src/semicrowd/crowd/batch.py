"""A batch of answers and their items as tensors, from which a training step or the bound is computed.

Sums over the answers of each annotator have the axes R restarts, G views (or any other second axis of networks),
H = R · G, M annotators, A = 2 answers (0 different, 1 same), C = A · M cells (annotator and answer), n annotated items,
Z rows (cell and item with such an answer), K clusters.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy import sparse
from torch import Tensor


@dataclass(frozen=True)
class RelationalBatch:
    """Answers about n distinct items, which are numbered from 0 to n − 1 within the batch.

    Attributes
    ----------
    items : item ids
    item_weight : weights of the items' local terms
    i, j : positions in ``items``
    worker, label : annotator and answer, 1 same, 0 different
    pair_weight : weight of each answer's term
    component, num_components : connected component of each item in the graph of answers, and their number
    count_weight : factor of the answers' counts in the natural gradient of the annotators' α and β; 1 is right
    """

    items: Int[Tensor, "n"]
    item_weight: Float[Tensor, "n"]
    i: Int[Tensor, "P"]
    j: Int[Tensor, "P"]
    worker: Int[Tensor, "P"]
    label: Int[Tensor, "P"]
    pair_weight: float
    component: Int[Tensor, "n"]
    num_components: int
    count_weight: float = 1.0

    @property
    def num_nodes(self) -> int:
        """n, the number of distinct items."""
        return len(self.items)

    def to(self, device: torch.device | str) -> "RelationalBatch":
        """The same on another device."""
        moved: dict[str, Any] = {name: v.to(device) for name, v in vars(self).items() if isinstance(v, Tensor)}
        return replace(self, **moved)


class AnswerGraph:
    """Sparse matrices with the numbers of answers between annotated items, for each annotator and answer.

    Parameters
    ----------
    items : [n] ids of the annotated items
    i, j : [P] positions in ``items``
    worker, label : [P]
    num_annotators : M

    Attributes
    ----------
    items : as given
    counts : [M, 2] float64, numbers of answers 0 and 1 of each annotator
    """

    def __init__(
        self,
        items: np.ndarray,
        i: np.ndarray,
        j: np.ndarray,
        worker: np.ndarray,
        label: np.ndarray,
        num_annotators: int,
    ) -> None:
        self.items = items
        n, num_cells = len(items), 2 * num_annotators
        cell = 2 * worker + label
        # Keep only those of the n · C rows (cell and item) that have an answer; an annotator has few items.
        rows, row = np.unique(np.concatenate([cell * n + i, cell * n + j]), return_inverse=True)
        self._cell, self._item = np.divmod(rows, n)
        self._adjacency = _counts(row, np.concatenate([j, i]), (len(rows), n))
        each = np.arange(len(rows))
        self._by_cell = _counts(self._cell, each, (num_cells, len(rows)))
        self._by_item = _counts(self._item, each, (n, len(rows)))
        self.counts = torch.from_numpy(np.bincount(cell, minlength=num_cells).reshape(-1, 2).astype(np.float64))

    def agreement(self, eta: Float[Tensor, "R G n K"]) -> tuple[Float[Tensor, "R G M 2"], Float[Tensor, "Z H K"]]:
        """Expected number of pairs in the same cluster, float64, and sums of η over neighbours for :meth:`pull`."""
        restarts, views, n, k = eta.shape
        flat = eta.permute(2, 0, 1, 3).reshape(n, -1)
        neighbours = torch.from_numpy(self._adjacency @ flat.numpy()).reshape(-1, restarts * views, k)
        both = torch.linalg.vecdot(neighbours, flat[self._item].reshape_as(neighbours)).double()
        # Each answer is counted twice in the symmetric adjacency matrix.
        of_cells = 0.5 * torch.from_numpy(self._by_cell @ both.numpy())
        return of_cells.reshape(-1, 2, restarts, views).permute(2, 3, 0, 1), neighbours

    def pull(self, neighbours: Float[Tensor, "Z H K"], weight: Float[Tensor, "R G M 2"]) -> Float[Tensor, "R G n K"]:
        """Gradient of Σ weight · agreement with respect to η."""
        restarts, views = weight.shape[:2]
        of_rows = weight.permute(2, 3, 0, 1).flatten(0, 1).flatten(1)[self._cell].to(neighbours.dtype)
        total = torch.from_numpy(self._by_item @ (of_rows[..., None] * neighbours).flatten(1).numpy())
        return total.reshape(len(total), restarts, views, -1).permute(1, 2, 0, 3)


def _counts(row: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    return sparse.coo_array((np.ones(len(row), np.float32), (row, column)), shape=shape).tocsr()
