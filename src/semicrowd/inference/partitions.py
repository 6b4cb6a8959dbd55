"""A partition that stands for samples of its posterior: the one of least expected loss among them."""

import numpy as np


def expected_losses(partitions: np.ndarray, loss: str) -> np.ndarray:
    """Mean loss of each partition against all of them, [S, N] → [S]; labels of a partition are 0 … K − 1.

    ``vi``: variation of information, in nats (Meila 2007; Wade & Ghahramani 2018). ``binder``: share of the pairs of
    items that one partition has together and the other apart (Binder 1978).
    """
    samples, items = partitions.shape
    measure = _pairs if loss == "binder" else _entropy
    own = np.array([measure(np.bincount(one), items) for one in partitions])
    found = np.zeros((samples, samples))
    for a in range(samples):
        for b in range(a):
            joint = partitions[a].astype(np.int64) * (partitions[b].max() + 1) + partitions[b]
            met = measure(np.unique(joint, return_counts=True)[1], items)
            # Both are sums over the cells of a partition; the cells that two partitions share are a partition, too.
            found[a, b] = found[b, a] = abs(2 * met - own[a] - own[b])
    return found.mean(1)


def _entropy(sizes: np.ndarray, items: int) -> float:
    share = sizes[sizes > 0] / items
    return float(-(share * np.log(share)).sum())


def _pairs(sizes: np.ndarray, items: int) -> float:
    """Share of the pairs of items that are together."""
    return float((sizes * (sizes - 1)).sum() / max(items * (items - 1), 1))


def point_estimate(partitions: np.ndarray, loss: str) -> int:
    """Number of the partition [S, N] of least expected loss, the first of equals."""
    return int(np.argmin(expected_losses(partitions, loss).round(12)))
