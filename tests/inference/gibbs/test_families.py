"""Predictive densities of both families against scipy's, and statistics that items enter and leave."""

import numpy as np
import pytest
from scipy import stats

from semicrowd.inference.gibbs.sweep import predictive, seat

from .small import COUNTS, DIRICHLET, ITEMS, families, log_evidence


def seated(family: str, labels: list[int], clusters: int = 4) -> tuple[object, np.ndarray]:
    made, size = families(family)(clusters), np.zeros(clusters, np.int64)
    seat(made, np.array(labels), size)
    return made, size


@pytest.mark.parametrize("family", ["gaussian", "isotropic", "multinomial"])
def test_predictive_densities_are_ratios_of_evidences(family: str) -> None:
    made, size = seated(family, [0, 2, 2, -1, -1])
    assert size.tolist() == [1, 0, 2, 0]
    found = predictive(made.integrated(), ITEMS, 4)  # type: ignore[attr-defined]
    for cluster, before in ((0, [0]), (1, []), (2, [1, 2])):
        for item in (3, 4):
            alone = log_evidence(family, before) if before else 0.0
            expected = log_evidence(family, [*before, item]) - alone
            assert found[item, cluster] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("family", ["gaussian", "isotropic", "multinomial"])
def test_the_evidence_of_a_partition_is_that_of_its_clusters(family: str) -> None:
    made, _ = seated(family, [0, 2, 2, 0, 2])
    expected = log_evidence(family, [0, 3]) + log_evidence(family, [1, 2, 4])
    assert made.log_evidence() == pytest.approx(expected, abs=1e-9)  # type: ignore[attr-defined]


@pytest.mark.parametrize("family", ["gaussian", "multinomial"])
def test_other_items_meet_the_same_clusters(family: str) -> None:
    made, _ = seated(family, [0, 2, 2, 0, 2])
    new = np.array([[4, 1, 0]]) if family == "multinomial" else np.array([[0.3, -2.0]])
    other = made.of(new)  # type: ignore[attr-defined]
    if family == "multinomial":
        for cluster, items in ((0, [0, 3]), (1, [])):
            concentration = DIRICHLET + COUNTS[items].sum(0)
            coefficient = stats.multinomial(5, [1 / 3] * 3).logpmf(new[0]) + 5 * np.log(3)
            expected = stats.dirichlet_multinomial(concentration, 5).logpmf(new[0]) - coefficient
            assert predictive(other, 1, 4)[0, cluster] == pytest.approx(expected, abs=1e-9)
    assert predictive(other, 1, 4).shape == (1, 4)
    assert predictive(other, 1, 4)[0, 1] == pytest.approx(predictive(other, 1, 4)[0, 3], abs=1e-12)  # both are empty
