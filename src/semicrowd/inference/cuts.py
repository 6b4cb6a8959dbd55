"""Proposed splits of a cluster into two halves, and the gain of each split in the mixture and the answers."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from sklearn.cluster import KMeans
from torch import Tensor

from semicrowd.crowd.signed_graph import signed_embedding
from semicrowd.inference.mixture import evidence_of_clusters

#: Minimal number of items in a half.
LEAST_ITEMS = 2
#: Number of initialisations of 2-means. Their seed is fixed, so that proposals depend on the items alone.
_STARTS = 3
#: In whitening, the least eigenvalue of a cluster's covariance relative to the largest; smaller ones are set to it.
_NARROW = 1e-3


class Items(NamedTuple):
    """The posterior of items, and the answers about them.

    Attributes
    ----------
    shares : [R, n, K], q(z)
    statistics : [R, n, F], (E t(x), 1, 1) times the number of items that the item stands for
    means : [R, n, d], E x
    i, j : [P] indices of the two items of each answer
    weight : [R, P], log odds, given the answer, that they are in the same cluster
    """

    shares: Tensor
    statistics: Tensor
    means: np.ndarray
    i: np.ndarray
    j: np.ndarray
    weight: np.ndarray


class Cut(NamedTuple):
    """A proposal to move some of the items of ``cluster`` to another cluster.

    Attributes
    ----------
    gain : in nats, see :func:`cut_gain`
    rows : indices of the items that move
    kept, gone : [F] each, sums of (E t(x), 1, 1) over the items that stay and over those that move
    """

    gain: float
    cluster: int
    rows: np.ndarray
    kept: Tensor
    gone: Tensor


def cuts(items: Items, restart: int, prior: Float[Tensor, "F"]) -> list[Cut]:
    """Proposed cuts of every cluster in use: two by the latent means, one by the answers."""
    proposals = []
    own = items.shares[restart].argmax(-1).cpu().numpy()
    place = np.full(len(own), -1)
    totals = items.shares[restart].mT @ items.statistics[restart]
    for cluster in np.unique(own).tolist():
        rows = np.flatnonzero(own == cluster)
        if len(rows) < 2 * LEAST_ITEMS:
            continue
        place[:] = -1
        place[rows] = np.arange(len(rows))
        inside = (place[items.i] >= 0) & (place[items.j] >= 0)
        ends, weight = (place[items.i[inside]], place[items.j[inside]]), items.weight[restart, inside]
        means = items.means[restart, rows]
        halves = [cut_by_means(means, whitened=False), cut_by_means(means, whitened=True),
                  cut_by_answers(means, *ends, weight)]  # fmt: skip
        index = torch.from_numpy(rows).to(items.statistics.device)
        statistics = items.statistics[restart, index] * items.shares[restart, index, cluster, None]
        for half in halves:
            if half is not None and LEAST_ITEMS <= half.sum() <= len(half) - LEAST_ITEMS:
                gone = statistics[torch.from_numpy(half).to(statistics.device)].sum(0)
                gain = cut_gain(statistics, half, prior, ends, weight)
                proposals.append(Cut(gain, cluster, rows[half], totals[cluster] - gone, gone))
    return proposals


def cut_by_means(means: Float[np.ndarray, "n d"], *, whitened: bool) -> Bool[np.ndarray, "n"]:
    """2-means of a cluster's latent means.

    Without whitening, the cut is across the direction of largest variance. With whitening all directions have the same
    variance, so the cut is across the direction in which the items form two groups most clearly.
    """
    points = means.astype(np.float64) - means.mean(0)
    if whitened:
        values, vectors = np.linalg.eigh(np.cov(points.T, bias=True).reshape(means.shape[1], -1))
        points = points @ vectors / np.sqrt(np.maximum(values, max(_NARROW * values.max(), 1e-300)))
    return KMeans(2, n_init=_STARTS, random_state=0).fit_predict(points).astype(bool)


def cut_by_answers(
    means: Float[np.ndarray, "n d"],
    i: Int[np.ndarray, "P"],
    j: Int[np.ndarray, "P"],
    weight: Float[np.ndarray, "P"],
) -> Bool[np.ndarray, "n"] | None:
    """2-means of the signed spectral embedding of the answers within a cluster; None if they give no two groups.

    Items without answers go to the half whose mean is nearer.

    Parameters
    ----------
    i, j, weight : the items of each answer between the n items, and the log odds w that they are in one cluster
    """
    known, place = np.unique(np.concatenate([i, j]), return_inverse=True)
    if not (weight < 0).any() or len(known) < 2 * LEAST_ITEMS:
        return None
    a, b = place.reshape(2, -1)
    embedding = signed_embedding(a, b, weight, len(known), 2)
    half = KMeans(2, n_init=_STARTS, random_state=0).fit_predict(embedding).astype(bool)
    if half.all() or not half.any():
        return None
    of_halves = np.stack([means[known[half == side]].mean(0) for side in (False, True)])
    whole = np.square(means[:, None] - of_halves).sum(-1).argmin(1).astype(bool)
    whole[known] = half
    return whole


def cut_gain(
    statistics: Float[Tensor, "n F"],
    half: Bool[np.ndarray, "n"],
    prior: Float[Tensor, "F"],
    ends: tuple[Int[np.ndarray, "P"], Int[np.ndarray, "P"]],
    weight: Float[np.ndarray, "P"],
) -> float:
    """Gain of a cut in nats: the gain in the items' evidence, minus the log odds of the answers across the cut.

    Parameters
    ----------
    statistics : (E t(x), 1, 1) of the cluster's items, each times its q(z) of the cluster
    ends, weight : the two items of each answer within the cluster, and its log odds
    """
    side = torch.from_numpy(half).to(statistics.device)
    halves = torch.stack([statistics[~side].sum(0), statistics[side].sum(0)])
    evidence = evidence_of_clusters(halves, prior).sum() - evidence_of_clusters(halves.sum(0), prior)
    return float(evidence) - float(weight[half[ends[0]] != half[ends[1]]].sum())
