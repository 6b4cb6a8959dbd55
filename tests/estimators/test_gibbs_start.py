"""The first partition of the samplers' chains."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from semicrowd.inference.gibbs.chain import Chain, Model
from semicrowd.inference.gibbs.franchise import neighbours
from semicrowd.inference.gibbs.multinomial import multinomial
from semicrowd.methods.dpm import DPM
from semicrowd.methods.ihmm import IHMM
from semicrowd.random import stream


def counts() -> tuple[np.ndarray, np.ndarray]:
    """80 items of four kinds, 30 draws each from 50 columns of their kind."""
    rng, kinds = stream(0, "test"), np.repeat(np.arange(4), 20)
    return np.array([np.bincount(50 * k + rng.integers(50, size=30), minlength=200) for k in kinds]), kinds


def test_a_chain_begins_with_the_clusters_that_it_is_given() -> None:
    features, _ = counts()
    for order in (None, neighbours(np.zeros(80, np.int64))):
        chain = Chain(Model(multinomial(features, 0.01), 80, neighbours=order))
        chain.begin(np.arange(80) % 37)
        assert chain.clusters == 37
        assert chain.slots > 37
        assert chain.beta.sum() + chain.rest == pytest.approx(1)
        chain.sweep(stream(1, "test"))
        assert 4 <= chain.clusters < 37


@pytest.mark.parametrize("kind", [DPM, IHMM])
def test_chains_begin_with_partitions_of_their_own(kind: type[DPM] | type[IHMM]) -> None:
    features, kinds = counts()
    options: dict[str, Any] = {"family": "multinomial", "n_chains": 2, "n_sweeps": 15}
    found = kind(n_start=30, **options).fit(features)
    assert normalized_mutual_info_score(kinds, found.labels_) == pytest.approx(1)
    noise = stream(2, "test").poisson(1.0, (60, 30))
    first = kind(n_start=30, **options).fit(noise).chains_.query("sweep == 1")["log_likelihood"]
    assert first.nunique() == 2
    assert not first.equals(kind(**options).fit(noise).chains_.query("sweep == 1")["log_likelihood"])
