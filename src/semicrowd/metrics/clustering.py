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


def kept_numbers(clusters: np.ndarray, previous: np.ndarray, num_clusters: int) -> np.ndarray:
    """New numbers of the clusters, those of an earlier clustering as far as possible.

    Clusters are matched one to one so that the matched clusters share as many items as possible in all (Hungarian
    algorithm). The number of an earlier cluster without a match stays unused. Clusters without a match have numbers
    after all earlier ones, the largest cluster first.

    Parameters
    ----------
    clusters : [N] 0 … num_clusters − 1
    previous : [N] earlier clusters, −1 of an item that had none

    Returns
    -------
    np.ndarray
        [K] the cluster that has each new number, a permutation of 0 … K − 1; K may exceed ``num_clusters``. Entries
        ≥ ``num_clusters`` stand for clusters without items.
    """
    known, num_previous = previous >= 0, 1 + int(previous.max(initial=-1))
    shared = np.zeros((num_clusters, num_previous), np.int64)
    np.add.at(shared, (clusters[known], previous[known]), 1)
    pairs = zip(*linear_sum_assignment(shared, maximize=True), strict=True)
    matched = {int(old): int(new) for new, old in pairs if shared[new, old]}
    others = sorted(set(range(num_clusters)) - set(matched.values()))
    size = np.bincount(clusters, minlength=num_clusters)
    empty = iter([*(new for new in others if not size[new]), *range(num_clusters, num_clusters + num_previous)])
    kept = [matched[old] if old in matched else next(empty) for old in range(num_previous)]
    rest = sorted(set(others) - set(kept), key=lambda new: -size[new])
    return np.array(kept + rest, np.int64)


def in_order(values: np.ndarray, order: np.ndarray, axis: int = 1, missing: float = 0.0) -> np.ndarray:
    """Values of each cluster, which are along ``axis``, in the order of :func:`kept_numbers`.

    ``missing`` is the value where that stands for no cluster.
    """
    more = [(0, 0)] * values.ndim
    more[axis] = 0, len(order) - values.shape[axis]
    return np.pad(values, more, constant_values=missing).take(order, axis)


def with_kept_numbers(previous: np.ndarray | None, *memberships: np.ndarray) -> tuple[np.ndarray, ...]:
    """Probabilities [N, K] of the same clusters with the numbers of an earlier fit: see :func:`kept_numbers`.

    Parameters
    ----------
    previous : [N] earlier clusters, −1 of an item that had none; None: the probabilities stay as they are
    memberships : [N, K] each, all of the same clusters; the last one is used for matching
    """
    if previous is None:
        return memberships
    last = memberships[-1]
    order = kept_numbers(last.argmax(1), previous, last.shape[1])
    return tuple(in_order(one, order) for one in memberships)


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
