"""Both models on images of any height, width and number of colours, with every kind of networks that sees them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from tests.small_fits import small_fit

from semicrowd.crowd.simulate import tasks
from semicrowd.starts import answer_classifier

N = 40
LABELS = np.arange(N) % 2


def images_of(shape: tuple[int, ...]) -> np.ndarray:
    """Bright ones and dark ones."""
    rng = np.random.default_rng(1)
    bright = np.where(LABELS, 0.7, 0.3).reshape(-1, *[1] * len(shape))
    return np.clip(bright + 0.15 * rng.normal(size=(N, *shape)), 0, 1).reshape(N, -1).astype(np.float32)


@pytest.mark.parametrize("name", ["bayes", "scdc"])
@pytest.mark.parametrize(
    ("shape", "nets", "likelihood", "views"),
    [
        ((7, 5), "resnet", "bernoulli", "affine"),
        ((6, 9), "resnet", "gaussian", "none"),
        ((3, 5, 8), "resnet", "logistic", "colour"),
        ((3, 8, 5), "resnet", "gaussian", "affine"),
        ((3, 8, 5), "conv", "gaussian", "colour"),
    ],
)
def test_images_are_fitted_with_their_answers(
    name: str, shape: tuple[int, ...], nets: str, likelihood: str, views: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Networks learn the kinds that the answers tell of, and every number stays finite."""
    monkeypatch.setattr(answer_classifier, "STEPS", 40)
    answers = tasks(LABELS, np.random.default_rng(0), num_annotators=3, num_tasks=8, task_size=8, num_annotated=30)
    more: dict[str, Any] = {} if name == "bayes" else {"drop_mass": 0.01, "classifier_channels": 8}
    fit = small_fit(
        name, images_of(shape), answers, image_shape=shape, batch_size=10, epochs=4, n_clusters=3, latent_dim=2,
        likelihood=likelihood,
        init="answers", init_epochs=4, teach_epochs=25, init_learning_rate=0.01,
        augmentation=views,
        architecture=nets, channels=(3, 4), **more,
    )  # fmt: skip
    fit.begin()
    fit.train(4)
    assert all(value.isfinite().all() for value in fit.elbo().values())
    assert fit.model.posterior(fit.features).probabilities.shape == (1, N, 3)
    assert all(value.isfinite().all() for value in fit.model.state_dict().values())
    drawn = fit.model.sample(3, torch.Generator().manual_seed(0))
    assert drawn.shape == (1, 3, 3, int(np.prod(shape)))
    assert drawn.isfinite().all()
    pure = pd.crosstab(LABELS, fit.clusters()).max().sum()  # a kind may be two clusters
    assert pure > 0.9 * N
