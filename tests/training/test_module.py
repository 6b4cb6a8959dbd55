"""What both models share: step sizes over the epochs, evaluation in pieces, samples, bad settings."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import LambdaCallback
from pytorch_lightning.loggers.logger import DummyLogger
from sklearn.utils._param_validation import InvalidParameterError
from tests.small_fits import SmallFit, small_fit, trainer_in
from torch.optim.lr_scheduler import CosineAnnealingLR

from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.methods import method
from semicrowd.models.scdc import SCDC
from semicrowd.nets.mlp import MLP
from semicrowd.result import Verdict
from semicrowd.training.train import train

Build = Callable[..., SmallFit[Any]]
BOTH = pytest.mark.parametrize("name", ["bayes", "scdc"])


@BOTH
def test_step_sizes_fall_along_a_cosine(build: Build, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    fit = build(name, final_rate=0.1)
    epochs, seen, module = 7, [], fit.module()
    end = module.on_train_epoch_end

    def listen() -> None:
        seen.append([group["lr"] for optimizer in module.trainer.optimizers for group in optimizer.param_groups])
        end()

    monkeypatch.setattr(module, "on_train_epoch_end", listen)
    fit.train(epochs, module)
    parameter = torch.nn.Parameter(torch.zeros(1))
    for index, first in enumerate(seen[0]):
        optimizer = torch.optim.SGD([parameter], lr=first)
        schedule = CosineAnnealingLR(optimizer, T_max=epochs - 1, eta_min=0.1 * first)
        for epoch in range(epochs):
            assert seen[epoch][index] == pytest.approx(schedule.get_last_lr()[0])
            optimizer.step()
            schedule.step()


@pytest.mark.parametrize("num_items", [200, 2000])
def test_the_released_step_is_that_of_the_authors_code(num_items: int) -> None:
    items = np.zeros((3, 2), np.float32)
    released, plain = (small_fit("bayes", items, step_size=size).model for size in ("released", 0.3))
    assert released.first_step(num_items) == pytest.approx(100 / num_items)  # compared in test_natural_gradient.py
    assert released.first_step(50) == 1
    assert plain.first_step(num_items) == 0.3


@BOTH
def test_evaluation_does_not_depend_on_its_pieces(build: Build, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    fit = build(name, restarts=2)
    whole = fit.model.posterior(fit.features)
    for module in ("training_data", "scdc"):
        monkeypatch.setattr(f"semicrowd.models.{module}.CHUNK", 14)
    pieces = fit.model.posterior(fit.features)
    torch.testing.assert_close(pieces.probabilities, whole.probabilities, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(pieces.latent_mean, whole.latent_mean, rtol=1e-3, atol=1e-3)


def test_samples_of_scdc_come_from_their_cluster(scdc: Callable[..., SmallFit[SCDC]]) -> None:
    """With a linear decoder, mean and covariance of the samples are the images of μ_k and Σ_k."""
    fit = scdc(n_clusters=4, restarts=2)
    fit.begin()
    model = fit.model
    net = model.decoder.net
    assert isinstance(net, MLP)
    with torch.no_grad():
        for layer in net.hidden.parameters():
            layer.zero_()  # the skip is left, and the heads' biases
    number = 20000
    samples = model.sample(number, torch.Generator().manual_seed(0))
    _, bias, *_ = (parameter.detach() for parameter in net.heads.parameters())
    scale = model._scale().detach()
    for r in range(2):
        skip = net.skip[r].detach()
        for k in range(4):
            expected = model.location[r, k].detach() @ skip + bias[r]
            covariance = skip.T @ scale[r, k] @ scale[r, k].T @ skip
            spread = covariance.diagonal().sqrt()
            assert ((samples[r, k].mean(0) - expected).abs() < 5 * spread / math.sqrt(number)).all()
            error = (samples[r, k].T.cov() - covariance).abs() / spread.outer(spread)
            assert (error < 5 * math.sqrt(2 / number)).all()


def test_point_estimates_of_scdc_have_no_interval_of_their_own(scdc: Callable[..., SmallFit[SCDC]]) -> None:
    model = scdc(initial_quality="paper", restarts=2).model
    workers = model.workers()
    rates = model.logits_quality.detach().double().sigmoid().numpy()
    for index, (mean, interval) in enumerate(zip(workers.mean(), workers.interval(), strict=True)):
        assert mean == pytest.approx(rates[:, index], abs=1e-6)
        assert np.isnan(interval).all()
    assert scdc(with_answers=False).model.workers() is None
    assert torch.allclose(model.cluster_weights().sum(-1), torch.ones(2))


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [("bayes", "n_clusters", 1), ("bayes", "natural_gradient", "none"), ("bayes", "step_size", 1.5),
     ("bayes", "trainer", 3), ("scdc", "drop_mass", 1.0), ("scdc", "teach_epochs", "many")],
)  # fmt: skip
def test_bad_parameters_are_named(pinwheel: Dataset, kind: str, name: str, value: Any) -> None:
    with pytest.raises(InvalidParameterError, match=rf"'{name}'"):
        method(kind)(**{name: value}).fit(pinwheel.features)


IMAGES = np.random.default_rng(0).random((20, 12)).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "value", "features", "more"),
    [("n_clusters", 21, IMAGES, {}), ("likelihood", "bernoulli", 2 * IMAGES, {}), ("architecture", "conv", IMAGES, {}),
     ("blocks", 0, IMAGES, {"architecture": "resnet", "image_shape": (3, 4)}),
     ("augmentation", "affine", IMAGES, {"image_shape": (3, 2, 2), "preparation": "standard"})],
)  # fmt: skip
def test_parameters_that_do_not_fit_the_data_are_named(name: str, value: Any, features: Any, more: Any) -> None:
    with pytest.raises(UserError, match=f"{name}={value}"):
        method("scdc")(**{name: value}, **more).fit(features)


def test_a_checkpoint_has_what_the_start_has_chosen_among(build: Build, tmp_path: Path) -> None:
    table = pd.DataFrame({"candidate": ["one", "two"], "clusters": [3, 4], "evidence": [20.5, 12.0]})
    posterior = pd.DataFrame({"clusters": [3, 4], "probability": [0.9, 0.1], "evidence": [20.5, 12.0]})
    written, read = build("scdc").module(), build("scdc").module()
    written.verdicts = [Verdict("one", table, posterior, 20.5, 90, 30)]
    content: dict[str, Any] = {}
    written.on_save_checkpoint(content)
    torch.save(content, tmp_path / "last.ckpt")
    read.on_load_checkpoint(torch.load(tmp_path / "last.ckpt", weights_only=True))
    found = read.verdicts[0]
    pd.testing.assert_frame_equal(found.table, table)
    pd.testing.assert_frame_equal(found.posterior, posterior)
    frames = {"table": None, "posterior": None}
    assert vars(found) | frames == vars(written.verdicts[0]) | frames


@BOTH
def test_a_fit_that_a_callback_ends_refits_its_annotators_and_logs_its_epochs(
    build: Build, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Curves go through Lightning, with the epoch as their place; what the fit sets itself is no keyword."""
    fit, seen, refits = build(name), list[tuple[int, set[str]]](), list[int]()

    class Logger(DummyLogger):
        def log_metrics(self, metrics: Any, step: int | None = None) -> None:
            seen.append((int(step or 0), set(metrics)))

    def stop(trainer: pl.Trainer, module: pl.LightningModule) -> None:
        trainer.should_stop = trainer.current_epoch == 1

    monkeypatch.setattr(fit.model, "refit_annotators", lambda _: refits.append(1))
    fit.model.params.update(epochs=9, final_refits=2)
    make = partial(trainer_in(None, LambdaCallback(on_train_epoch_start=stop)), logger=Logger(), log_every_n_steps=1)
    train(fit.module(), make)
    assert [epoch for epoch, _ in seen] == [1, 2]
    assert "elbo/epoch" in seen[0][1]
    assert len(refits) == 2
    with pytest.raises(UserError, match=r"trainer\.max_epochs"):
        train(fit.module(), partial(make, max_epochs=3))


@pytest.mark.parametrize("hold", [True, False])
def test_training_leaves_the_held_classifier_alone(build: Build, hold: bool) -> None:
    fit = build("scdc", n_clusters=5, hold=hold)
    fit.begin()
    before = {name: value.clone() for name, value in fit.model.state_dict().items()}
    fit.train(1)
    changed = {name for name, value in fit.model.state_dict().items() if not torch.equal(value, before[name])}
    assert any(name.startswith("classifier") for name in changed) is not hold
    assert any(name.startswith("decoder") for name in changed)
    assert {"location", "logits_quality"} <= changed
    # What is held costs no backward pass.
    assert any(parameter.requires_grad for parameter in fit.model.classifier.parameters()) is not hold
