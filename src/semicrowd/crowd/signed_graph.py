"""Spectral embedding of the answers as a signed graph."""

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from semicrowd.random import stream

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
