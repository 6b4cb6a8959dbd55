"""With views the ELBO that chooses among restarts is what training climbs, too."""

from typing import Any

import numpy as np
import pytest
import torch
from tests.models.test_kinds_by_views import SIZE, strokes
from tests.small_fits import small_fit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.models import bayes as bayes_module
from semicrowd.models import generative
from semicrowd.models.training_data import TrainingData

DATA = strokes(40, np.random.default_rng(2))
ANSWERS = PairAnnotations.from_arrays([0, 1, 2, 5], [1, 2, 7, 9], [0, 1, 0, 1], [1, 0, 1, 1], num_items=40)


@pytest.mark.parametrize("name", ["bayes", "scdc"])
@pytest.mark.parametrize("with_answers", [True, False])
def test_bounds_of_full_batches_have_the_elbo_as_their_mean(
    name: str, with_answers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the draws of the views and of x; both sides by as many."""
    monkeypatch.setattr(bayes_module, "STEP_TOLERANCE", 1e-5)
    monkeypatch.setattr(generative, "ELBO_SAMPLES", 4)
    of_bayes: dict[str, Any] = {"max_sweeps": 200} if name == "bayes" else {}
    fit = small_fit(
        name, DATA.features, ANSWERS if with_answers else None, n_clusters=3, hidden=(10,), likelihood="bernoulli",
        augmentation="affine", image_shape=(SIZE, SIZE), init="cells", init_epochs=30, **of_bayes,
    )  # fmt: skip
    fit.begin()
    answers = fit.data.answers
    order = torch.arange(40)
    if answers is not None:
        rest = np.setdiff1d(np.arange(40), fit.annotations.annotated)
        order = torch.cat([answers.items, torch.from_numpy(rest)])
    noise = torch.Generator().manual_seed(0)
    with torch.no_grad():
        bounds = [
            float(fit.model.bound(fit.features[order], torch.ones(40), noise, 40, answers, fit.data.views).elbo)
            for _ in range(200)
        ]
    elbos = []
    for seed in range(60):
        data = TrainingData(fit.features, fit.data.annotations, fit.data.views, seed)
        elbos.append(float(fit.model.elbo(data)["total"]))
    error = float(np.var(bounds) / len(bounds) + np.var(elbos) / len(elbos)) ** 0.5
    assert np.mean(bounds) == pytest.approx(np.mean(elbos), abs=4 * error)
    alone = float(fit.model.elbo(TrainingData(fit.features, fit.data.annotations))["total"])
    assert abs(np.mean(elbos) - alone) > 100 * error, "without views it is another bound"
