"""The answers as counts by annotator and answer: expected pairs of one cluster, and what pulls on every item.

Axes: R restarts, G views (or any other second axis of networks), M annotators, A = 2 answers (0 different, 1 same),
C = A · M cells, n annotated items, K clusters.
"""

import numpy as np
import torch
from jaxtyping import Float
from scipy import sparse
from torch import Tensor


class AnswerGraph:
    """The answers as counts between annotated items, by annotator and answer.

    Parameters
    ----------
    items : [n] ids of the annotated items
    i, j : [P] positions in ``items``
    worker, label : [P]
    num_annotators : M

    Attributes
    ----------
    items : as given
    counts : [M, 2] float64, answers of each annotator
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
        rows = np.concatenate([cell * n + i, cell * n + j])
        ones = np.ones(len(rows), np.float32)
        shape = (num_cells * n, n)
        self._adjacency = sparse.coo_array((ones, (rows, np.concatenate([j, i]))), shape=shape).tocsr()
        self.counts = torch.from_numpy(np.bincount(cell, minlength=num_cells).reshape(-1, 2).astype(np.float64))

    def agreement(self, eta: Float[Tensor, "R G n K"]) -> tuple[Float[Tensor, "R G M 2"], Float[Tensor, "C n F"]]:
        """Expected pairs of one cluster, float64, and the sums of η over neighbours that :meth:`pull` wants."""
        restarts, views, n, k = eta.shape
        flat = eta.permute(2, 0, 1, 3).reshape(n, -1)
        neighbours = torch.from_numpy(self._adjacency @ flat.numpy()).reshape(-1, n, flat.shape[1])
        # Every answer is in the symmetric adjacency twice.
        both = (neighbours * flat).sum(1).double().reshape(-1, 2, restarts, views, k).sum(-1)
        return 0.5 * both.permute(2, 3, 0, 1), neighbours

    def pull(self, neighbours: Float[Tensor, "C n F"], weight: Float[Tensor, "R G M 2"]) -> Float[Tensor, "R G n K"]:
        """Derivative of Σ weight · agreement by η."""
        restarts, views = weight.shape[:2]
        k = neighbours.shape[2] // (restarts * views)
        columns = weight.permute(2, 3, 0, 1).reshape(len(neighbours), 1, -1).repeat_interleave(k, -1)
        total = (neighbours * columns.to(neighbours.dtype)).sum(0)
        return total.reshape(-1, restarts, views, k).permute(1, 2, 0, 3)
