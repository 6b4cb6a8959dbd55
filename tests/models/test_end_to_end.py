"""Both models on a small pinwheel: the bound rises, and a start from cells leads to the arms."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.small_fits import SmallFit

from semicrowd.data import Dataset
from semicrowd.metrics import clustering_scores


@pytest.mark.parametrize("name", ["bayes", "scdc"])
@pytest.mark.parametrize("kind", ["cells", "cold"])
def test_training_raises_the_bound_and_finds_the_arms(
    build: Callable[..., SmallFit[Any]], pinwheel: Dataset, name: str, kind: str
) -> None:
    fit = build(name, batch_size=20, init=kind, init_epochs=60, n_candidates=5)
    fit.begin()
    before = fit.elbo()["total"]
    fit.train(20)
    assert fit.elbo()["total"] > before
    if kind == "cold":  # 20 epochs are few for it
        return
    assert pinwheel.labels is not None
    assert clustering_scores(pinwheel.labels, fit.clusters())["acc"] > 0.92
