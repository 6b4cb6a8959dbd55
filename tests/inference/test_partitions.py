"""Losses of partitions against scikit-learn's information and Rand index."""

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score, rand_score

from semicrowd.inference.partitions import expected_losses, point_estimate

RNG = np.random.default_rng(0)
PARTITIONS = np.stack([np.unique(RNG.integers(k, size=40), return_inverse=True)[1] for k in (1, 2, 3, 3, 8)])


def information(a: np.ndarray, b: np.ndarray) -> float:
    return float(entropy(np.bincount(a)) + entropy(np.bincount(b)) - 2 * mutual_info_score(a, b))


@pytest.mark.parametrize(("loss", "measure"), [("vi", information), ("binder", lambda a, b: 1 - rand_score(a, b))])
def test_losses(loss: str, measure: object) -> None:
    assert callable(measure)
    expected = [np.mean([measure(one, other) for other in PARTITIONS]) for one in PARTITIONS]
    assert expected_losses(PARTITIONS, loss) == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_the_partition_that_most_agree_on_is_shown(loss: str) -> None:
    usual = np.repeat([0, 1], 20)
    near = usual.copy()
    near[0] = 1
    assert point_estimate(np.stack([np.arange(40), near, usual, usual, near[::-1].copy()]), loss) == 2
