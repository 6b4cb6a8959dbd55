"""Combine k-means cells of the features with answers: join cells of the same class, detect cells of several classes."""

import warnings

import numpy as np
from jaxtyping import Bool, Float, Int
from threadpoolctl import threadpool_limits

from semicrowd.crowd.annotations import PairAnnotations


def kmeans_cells(x: Float[np.ndarray, "N C"], number: int, seed: int, tries: int = 1) -> Int[np.ndarray, "N"]:
    """k-means cells of the items, the best of ``tries`` initialisations; fewer cells if few items are distinct."""
    # Imported here: answers are also read and simulated where nothing is clustered.
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct items than cells
        kmeans = KMeans(min(number, len(x)), n_init=tries, random_state=seed)
        return kmeans.fit_predict(x).astype(np.int64)


def join_cells(
    cells: Int[np.ndarray, "N"],
    annotations: PairAnnotations,
    weight: Float[np.ndarray, "P"],
    num_clusters: int,
) -> Int[np.ndarray, "N"]:
    """Join cells of the same class by greedy agglomeration with the summed weights w_ij (SCDC paper, eq. 14).

    k-means divides elongated or curved clusters into several cells. Repeatedly, the two cells with the largest sum of
    w_ij over the answers between them are joined, as long as the sum exceeds ln K (the prior log odds against two cells
    being the same cluster) or there are more than K cells.

    Parameters
    ----------
    cells : [N] cell of each item, 0 … C − 1
    weight : [P] w_ij of each answer
    num_clusters : K

    Returns
    -------
    [N] clusters, numbered from 0 to at most K − 1
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
    """Cells that contain several classes according to the answers, [C] bool.

    These are cells for more than half of whose annotated items the answers favour another cell over their own by more
    than ln K. A cell without answers is never mixed.
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
