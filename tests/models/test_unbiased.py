"""The bound that a training step climbs is an unbiased estimate of the bound of the whole data set."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.small_fits import SmallFit
from torch import Tensor

from semicrowd.models import bayes as bayes_module
from semicrowd.models import generative
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.scdc import SCDC


def epoch_means(fit: SmallFit[Any], epochs: int) -> np.ndarray:
    """Mean of the steps' bounds in each epoch, [epochs]: within one the steps share out the items."""
    bounds: list[float] = []
    module = fit.module()
    take = module._take

    def listen(elbo: Tensor, diagnostics: dict[str, Tensor]) -> None:
        bounds.append(float(elbo.detach()))
        take(elbo, diagnostics)

    module._take = listen  # type: ignore[method-assign]
    fit.train(epochs, module)
    return np.array(bounds).reshape(epochs, -1).mean(1)


@pytest.fixture(autouse=True)
def many_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound of the whole data set has no error that counts."""
    monkeypatch.setattr(generative, "ELBO_SAMPLES", 250)


@pytest.mark.parametrize("sampler", ["pairs", "nodes", None])
def test_steps_of_scdc(scdc: Callable[..., SmallFit[SCDC]], sampler: str | None) -> None:
    size = {"nodes": 20}.get(sampler or "")
    fit = scdc(
        init_epochs=20, learning_rate=1e-30, batch_size=30, sampler=sampler or "auto", sample_size=size,
        with_answers=sampler is not None, final_refits=0,
    )  # fmt: skip
    fit.begin()
    means = epoch_means(fit, 60)
    exact = float(fit.elbo()["total"])
    error = means.std() / len(means) ** 0.5
    assert means.mean() == pytest.approx(exact, abs=4 * error)
    assert 8 * error < abs(exact) / 10, "a factor of the relational or of the local part would show"


def test_steps_of_bayes_without_answers(
    bayes: Callable[..., SmallFit[BayesSCDC]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With answers the neighbours that a minibatch leaves out change q(z): only the terms' weights are unbiased."""
    monkeypatch.setattr(bayes_module, "STEP_TOLERANCE", 1e-4)
    fit = bayes(
        init_epochs=20, learning_rate=1e-30, step_size=1e-12, batch_size=30, max_sweeps=100,
        with_answers=False,
    )  # fmt: skip
    fit.begin()
    means = epoch_means(fit, 20)
    error = means.std() / len(means) ** 0.5
    assert means.mean() == pytest.approx(float(fit.elbo()["total"]), abs=4 * error)
