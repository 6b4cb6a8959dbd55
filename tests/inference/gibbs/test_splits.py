"""Splits and merges alone, on five items whose partitions are all known."""

from collections import Counter

import numpy as np
import pytest
from scipy.special import gammaln

from semicrowd.inference.gibbs.chain import Chain
from semicrowd.inference.gibbs.splits import split_or_merge

from .small import ITEMS, Partition, blocks, chain, distance, log_evidence, named, partitions

ALPHA = 0.8


def exact(family: str) -> dict[Partition, float]:
    """Posterior of every partition at one concentration."""
    score = {
        z: sum(np.log(ALPHA) + gammaln(len(block)) + log_evidence(family, block) for block in blocks(z))
        for z in partitions()
    }
    total = np.logaddexp.reduce(list(score.values()))
    return {z: float(np.exp(one - total)) for z, one in score.items()}


def begun(family: str) -> Chain:
    made = chain("restaurant", family, "")
    made.begin(np.zeros(ITEMS, np.int64))
    return made


@pytest.mark.parametrize("family", ["gaussian", "multinomial"])
def test_they_visit_partitions_as_often_as_they_are_likely(family: str) -> None:
    rng, visits = np.random.default_rng(0), Counter[Partition]()
    clusters, _, seating = begun(family)._seated(False)
    for _ in range(40_000):
        split_or_merge(clusters, seating, ALPHA, rng)
        visits[named(seating.z)] += 1
    assert distance({z: n / 40_000 for z, n in visits.items()}, exact(family)) < 0.03
    # What the clusters have counted is what the partition says.
    assert seating.size.tolist() == np.bincount(seating.z, minlength=len(seating.size)).tolist()
    found = clusters.log_evidence()
    assert found == pytest.approx(sum(log_evidence(family, block) for block in blocks(named(seating.z))), abs=1e-6)
