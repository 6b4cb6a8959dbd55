"""Cells of features (k-means) and pair answers: which cells are one kind, and which are no kind at all."""

import numpy as np
from jaxtyping import Bool, Float, Int

from semicrowd.crowd.annotations import PairAnnotations


def join_cells(
    cells: Int[np.ndarray, "N"],
    annotations: PairAnnotations,
    weight: Float[np.ndarray, "P"],
    num_clusters: int,
) -> Int[np.ndarray, "N"]:
    """Join the cells that the answers say are one kind: greedy agglomeration of the summed w_ij (SCDC paper, eq. 14).

    k-means cuts long or curved clusters in pieces. The two cells with the largest log-odds of the answers between them
    are joined while that exceeds ln K, the prior odds against any two being one, or more than K cells are left.

    Parameters
    ----------
    cells : [N], cell of every item, 0 … C − 1
    weight : [P], w_ij of every answer
    num_clusters : K

    Returns
    -------
    [N], numbers 0 … at most K − 1
    """
    odds = np.zeros((int(cells.max()) + 1,) * 2)
    np.add.at(odds, (cells[annotations.i], cells[annotations.j]), weight)
    odds = odds + odds.T
    name = np.arange(len(odds))
    np.fill_diagonal(odds, -np.inf)
    left = len(odds)
    while left > 1 and (odds.max() > np.log(num_clusters) or left > num_clusters):
        keep, gone = np.unravel_index(odds.argmax(), odds.shape)
        odds[keep] += odds[gone]
        odds[:, keep] = odds[keep]
        odds[gone], odds[:, gone], odds[keep, keep] = -np.inf, -np.inf, -np.inf
        name[name == gone] = keep
        left -= 1
    return np.unique(name[cells], return_inverse=True)[1]


def mixed_cells(
    cells: Int[np.ndarray, "N"],
    annotations: PairAnnotations,
    weight: Float[np.ndarray, "P"],
    num_clusters: int,
) -> Bool[np.ndarray, "C"]:
    """Cells of which the answers place more than half of the annotated items in other cells, [C] bool.

    An item is placed elsewhere where its answers favour one other cell over its own by more than ln K. A mixed cell
    holds pieces of several kinds. A cell without answers is never one.
    """
    num_cells = int(cells.max()) + 1
    index, own_cell = annotations.index, cells[annotations.annotated]
    odds, item = np.zeros((len(own_cell), num_cells)), np.arange(len(own_cell))
    np.add.at(odds, (index.i, own_cell[index.j]), weight)
    np.add.at(odds, (index.j, own_cell[index.i]), weight)
    own = odds[item, own_cell]
    odds[item, own_cell] = -np.inf
    leaves = odds.max(1) > own + np.log(num_clusters)
    annotated = np.bincount(own_cell, minlength=num_cells)
    leaving = np.bincount(own_cell, leaves, minlength=num_cells)
    return (annotated > 0) & (2 * leaving > annotated)
