"""The bound that a training step climbs is an unbiased estimate of the bound of the whole data set."""

from collections.abc import Callable

import numpy as np
import pytest
from torch import Tensor

from semicrowd.models import ClusteringModule

Build = Callable[..., ClusteringModule]


def epoch_means(model: ClusteringModule, fit: Callable[[ClusteringModule, int], None], epochs: int) -> np.ndarray:
    """Mean of the steps' bounds in each epoch, [epochs]: within one the steps share out the items."""
    bounds: list[float] = []
    record = model.record_bound

    def listen(bound: Tensor) -> None:
        bounds.append(float(bound.detach()))
        record(bound)

    model.record_bound = listen  # type: ignore[method-assign]
    fit(model, epochs)
    return np.array(bounds).reshape(epochs, -1).mean(1)


@pytest.mark.parametrize("sampler", ["pairs", "nodes", None])
def test_steps_of_scdc(build: Build, fit: Callable[[ClusteringModule, int], None], sampler: str | None) -> None:
    model = build(
        "model=scdc", "model.warm.epochs=20", "model.learning_rate=0.0", "model.elbo_samples=1000", "batch_size=30",
        f"model.relational.sampler={sampler or 'auto'}", "model.relational.nodes=20", with_answers=sampler is not None,
    )  # fmt: skip
    model.warm_up()
    means = epoch_means(model, fit, 60)
    exact = float(model.elbo()["total"])
    error = means.std() / len(means) ** 0.5
    assert means.mean() == pytest.approx(exact, abs=4 * error)
    assert 8 * error < abs(exact) / 10, "a factor of the relational or of the local part would show"


def test_steps_of_bayes_without_answers(build: Build, fit: Callable[[ClusteringModule, int], None]) -> None:
    """With answers the neighbours that a minibatch leaves out change q(z): only the terms' weights are unbiased."""
    model = build(
        "model=bayes", "model.warm.epochs=20", "model.learning_rate=0.0", "model.step_size=1e-12", "batch_size=30",
        "model.elbo_samples=1000", "model.max_sweeps=100", "model.tolerance=1e-4", "model.moves.every=0",
        with_answers=False,
    )  # fmt: skip
    model.warm_up()
    means = epoch_means(model, fit, 20)
    error = means.std() / len(means) ** 0.5
    assert means.mean() == pytest.approx(float(model.elbo()["total"]), abs=4 * error)
