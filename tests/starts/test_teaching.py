"""Networks that learn the clusters of a start: BayesSCDC with clusters to spare, SCDC with views."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score
from tests.small_fits import SmallFit, small_fit

from semicrowd.models.training_data import TrainingData
from semicrowd.starts.teaching import teach_bayes, teach_classifier


def test_clusters_to_spare_do_not_blur_those_in_use(bayes: Callable[..., SmallFit[Any]]) -> None:
    """The four quarters of the plane, and eleven clusters that no item is in."""
    fit = bayes(n_clusters=15, with_answers=False, init_epochs=20, init_learning_rate=0.01)
    fit.begin()
    fit.model.params.update(teach_epochs=50, teach_weight=30.0)
    data: TrainingData = fit.data
    quarter = ((fit.features > 0) * torch.tensor([1, 2])).sum(-1)
    teach_bayes(fit.model, data, quarter[None], lambda _: None)
    assert adjusted_rand_score(quarter.numpy(), fit.clusters()) > 0.8


def test_a_classifier_that_will_be_held_learns_of_views() -> None:
    """Random images in random clusters: of their mirror images nothing else says anything."""
    shape, rng = (3, 4, 5), np.random.default_rng(0)
    features, clusters = rng.random((30, 60)).astype(np.float32), torch.from_numpy(rng.integers(3, size=(1, 30)))
    mirrored = torch.from_numpy(features).unflatten(1, shape).flip(-1).flatten(1)
    found = {}
    for views, hold in product(("none", "colour"), (False, True)):
        fit = small_fit("scdc", features, image_shape=shape, n_clusters=3, hidden=(60,), batch_size=30,
                        augmentation=views, views={"crop": 0, "jitter": 0.0} if views != "none" else None,
                        init_learning_rate=0.01, teach_epochs=150, hold=hold)  # fmt: skip
        teach_classifier(fit.model, fit.data, clusters, lambda _: None)
        with torch.no_grad():
            found[views, hold] = fit.model.classifier(mirrored).exp()
    right = {key: float((q.argmax(-1) == clusters).float().mean()) for key, q in found.items()}
    assert right["colour", True] > 0.95
    assert right["none", True] < 0.8
    for same in (("none", True), ("colour", False)):  # the bound tells a classifier that is not held of views
        assert torch.equal(found[same], found["none", False])
