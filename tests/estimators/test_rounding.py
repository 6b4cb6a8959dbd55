"""Rounding decides nothing: features that differ in the sixth digit have the same clusters."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from semicrowd import SCDC, BayesSCDC
from semicrowd.data.answers import two_coin
from semicrowd.data.generated import load_pinwheel
from semicrowd.random import stream


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SCDC, BayesSCDC])
@pytest.mark.parametrize("answers", ["none", "two_coin"])
def test_changes_of_a_millionth_leave_the_clusters(kind: type, answers: str) -> None:
    data = load_pinwheel()
    given = two_coin(data, pairs_per_annotator=20) if answers != "none" else None
    first = kind(random_state=0).fit(data.features, given)
    same = 0
    for turn in range(10):
        noise = 1e-6 * stream(turn, "test/rounding").standard_normal(data.features.shape)
        again = kind(random_state=0).fit((data.features + noise).astype(np.float32), given)
        alike = adjusted_rand_score(first.labels_, again.labels_)
        same += again.n_clusters_ == first.n_clusters_ and alike > 0.99
    assert same >= 9
