"""A model is made again from its description, without data, and says the same to the last bit."""

import io
from typing import Any

import numpy as np
import pytest
import torch
from tests.small_fits import small_fit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.models.state import load_model

IMAGES = np.random.default_rng(0).random((40, 64)).astype(np.float32)
ANSWERS = PairAnnotations.from_arrays([0, 1, 2, 5], [1, 2, 7, 9], [0, 1, 0, 1], [1, 0, 1, 1], num_items=40)
KINDS: list[tuple[str, dict[str, Any]]] = [
    ("bayes", {}), ("scdc", {}), ("scdc", {"drop_mass": 0.1, "max_clusters": 2}),
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
    samples = [m.sample(2, torch.Generator().manual_seed(0)) for m in (fit.model, loaded)]
    assert torch.equal(*samples)
    terms, of_loaded = (m.elbo(fit.data) for m in (fit.model, loaded))
    assert all(torch.equal(value, of_loaded[term]) for term, value in terms.items())
    workers = [m.workers() for m in (fit.model, loaded)]
    assert workers[0] is not None
    assert workers[1] is not None
    np.testing.assert_array_equal(workers[0].mean(), workers[1].mean())


@pytest.mark.parametrize("change", [{"model": "dec"}, {"num_features": 63}, {"params": {"L": 3}}, {"state": {}}])
def test_what_is_no_description_is_refused(change: dict[str, Any]) -> None:
    content = small_fit("scdc", IMAGES, n_clusters=3, hidden=(6,)).model.description()
    with pytest.raises(UserError):
        load_model(content | change)
    for missing in ("params", "num_features", "num_annotators", "restarts", "state"):
        with pytest.raises(UserError):
            load_model({name: value for name, value in content.items() if name != missing})
