"""What both models share: step sizes over the epochs, evaluation in pieces, samples, bad settings."""

import math
import re
from collections.abc import Callable

import pytest
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR

from semicrowd.errors import UserError
from semicrowd.models import ClusteringModule
from semicrowd.models.scdc import SCDC

Build = Callable[..., ClusteringModule]
BOTH = pytest.mark.parametrize("name", ["bayes", "scdc"])


@BOTH
def test_step_sizes_fall_along_a_cosine(
    build: Build, fit: Callable[[ClusteringModule, int], None], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    model = build(f"model={name}", "model.start=cold", "model.schedule.final=0.1")
    epochs, seen = 7, []
    end = model.on_train_epoch_end

    def listen() -> None:
        seen.append([group["lr"] for optimizer in model.trainer.optimizers for group in optimizer.param_groups])
        end()

    monkeypatch.setattr(model, "on_train_epoch_end", listen)
    fit(model, epochs)
    parameter = torch.nn.Parameter(torch.zeros(1))
    for index, first in enumerate(seen[0]):
        optimizer = torch.optim.SGD([parameter], lr=first)
        schedule = CosineAnnealingLR(optimizer, T_max=epochs - 1, eta_min=0.1 * first)
        for epoch in range(epochs):
            assert seen[epoch][index] == pytest.approx(schedule.get_last_lr()[0])
            optimizer.step()
            schedule.step()


@BOTH
def test_evaluation_does_not_depend_on_the_size_of_its_pieces(
    build: Build, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    model = build(f"model={name}", "model.start=cold", restarts=2)
    whole = model.posterior(model.features)
    for module in ("base", "scdc"):
        monkeypatch.setattr(f"semicrowd.models.{module}.CHUNK", 14)
    pieces = model.posterior(model.features)
    torch.testing.assert_close(pieces.probabilities, whole.probabilities, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(pieces.latent_mean, whole.latent_mean, rtol=1e-3, atol=1e-3)


def test_samples_of_scdc_come_from_their_cluster(build: Callable[..., SCDC]) -> None:
    """With a linear decoder, mean and covariance of the samples are the images of μ_k and Σ_k."""
    model = build("model=scdc", "model.K=4", restarts=2)
    model.warm_up()
    with torch.no_grad():
        for layer in model.decoder.net.hidden.parameters():
            layer.zero_()  # the skip is left, and the heads' biases
    number = 20000
    samples = model.sample(number, torch.Generator().manual_seed(0))
    assert model.decoder.net.skip is not None
    _, bias, *_ = (parameter.detach() for parameter in model.decoder.net.heads.parameters())
    scale = model._scale().detach()
    for r in range(2):
        skip = model.decoder.net.skip[r].detach()
        for k in range(4):
            expected = model.location[r, k].detach() @ skip + bias[r]
            covariance = skip.T @ scale[r, k] @ scale[r, k].T @ skip
            spread = covariance.diagonal().sqrt()
            assert ((samples[r, k].mean(0) - expected).abs() < 5 * spread / math.sqrt(number)).all()
            error = (samples[r, k].T.cov() - covariance).abs() / spread.outer(spread)
            assert (error < 5 * math.sqrt(2 / number)).all()


def test_point_estimates_of_scdc_have_no_interval(build: Callable[..., SCDC]) -> None:
    model = build("model=scdc", "model.start=cold", "model.initial_quality=paper", restarts=2)
    workers = model.workers()
    assert workers is not None
    rates = model.logits_quality.detach().double().sigmoid().numpy()
    for index, (mean, interval) in enumerate(zip(workers.mean(), workers.interval(), strict=True)):
        assert mean == pytest.approx(rates[:, index], abs=1e-6)
        assert (interval == mean[..., None]).all()
    assert build("model=scdc", "model.start=cold", with_answers=False).workers() is None
    assert torch.allclose(model.cluster_weights().sum(-1), torch.ones(2))


@BOTH
def test_without_answers_there_are_no_annotators(build: Build, name: str) -> None:
    model = build(f"model={name}", "model.start=cold", with_answers=False)
    assert model.workers() is None
    assert float(model.elbo()["relational"]) == 0


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.name=dec", "model=dec: expected one of bayes, scdc"),
        ("model.K=1", "model.K=1: expected at least 2 clusters"),
        ("model.K=121", "model.K=121: more clusters than the 120 items of pinwheel"),
        ("model.start=tepid", "model.start=tepid: expected warm or cold"),
        ("model.natural_gradient=none", "model.natural_gradient=none: expected svi or full"),
        ("model.likelihood=poisson", "model.likelihood=poisson: expected gaussian or bernoulli"),
        ("model.likelihood=bernoulli", "model.likelihood=bernoulli: expected features between 0 and 1"),
        ("model.step_size=1.5", "model.step_size=1.5: expected a number above 0, at most 1"),
    ],
)
def test_bad_settings_are_named(build: Build, override: str, message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        build("model=bayes", override)


def test_no_restarts_are_refused(build: Build) -> None:
    with pytest.raises(UserError, match="restarts=0: expected at least 1"):
        build("model=bayes", restarts=0)


def test_an_unknown_sampler_is_refused(build: Build) -> None:
    model = build("model=bayes", "model.relational.sampler=cliques")
    with pytest.raises(UserError, match=r"model\.relational\.sampler=cliques: expected auto, pairs, tasks or nodes"):
        model.training_batches()
