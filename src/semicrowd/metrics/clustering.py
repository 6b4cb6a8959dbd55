"""Scores of a clustering against true classes, and its number of clusters."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    homogeneity_completeness_v_measure,
    normalized_mutual_info_score,
)
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from semicrowd.errors import UserError

#: A cluster is in use if it has at least this share of the items, or this mixing proportion.
USED_SHARE = 0.005


def clustering_scores(labels: np.ndarray, clusters: np.ndarray) -> dict[str, float]:
    """All scores of one clustering.

    What the released code of the SCDC paper calls NMI is ``ami_max``; see docs/DEVIATIONS.md.

    Parameters
    ----------
    labels : [N] true classes
    clusters : [N] clusters

    Returns
    -------
    dict
        ``acc``: see :func:`accuracy`. ``nmi``: mutual information over the arithmetic mean of the entropies. ``ami``,
        ``ami_max``: adjusted for chance, with the arithmetic mean and with the maximum of the entropies. ``ari``:
        adjusted Rand index. ``f1``, ``bri``: see :func:`pairwise_f1` and :func:`balanced_rand_index`. ``purity``: share
        of items of the most frequent class of their cluster. ``homogeneity``, ``completeness``: shares of the entropy
        of classes that the clusters explain, and of clusters that the classes explain.
    """
    homogeneity, completeness, _ = homogeneity_completeness_v_measure(labels, clusters)
    return {
        "acc": accuracy(labels, clusters),
        "nmi": float(normalized_mutual_info_score(labels, clusters)),
        "ami": float(adjusted_mutual_info_score(labels, clusters)),
        "ami_max": float(adjusted_mutual_info_score(labels, clusters, average_method="max")),
        "ari": float(adjusted_rand_score(labels, clusters)),
        "f1": pairwise_f1(labels, clusters),
        "bri": balanced_rand_index(labels, clusters),
        "purity": float(contingency_matrix(labels, clusters).max(axis=0).sum() / len(labels)),
        "homogeneity": float(homogeneity),
        "completeness": float(completeness),
    }


def balanced_rand_index(labels: np.ndarray, clusters: np.ndarray) -> float:
    """Balanced Rand index (SLPD paper, eq. 10), the mean of two shares of pairs.

    Of the pairs of the same class the share in the same cluster; of the pairs of different classes the share in
    different clusters. If there are no pairs of one type, it is the other share; for a single item it is 1.
    """
    (right_apart, wrong_together), (wrong_apart, right_together) = pair_confusion_matrix(labels, clusters)
    pairs = ((right_apart, right_apart + wrong_together), (right_together, right_together + wrong_apart))
    shares = [right / there for right, there in pairs if there]
    return float(np.mean(shares)) if shares else 1.0


def accuracy(labels: np.ndarray, clusters: np.ndarray) -> float:
    """Share of items that are right under the best one-to-one match of clusters and classes.

    With more clusters than classes the clusters left over count as wrong (and with fewer, the classes left over).
    """
    return float(right_items(labels, clusters).mean())


def right_items(labels: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Whether each item is right under the best one-to-one match of clusters and classes, [N] bool."""
    kind, cluster = (np.unique(one, return_inverse=True)[1] for one in (labels, clusters))
    classes, matched = linear_sum_assignment(contingency_matrix(kind, cluster), maximize=True)
    class_of = np.full(int(cluster.max()) + 1, -1)
    class_of[matched] = classes
    right: np.ndarray = class_of[cluster] == kind
    return right


def match_labels(new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """The clusters ``new`` with the numbers of an earlier clustering, as far as possible.

    Clusters are matched one to one so that the matched clusters share as many items as possible in all (Hungarian
    algorithm). Clusters without a match have numbers after all earlier ones, the largest cluster first.

    Parameters
    ----------
    new : [N] clusters, numbers from 0
    old : [N] earlier clusters of the same items, −1 of an item that had none

    Returns
    -------
    np.ndarray
        [N] clusters, numbers from 0
    """
    new, old = np.asarray(new), np.asarray(old)
    if new.shape != old.shape or new.ndim != 1 or new.dtype.kind not in "iu" or old.dtype.kind not in "iu":
        raise UserError(f"old: {old.dtype} {list(old.shape)}; expected [{len(new)}] whole numbers, as new")
    names, cluster, size = np.unique(new, return_inverse=True, return_counts=True)
    known, num_old = old >= 0, 1 + int(old.max(initial=-1))
    shared = np.zeros((len(names), num_old), np.int64)
    np.add.at(shared, (cluster[known], old[known]), 1)
    number = np.full(len(names), -1)
    for k, earlier in zip(*linear_sum_assignment(shared, maximize=True), strict=True):
        if shared[k, earlier]:
            number[k] = earlier
    rest = np.flatnonzero(number < 0)
    number[rest[np.argsort(-size[rest], kind="stable")]] = num_old + np.arange(len(rest))
    return number[cluster]


def pairwise_f1(labels: np.ndarray, clusters: np.ndarray) -> float:
    """F1 score of pairs: those in the same cluster are predicted positives, those of the same class true positives.

    The harmonic mean of precision and recall over all pairs; 0 if no pair of the same class is in the same cluster.
    """
    (_, wrong), (missed, right) = pair_confusion_matrix(labels, clusters)
    return float(2 * right / max(2 * right + wrong + missed, 1))


def cluster_counts(clusters: np.ndarray, num_clusters: int) -> dict[str, float | int]:
    """How many of ``num_clusters`` clusters are in use.

    Parameters
    ----------
    clusters : [N] in 0 … num_clusters − 1

    Returns
    -------
    dict
        ``occupied``: clusters with an item. ``used``: clusters with at least :data:`USED_SHARE` of the items.
        ``effective``: exp of the entropy of the cluster sizes.
    """
    size = np.bincount(clusters, minlength=num_clusters)
    share = size[size > 0] / len(clusters)
    used = int((share >= USED_SHARE).sum())
    return {"occupied": len(share), "used": used, "effective": float(np.exp(-(share * np.log(share)).sum()))}
