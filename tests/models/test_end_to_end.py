"""Both models on a small pinwheel: the bound rises, and a warm start leads to the arms."""

from collections.abc import Callable

import pytest

from semicrowd.data import Dataset
from semicrowd.metrics import clustering_scores
from semicrowd.models import ClusteringModule


@pytest.mark.parametrize("name", ["bayes", "scdc"])
@pytest.mark.parametrize("start", ["warm", "cold"])
def test_training_raises_the_bound_and_finds_the_arms(
    build: Callable[..., ClusteringModule], fit: Callable[[ClusteringModule, int], None], pinwheel: Dataset,
    name: str, start: str,
) -> None:  # fmt: skip
    model = build(
        f"model={name}", f"model.start={start}", "model.warm.epochs=100", "model.warm.candidates=5", "batch_size=20",
        "model.learning_rate=0.003",
    )  # fmt: skip
    model.warm_up()
    before = model.elbo()["total"]
    fit(model, 30)
    assert model.elbo()["total"] > before
    if start == "cold":  # 30 epochs are few for it
        return
    assert pinwheel.labels is not None
    clusters = model.posterior(model.features).probabilities[0].argmax(1).numpy()
    assert clustering_scores(pinwheel.labels, clusters)["acc"] > 0.92
