"""Views of an image that learn to be of one kind."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import entropy
from tests.models.test_kinds_by_views import SIZE, strokes
from tests.small_fits import SmallFit, small_fit
from torch import Tensor

from semicrowd.crowd.simulate import two_coin
from semicrowd.models.views import Views
from semicrowd.starts.teaching import answer_cross_entropy, disagreement, learn_agreement, teach_classifier

OF_START: dict[str, Any] = {"init": "mixture", "init_epochs": 0, "teach_epochs": 15, "init_learning_rate": 0.003}


def test_disagreement_is_what_numpy_and_scipy_make_of_it() -> None:
    rng = np.random.default_rng(0)
    q, shares = rng.dirichlet(np.ones(4), (2, 6)), rng.dirichlet(np.ones(4), 2)
    expected = [
        -np.log([one @ other for one, other in zip(r[:3], r[3:], strict=True)]).mean() + entropy(r.mean(0), share)
        for r, share in zip(q, shares, strict=True)
    ]
    found = disagreement(torch.from_numpy(q).log(), torch.from_numpy(shares))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9)


def misplaced_bars(share: float, answers: bool) -> tuple[SmallFit[Any], np.ndarray, np.ndarray]:
    """A fit, the kinds, and clusters in which so many of the bars, those turned the furthest one way, are crosses."""
    data = strokes(900, np.random.default_rng(0))
    labels = data.labels
    assert labels is not None
    pixels = data.features.reshape(-1, SIZE, SIZE)
    y, x = np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2
    lean, bars = (pixels * x * y).sum((1, 2)), labels == 0
    clusters = labels.copy()
    clusters[bars & (lean > np.quantile(lean[bars], 1 - share))] = 2
    drawn = dict(num_annotators=5, pairs_per_annotator=200, num_annotated=90, sensitivity=0.9, specificity=0.9)
    crowd = two_coin(labels, np.random.default_rng(1), **drawn) if answers else None
    fit: SmallFit[Any] = small_fit(
        "scdc", data.features, crowd, batch_size=50, n_clusters=5, hidden=(60,), likelihood="bernoulli",
        augmentation="affine", views={"rotate": 20.0}, image_shape=(SIZE, SIZE), agree_epochs=30, **OF_START,
    )  # fmt: skip
    return fit, labels, clusters


def accuracy_before_and_after(fit: SmallFit[Any], labels: np.ndarray, target: torch.Tensor) -> tuple[float, float]:
    """Of q(z | o), when it has been taught the clusters, and when views agree."""
    teach_classifier(fit.model, fit.data, target, lambda _: None)
    before = (fit.clusters() == labels).mean()
    assert fit.data.views is not None
    learn_agreement(fit.model, fit.data, fit.data.views, target, lambda _: None)
    return float(before), float((fit.clusters() == labels).mean())


@pytest.mark.parametrize("soft", [False, True])
def test_images_that_the_clusters_misplace_come_back_to_their_kind(soft: bool) -> None:
    fit, labels, clusters = misplaced_bars(0.15, answers=False)
    given = torch.from_numpy(clusters)[None]
    target = torch.nn.functional.one_hot(given, 5).float() if soft else given
    before, after = accuracy_before_and_after(fit, labels, target)
    assert before < 0.97
    assert after > before + 0.02


def test_answers_bring_back_what_views_alone_do_not() -> None:
    """Half of the bars are crosses; a tenth of the images have answers."""
    fit, labels, clusters = misplaced_bars(0.5, answers=False)
    _, alone = accuracy_before_and_after(fit, labels, torch.from_numpy(clusters)[None])
    fit, labels, clusters = misplaced_bars(0.5, answers=True)
    _, posterior = accuracy_before_and_after(fit, labels, torch.from_numpy(clusters)[None])
    assert alone < 0.9
    assert posterior > alone + 0.05


def test_surprise_is_a_cross_entropy_of_the_items_that_have_answers() -> None:
    rng = np.random.default_rng(0)
    q, posterior = rng.dirichlet(np.ones(4), (2, 6)), rng.dirichlet(np.ones(4), (2, 3))
    posterior[:, 1] = 0  # no answers
    found = answer_cross_entropy(torch.from_numpy(q).log(), torch.from_numpy(posterior))
    for r in range(2):
        p = posterior[r]
        of_items = [entropy(p[i]) + entropy(p[i], q[r, i + 3 * view]) for i in (0, 2) for view in (0, 1)]
        assert found[r].item() == pytest.approx(sum(of_items) / 2 / 3)


def test_restarts_do_not_see_each_other() -> None:
    """What the first of two restarts learns is what it learns alone."""
    data = strokes(200, np.random.default_rng(0))
    assert data.labels is not None
    found = []
    for restarts in (1, 2):
        fit: SmallFit[Any] = small_fit(
            "scdc", data.features, None, batch_size=50, n_clusters=4, hidden=(20,), likelihood="bernoulli",
            restarts=restarts, augmentation="affine", image_shape=(SIZE, SIZE), agree_epochs=2,
        )  # fmt: skip
        given = torch.from_numpy(data.labels).expand(restarts, -1)
        assert fit.data.views is not None
        learn_agreement(fit.model, fit.data, fit.data.views, given, lambda _: None)
        found.append(fit.model.classifier(fit.features)[0])
    torch.testing.assert_close(found[0], found[1], rtol=1e-4, atol=1e-4)


class Mirrored(Views):
    """Every second image or so, left and right exchanged."""

    def transformed(self, images: Tensor, draws: Tensor) -> Tensor:
        return torch.where(draws[:, 0, None, None, None] < 0.5, images.flip(-1), images)


def test_a_classifier_that_will_be_held_learns_of_views() -> None:
    """Random images in random clusters: of their mirror images nothing else says anything."""
    shape, rng = (3, 4, 5), np.random.default_rng(0)
    features, clusters = rng.random((30, 60)).astype(np.float32), torch.from_numpy(rng.integers(3, size=(1, 30)))
    mirrored = torch.from_numpy(features).unflatten(1, shape).flip(-1).flatten(1)
    found = {}
    for views, hold in product((None, Mirrored(shape)), (False, True)):
        fit = small_fit("scdc", features, image_shape=shape, n_clusters=3, hidden=(60,), batch_size=30,
                        init_learning_rate=0.01, teach_epochs=150, hold=hold)  # fmt: skip
        teach_classifier(fit.model, replace(fit.data, views=views), clusters, lambda _: None)
        with torch.no_grad():
            found[views is not None, hold] = fit.model.classifier(mirrored).exp()
    right = {key: float((q.argmax(-1) == clusters).float().mean()) for key, q in found.items()}
    assert right[True, True] > 0.95
    assert right[False, True] < 0.8
    for same in ((False, True), (True, False)):  # the bound tells a classifier that is not held of views
        assert torch.equal(found[same], found[False, False])
