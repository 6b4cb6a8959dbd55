"""Splits and merges alone, on five items whose partitions are all known."""

from collections import Counter

import numpy as np
import pytest
from scipy.special import gammaln

from semicrowd.inference.gibbs.answers import Answers
from semicrowd.inference.gibbs.splits import split_or_merge

from .small import ITEMS, PAIRS, Partition, blocks, chain, distance, log_evidence, named, partitions

ALPHA = 0.8
#: Sensitivities and specificities of the two annotators.
QUALITY = np.array([[0.7, 0.8], [0.6, 0.9]])


def exact(family: str, answers: Answers | None) -> dict[Partition, float]:
    """Posterior of every partition at one concentration, and with annotators of one quality."""
    score = {
        z: sum(np.log(ALPHA) + gammaln(len(block)) + log_evidence(family, block) for block in blocks(z))
        for z in partitions()
    }
    if answers is not None:
        pairs, weight = answers.pairs, answers.weights(QUALITY)
        for z in score:
            score[z] += weight[np.array(z)[pairs.i] == np.array(z)[pairs.j]].sum()
    total = np.logaddexp.reduce(list(score.values()))
    return {z: float(np.exp(one - total)) for z, one in score.items()}


@pytest.mark.parametrize(
    ("family", "answers"),
    [("gaussian", None), ("isotropic", None), ("multinomial", None), ("isotropic", Answers(PAIRS, (1.0, 1.0)))],
)
def test_they_visit_partitions_as_often_as_they_are_likely(family: str, answers: Answers | None) -> None:
    rng, visits = np.random.default_rng(0), Counter[Partition]()
    one = chain("restaurant", family, "")
    one.begin(np.zeros(ITEMS, np.int64))
    one.alpha = ALPHA
    clusters, prior, seating = one._seated(False)
    if answers is not None:
        prior = answers.prior_of(np.array([ALPHA]), QUALITY, one.slots)
    moved = clusters.integrated()
    for _ in range(40_000):
        split_or_merge(prior, moved, seating, rng)
        visits[named(seating.z)] += 1
    assert distance({z: n / 40_000 for z, n in visits.items()}, exact(family, answers)) < 0.03
    # What the clusters have counted is what the partition says.
    assert seating.size.tolist() == np.bincount(seating.z, minlength=len(seating.size)).tolist()
    found = clusters.log_evidence()
    assert found == pytest.approx(sum(log_evidence(family, block) for block in blocks(named(seating.z))), abs=1e-6)
