"""Views of an image that learn to be of one kind."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import entropy
from tests.models.test_kinds_by_views import SIZE, strokes
from tests.small_fits import SmallFit, small_fit

from semicrowd.settings.training import StartSettings
from semicrowd.starts.agreement import disagreement, learn_agreement
from semicrowd.starts.teaching import teach_classifier


def test_disagreement_is_what_numpy_and_scipy_make_of_it() -> None:
    rng = np.random.default_rng(0)
    q, shares = rng.dirichlet(np.ones(4), (2, 6)), rng.dirichlet(np.ones(4), 2)
    expected = [
        -np.log([one @ other for one, other in zip(r[:3], r[3:], strict=True)]).mean() + entropy(r.mean(0), share)
        for r, share in zip(q, shares, strict=True)
    ]
    found = disagreement(torch.from_numpy(q).log(), torch.from_numpy(shares))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9)


@pytest.mark.parametrize("soft", [False, True])
def test_images_that_the_clusters_misplace_come_back_to_their_kind(soft: bool) -> None:
    """Of the bars those that are turned the furthest one way, 15 of 100, are given to the crosses."""
    data = strokes(900, np.random.default_rng(0))
    labels = data.labels
    assert labels is not None
    pixels = data.features.reshape(-1, SIZE, SIZE)
    y, x = np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2
    lean = (pixels * x * y).sum((1, 2))
    wrong = labels.copy()
    bars = labels == 0
    wrong[bars & (lean > np.quantile(lean[bars], 0.85))] = 2
    settings: dict[str, Any] = {"kind": "cells", "epochs": 0, "teach_epochs": 15, "learning_rate": 0.003}
    fit: SmallFit[Any] = small_fit(
        "scdc", data.features, None, batch_size=50, K=5, hidden=(60,), likelihood="bernoulli", start=settings,
        views={"kind": "affine", "rotate": 20.0}, image_shape=(SIZE, SIZE),
    )  # fmt: skip
    given = torch.from_numpy(wrong)[None]
    target = torch.nn.functional.one_hot(given, 5).float() if soft else given
    start = StartSettings(**settings, agree_epochs=30)
    teach_classifier(fit.model, fit.data, start, target, lambda _: None)
    before = (fit.clusters() == labels).mean()
    assert fit.data.views is not None
    learn_agreement(fit.model, fit.data, fit.data.views, start, target, lambda _: None)
    after = (fit.clusters() == labels).mean()
    assert before < 0.97
    assert after > before + 0.02


def test_restarts_do_not_see_each_other() -> None:
    """What the first of two restarts learns is what it learns alone."""
    data = strokes(200, np.random.default_rng(0))
    assert data.labels is not None
    found = []
    for restarts in (1, 2):
        fit: SmallFit[Any] = small_fit(
            "scdc", data.features, None, batch_size=50, K=4, hidden=(20,), likelihood="bernoulli", restarts=restarts,
            views={"kind": "affine"}, image_shape=(SIZE, SIZE),
        )  # fmt: skip
        start = StartSettings(agree_epochs=2)
        given = torch.from_numpy(data.labels).expand(restarts, -1)
        assert fit.data.views is not None
        learn_agreement(fit.model, fit.data, fit.data.views, start, given, lambda _: None)
        found.append(fit.model.classifier(fit.features)[0])
    torch.testing.assert_close(found[0], found[1], rtol=1e-4, atol=1e-4)
