"""Views without answers, end to end: how many kinds of images there are is found by what views may change."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter, rotate
from tests.models.conftest import compose_model

from semicrowd.data import Dataset
from semicrowd.expfam import gaussian
from semicrowd.metrics import clustering_scores
from semicrowd.models import ClusteringModule, build_model
from semicrowd.fitting.batches import Batch
from semicrowd.models.bayes import BayesSCDC

SIZE = 12


def strokes(number: int, rng: np.random.Generator) -> Dataset:
    """A bar, a ring and a cross, each turned by up to 25 degrees: continuous kinds that K cells cut in pieces."""
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


@pytest.mark.parametrize("kind", ["bayes", "scdc"])
def test_kinds_are_found_where_cells_cut_them_in_pieces(
    kind: str, fit: Callable[[ClusteringModule, int], None]
) -> None:
    data = strokes(1500, np.random.default_rng(0))
    cfg = compose_model(
        f"model={kind}", "epochs=4", "batch_size=50", "model.K=12", "model.latent_dim=3", "model.hidden=[60,60]",
        "model.likelihood=bernoulli", "model.warm.epochs=30", "model.warm.candidates=2", "model.learning_rate=0.002",
        "model.views.kind=affine", "model.views.anew=2", "model.elbo_samples=1",
        *(("model.moves.every=0", "model.step_size=0.02") if kind == "bayes" else ("model.warm.classifier_epochs=4",)),
    )  # fmt: skip
    model = build_model(cfg, data, None, seed=0, restarts=1)
    model.warm_up()
    fit(model, 4)
    clusters = model.posterior(model.features).probabilities[0].argmax(-1).numpy()
    assert data.labels is not None
    assert clustering_scores(data.labels, clusters)["acc"] > 0.95
    assert (np.bincount(clusters, minlength=12) > 15).sum() == 3


def test_a_step_with_views_sees_every_item_twice_and_its_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views that do not move, x at its mean: twice the bound of the items, and w for each link at equal q(z)."""
    monkeypatch.setattr(gaussian, "draw", lambda mean, *_: mean)
    data = strokes(60, np.random.default_rng(1))
    still = [f"model.views.{motion}=0" for motion in ("rotate", "shear", "scale", "shift")]
    bounds = {}
    for kind, weight in (("none", 1.0), ("affine", 0.0), ("affine", 0.5)):
        cfg = compose_model("model=bayes", "model.K=4", "model.likelihood=bernoulli", "model.start=cold", *still,
                            f"model.views.kind={kind}", f"model.views.weight={weight}", "model.max_sweeps=300",
                            "model.tolerance=1e-6")  # fmt: skip
        model = build_model(cfg, data, None, seed=0, restarts=2)
        assert isinstance(model, BayesSCDC)
        batch = Batch(torch.arange(60), torch.full((60,), 1.5), None, step=0)
        expected = model.globals.expected()
        with torch.no_grad():
            messages, _ = model._message_statistics(expected)
            bound, _ = model._batch_bound(batch, model.features, expected, messages)
            local, _, _ = model.infer(model.features)
        bounds[kind, weight] = bound
    torch.testing.assert_close(bounds["affine", 0.0], 2 * bounds["none", 1.0], rtol=1e-4, atol=1e-2)
    # Each z pulls the other: the joint optimum gains at least the links at the q(z) of the items alone.
    alone = 2 * bounds["none", 1.0] + 0.5 * 1.5 * local.probabilities.square().sum((1, 2))
    most = 2 * bounds["none", 1.0] + 0.5 * 1.5 * 60
    assert (bounds["affine", 0.5] < most + 1e-3).all()
    assert (bounds["affine", 0.5] > alone - 0.02 * abs(alone)).all()
