"""The corrected resampled t test: its formula, and how often it is wrong where there is nothing to find."""

import numpy as np
import pytest
from scipy import stats

from semicrowd.report.papers.slpd.tables import corrected_p


def test_by_hand() -> None:
    """Mean .02, variance .0001, n = 5: t = .02 / √((1/5 + 1/2) · .0001) = 2.39046, four degrees of freedom."""
    differences = np.array([0.01, 0.01, 0.02, 0.03, 0.03])
    assert corrected_p(differences, 0.5) == pytest.approx(2 * (1 - stats.t(df=4).cdf(2.39045722)), rel=1e-6)
    assert corrected_p(-differences, 0.5) == pytest.approx(corrected_p(differences, 0.5))


def test_without_shared_items_it_is_the_usual_test() -> None:
    rng = np.random.default_rng(0)
    slpd, ckm = rng.normal(0.1, 1, 9), rng.normal(0, 1, 9)
    assert corrected_p(slpd - ckm, 0.0) == pytest.approx(stats.ttest_rel(slpd, ckm).pvalue)
    assert corrected_p(slpd - ckm, 0.0) == pytest.approx(stats.ttest_1samp(slpd - ckm, 0).pvalue)


@pytest.mark.parametrize("values", [[], [0.1], [0.1, 0.1]])
def test_nothing_varies(values: list[float]) -> None:
    assert np.isnan(corrected_p(np.array(values), 0.5))


def test_it_is_as_often_wrong_as_it_says_where_methods_do_not_differ() -> None:
    """Items whose differences are mere noise, split in three ten times: p < .05 in one data set of twenty.

    The usual test finds something in every second one.
    """
    rng = np.random.default_rng(1)
    found = []
    for _ in range(300):
        item = rng.normal(size=150)
        folds = np.concatenate([rng.permutation(item).reshape(3, 50).mean(1) for _ in range(10)])
        found.append([corrected_p(folds, ratio) < 0.05 for ratio in (0.5, 0.0)])
    corrected, usual = np.mean(found, axis=0)
    assert 0.02 < corrected < 0.09
    assert usual > 0.4
