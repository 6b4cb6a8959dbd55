"""Unions of clusters against all partitions that they could lead to."""

from itertools import combinations

import numpy as np
import pytest
from tests.inference.gibbs.small import (
    ITEMS,
    PAIRS,
    QUALITY,
    blocks,
    families,
    log_evidence,
    log_joint,
    named,
    partitions,
)
from tests.inference.gibbs.test_families import seated

from semicrowd.inference.gibbs.answers import Answers
from semicrowd.methods.deep_dpm import unions
from semicrowd.methods.deep_dpm.unions import united


@pytest.mark.parametrize("answers", [None, Answers(PAIRS, (1.0, 1.0))])
@pytest.mark.parametrize("alpha", [0.01, 0.3, 3.0])
def test_each_is_the_best_of_all_and_none_is_left(alpha: float, answers: Answers | None) -> None:
    z = np.array([0, 4, 2, 5, 2])
    family, _ = seated("isotropic", z.tolist(), 6)
    links = None if answers is None else answers.links(z, QUALITY, 6)
    into = united(family, alpha, links)  # type: ignore[arg-type]
    expected = z

    def score(one: np.ndarray) -> float:
        return log_joint(named(one), "isotropic", alpha, answers)

    while True:
        pairs = list(combinations(np.unique(expected), 2))
        others = [np.where(expected == gone, kept, expected) for kept, gone in pairs]
        best = max(others, key=score, default=expected)
        if score(best) <= score(expected):
            break
        expected = best
    assert named(into[z]) == named(expected)


@pytest.mark.parametrize("alpha", [0.3, 3.0])
def test_the_joint_probability_is_a_prior_that_sums_to_one_times_the_evidence(alpha: float) -> None:
    found = []
    for z in partitions():
        labels = np.array(z)
        family, _ = seated("isotropic", labels.tolist(), 6)
        evidence = sum(log_evidence("isotropic", block) for block in blocks(z))
        found.append(unions.log_joint(family, alpha, np.arange(6)) - evidence)  # type: ignore[arg-type]
    assert np.exp(found).sum() == pytest.approx(1)
    apart, joined = (seated("isotropic", slots, 6)[0] for slots in ([0, 4, 2, 5, 2], [0, 0, 2, 2, 2]))
    of_slots = unions.log_joint(apart, alpha, np.array([0, 1, 2, 3, 0, 2]))  # type: ignore[arg-type]
    assert of_slots == pytest.approx(unions.log_joint(joined, alpha, np.arange(6)))  # type: ignore[arg-type]


def test_clusters_far_apart_stay_two() -> None:
    family = families("isotropic")(3)._replace(x=np.zeros((ITEMS, 2)))
    family.number[:2] = 1000
    family.total[:2] = [[-3000.0, 0], [3000.0, 0]]
    family.square[:2] = 1000 * (9 + 2)
    assert united(family, 1.0).tolist() == [0, 1, 2]
    family.total[:2] /= 3  # now the points between them are as many as around them
    family.square[:2] = 1000 * (1 + 2)
    assert united(family, 1.0).tolist() == [0, 0, 2]
