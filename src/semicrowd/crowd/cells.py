"""What answers say of k-means cells of the features: which are one class, which several, and who answers inverted.

And a spectral embedding of the answers as a signed graph.
"""

import warnings

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh
from scipy.stats import fisher_exact
from threadpoolctl import threadpool_limits

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.random import stream


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


#: Probability of a false positive for an annotator whose answers are independent of the cells.
LEVEL = 1e-3


def reversed_annotators(cells: Int[np.ndarray, "N"], annotations: PairAnnotations) -> Bool[np.ndarray, "M"]:
    """Annotators who answer "same" significantly less often about two items of one cell than about other pairs, [M].

    A model that initially assumes good annotators would explain inverted answers by one large cluster. The cells need
    not be the classes; it is enough that items of one cell are more often of the same class than other items. The test
    is Fisher's exact test of each annotator's answers and the cells, at the level :data:`LEVEL`.

    Parameters
    ----------
    cells : [N] k-means cell of each item
    """
    same = (cells[annotations.i] == cells[annotations.j]).astype(np.int64)
    table = np.zeros((annotations.num_annotators, 2, 2), np.int64)
    np.add.at(table, (annotations.worker, same, annotations.label), 1)
    return np.array([fisher_exact(counts, alternative="less").pvalue < LEVEL for counts in table])


#: Eigenvectors are computed with dense matrices for at most this number of items.
_DENSE = 500


def signed_embedding(i: np.ndarray, j: np.ndarray, weight: np.ndarray, num_items: int, num: int) -> np.ndarray:
    """Signed spectral embedding [num_items, num] with rows of length 1.

    It consists of the ``num`` top eigenvectors of D^(−½) A D^(−½), the bottom ones of the signed Laplacian, each
    multiplied by its eigenvalue (by 0 if that is negative). The multiplication reduces the influence of the last
    eigenvector, which may be noise, because K clusters may have only K − 1 contrasts. Rows are normalised as in Ng,
    Jordan & Weiss (2002).

    Parameters
    ----------
    i, j, weight : [P] edges and their signed weights; weights of repeated edges are added
    """
    shape = (num_items, num_items)
    ends = (np.concatenate([i, j]), np.concatenate([j, i]))
    adjacency = sparse.coo_array((np.tile(weight, 2), ends), shape=shape).tocsr()
    degree = np.bincount(ends[0], np.tile(np.abs(weight), 2), minlength=num_items)
    scale = sparse.diags_array(1 / np.sqrt(np.maximum(degree, np.finfo(float).tiny)))
    normalised = scale @ adjacency @ scale
    if num_items <= max(_DENSE, 2 * num):
        values, vectors = eigh(normalised.toarray(), subset_by_index=(num_items - num, num_items - 1))
    else:
        start = stream(0, "signed_graph").standard_normal(num_items)
        values, vectors = eigsh(normalised, num, which="LA", v0=start)
    rows = vectors * np.maximum(values, 0)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(float).tiny)
