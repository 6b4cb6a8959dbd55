"""Views without answers, end to end: how many kinds of images there are is found by what views may change."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter, rotate
from tests.small_fits import SmallFit, small_fit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.expfam import gaussian
from semicrowd.models import bayes, generative
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.training_data import Part, TrainingData

SIZE = 12


def strokes(number: int, rng: np.random.Generator) -> Dataset:
    """A bar, a ring and a cross, each turned by up to 25 degrees: communities cut these kinds."""
    y, x = np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2
    radius = np.hypot(x, y)
    bar, ring = (np.abs(x) < 1) & (np.abs(y) < 5), np.abs(radius - 3.5) < 1
    shapes = [bar.astype(float), ring.astype(float), (bar | ((np.abs(y) < 1) & (np.abs(x) < 5))).astype(float)]
    labels = rng.integers(3, size=number)
    images = [
        gaussian_filter(rotate(shapes[k], rng.uniform(-25, 25), reshape=False, order=1), 0.7 + 0.4 * rng.random())
        for k in labels
    ]
    features = np.clip(np.stack(images).reshape(number, -1), 0, 1).astype(np.float32)
    return Dataset("strokes", features, labels.astype(np.int64), image_shape=(SIZE, SIZE))


def test_a_step_with_views_sees_every_item_twice_and_its_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views that do not move, x at its mean: twice the bound of the items, and w for each link at equal q(z)."""
    monkeypatch.setattr(gaussian, "draw", lambda mean, *_: mean)
    monkeypatch.setattr(bayes, "STEP_TOLERANCE", 1e-6)
    data = strokes(60, np.random.default_rng(1))
    still = dict.fromkeys(("rotate", "shear", "scale", "shift"), 0.0)
    bounds = {}
    for kind, weight in (("none", 1.0), ("affine", 0.0), ("affine", 0.5)):
        monkeypatch.setattr(bayes, "WEIGHT", weight)
        fit: SmallFit[BayesSCDC] = small_fit(
            "bayes", data.features, None, n_clusters=4, likelihood="bernoulli", augmentation=kind,
            views=still if kind == "affine" else None, max_sweeps=300,
            image_shape=(SIZE, SIZE), restarts=2,
        )  # fmt: skip
        model = fit.model
        with torch.no_grad():
            step = model.bound(fit.features, torch.full((60,), 1.5), torch.Generator(), 60, None, fit.data.views)
            bounds[kind, weight] = step.elbo + sum(model.globals.kl_terms(model.globals.expected()).values())
            local, _ = model.infer(Part(fit.features, None, None, torch.ones(len(fit.features))))
    torch.testing.assert_close(bounds["affine", 0.0], 2 * bounds["none", 1.0], rtol=1e-4, atol=1e-2)
    # Each z pulls the other: the joint optimum gains at least the links at the q(z) of the items alone.
    alone = 2 * bounds["none", 1.0] + 0.5 * 1.5 * local.probabilities.square().sum((1, 2))
    most = 2 * bounds["none", 1.0] + 0.5 * 1.5 * 60
    assert (bounds["affine", 0.5] < most + 1e-3).all()
    assert (bounds["affine", 0.5] > alone - 0.02 * abs(alone)).all()


DATA = strokes(40, np.random.default_rng(2))
ANSWERS = PairAnnotations.from_arrays([0, 1, 2, 5], [1, 2, 7, 9], [0, 1, 0, 1], [1, 0, 1, 1], num_items=40)


@pytest.mark.parametrize("name", ["bayes", "scdc"])
@pytest.mark.parametrize("with_answers", [True, False])
def test_bounds_of_full_batches_have_the_elbo_as_their_mean(
    name: str, with_answers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the draws of the views and of x; both sides by as many."""
    monkeypatch.setattr(bayes, "STEP_TOLERANCE", 1e-5)
    monkeypatch.setattr(generative, "ELBO_SAMPLES", 4)
    of_bayes: dict[str, Any] = {"max_sweeps": 200} if name == "bayes" else {}
    fit = small_fit(
        name, DATA.features, ANSWERS if with_answers else None, n_clusters=3, hidden=(10,), likelihood="bernoulli",
        augmentation="affine", image_shape=(SIZE, SIZE), init="mixture", init_epochs=30, **of_bayes,
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
