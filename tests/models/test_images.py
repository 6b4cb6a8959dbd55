"""Both models on images of any height, width and number of colours, with every kind of networks that sees them."""

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from tests.small_fits import small_fit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.simulate import tasks
from semicrowd.errors import UserError
from semicrowd.models.state import load_model
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
        ((3, 5, 8), "resnet", "logistic", "affine"),
        ((3, 8, 5), "resnet", "gaussian", "affine"),
        ((3, 8, 5), "conv", "gaussian", "affine"),
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


IMAGES = np.random.default_rng(0).random((40, 64)).astype(np.float32)
ANSWERS = PairAnnotations.from_arrays([0, 1, 2, 5], [1, 2, 7, 9], [0, 1, 0, 1], [1, 0, 1, 1], num_items=40)
KINDS: list[tuple[str, dict[str, Any]]] = [
    ("bayes", {}), ("scdc", {}), ("scdc", {"drop_mass": 0.1}),
    ("bayes", {"augmentation": "affine", "likelihood": "bernoulli"}),
    ("bayes", {"architecture": "conv", "channels": (2, 3), "precision": "bfloat16"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings"), KINDS)
@pytest.mark.parametrize("restarts", [1, 2])
def test_a_loaded_model_says_the_same(name: str, settings: dict[str, Any], restarts: int) -> None:
    given: dict[str, Any] = {"n_clusters": 3, "hidden": (6,), "image_shape": (8, 8)} | settings
    fit = small_fit(name, IMAGES, ANSWERS, restarts=restarts, seed=5, **given)
    fit.begin()
    fit.train(1)
    file = io.BytesIO()
    torch.save(fit.model.description(), file)
    file.seek(0)
    loaded = load_model(torch.load(file, weights_only=True))
    assert loaded.params == fit.model.params
    fit.model.eval()
    pairs = [(m.posterior(fit.features), m.annotated_posterior(fit.features, ANSWERS)) for m in (fit.model, loaded)]
    for one, other in zip(*pairs, strict=True):
        assert torch.equal(one.probabilities, other.probabilities)
        assert torch.equal(one.latent_mean, other.latent_mean)
    assert torch.equal(*(m.sample(2, torch.Generator().manual_seed(0)) for m in (fit.model, loaded)))
    terms, of_loaded = (m.elbo(fit.data) for m in (fit.model, loaded))
    assert all(torch.equal(value, of_loaded[term]) for term, value in terms.items())


@pytest.mark.parametrize("change", [{"model": "dec"}, {"num_features": 63}, {"params": {"L": 3}}, {"state": {}}])
def test_what_is_no_description_is_refused(change: dict[str, Any]) -> None:
    content = small_fit("scdc", IMAGES, n_clusters=3, hidden=(6,)).model.description()
    with pytest.raises(UserError):
        load_model(content | change)
    for missing in ("params", "num_features", "num_annotators", "restarts", "state"):
        with pytest.raises(UserError):
            load_model({name: value for name, value in content.items() if name != missing})
