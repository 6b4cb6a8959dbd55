"""Point estimate of a partition: the posterior sample with the least expected loss."""

import numpy as np


def expected_losses(partitions: np.ndarray, loss: str) -> np.ndarray:
    """Mean loss of each of S partitions with respect to all S, [S, N] → [S]; labels of a partition are 0 … K − 1.

    ``vi``: variation of information, in nats (Meila 2007; Wade & Ghahramani 2018). ``binder``: share of the pairs of
    items that are in one cluster in one partition but not in the other (Binder 1978).
    """
    samples, items = partitions.shape
    measure = _pairs if loss == "binder" else _entropy
    own = np.array([measure(np.bincount(one), items) for one in partitions])
    found = np.zeros((samples, samples))
    for a in range(samples):
        for b in range(a):
            joint = partitions[a].astype(np.int64) * (partitions[b].max() + 1) + partitions[b]
            met = measure(np.unique(joint, return_counts=True)[1], items)
            # Both losses are |2 f(intersection) − f(a) − f(b)|, where f depends on a partition's cluster sizes only.
            found[a, b] = found[b, a] = abs(2 * met - own[a] - own[b])
    return found.mean(1)


def _entropy(sizes: np.ndarray, items: int) -> float:
    share = sizes[sizes > 0] / items
    return float(-(share * np.log(share)).sum())


def _pairs(sizes: np.ndarray, items: int) -> float:
    return float((sizes * (sizes - 1)).sum() / max(items * (items - 1), 1))


def point_estimate(partitions: np.ndarray, loss: str) -> int:
    """Index of the partition [S, N] with the least expected loss; ties go to the first."""
    return int(np.argmin(expected_losses(partitions, loss).round(12)))
