"""The bounds of both models lie below log p(o), computed by quadrature over the plane of x, and not far below."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.expfam.test_families import draws_of_niw
from tests.small_fits import SmallFit
from torch import Tensor
from torch.distributions import MultivariateNormal

from semicrowd.data import Dataset
from semicrowd.expfam import dirichlet
from semicrowd.metrics import clustering_scores
from semicrowd.models import bayes as bayes_module
from semicrowd.models import generative
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.scdc import SCDC

STEP = 0.25  # of the grid: finer than p(o | x) and the clusters are wide
SIDE = torch.arange(-22, 22 + STEP, STEP)
GRID = torch.cartesian_prod(SIDE, SIDE)
ITEMS = 24


def log_mixture(weights: Tensor, locations: Tensor, covariances: Tensor) -> Tensor:
    """ln Σ_k π_k N(x; μ_k, Σ_k) on the grid."""
    parts = [
        weight.log() + MultivariateNormal(location, covariance).log_prob(GRID)
        for weight, location, covariance in zip(weights, locations, covariances, strict=True)
    ]
    return torch.stack(parts).logsumexp(0)


@torch.no_grad()
def log_evidence(fit: SmallFit[Any], log_prior: Tensor) -> Tensor:
    """ln ∫ p(o | x) p(x) dx of the first items, from ln p(x) on the grid, [..., G] → [..., ITEMS]."""
    decoder = fit.model.decoder
    likelihood = [decoder.log_likelihood(GRID[None], item.expand(len(GRID), -1))[0] for item in fit.features[:ITEMS]]
    joint = log_prior[..., None, :].double() + torch.stack(likelihood).double()
    return joint.logsumexp(-1) + 2 * math.log(STEP)


@pytest.mark.parametrize("drop", [0.0, 0.2])
@pytest.mark.parametrize("epochs", [2, 120])
def test_scdc_bounds_the_evidence_of_every_item(
    scdc: Callable[..., SmallFit[SCDC]], drop: float, epochs: int
) -> None:
    """Whatever mass of q(z | o) is left out of the sum, and however bad the networks."""
    fit = scdc(n_clusters=4, drop_mass=drop, init_epochs=epochs, with_answers=False)
    fit.begin()
    model = fit.model
    scale = model._scale()[0].detach()
    prior = log_mixture(model.cluster_weights()[0], model.location[0].detach(), scale @ scale.mT)
    evidence = log_evidence(fit, prior)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        draws = [model.item_terms(fit.features[:ITEMS], generator) for _ in range(300)]
    bounds = torch.stack([t.reconstruction - t.kl_z - t.kl_x for t in draws])[:, 0]
    error = bounds.std(0) / len(draws) ** 0.5
    assert (bounds.mean(0) < evidence + 4 * error).all()
    gap = evidence - bounds.mean(0)
    assert epochs == 2 or gap.mean() < 1.2, "a constant that is missing, ln 2π or more, shows"


@pytest.mark.parametrize("epochs", [2, 60])
def test_bayes_bounds_the_expected_evidence_of_its_items(
    bayes: Callable[..., SmallFit[BayesSCDC]], monkeypatch: pytest.MonkeyPatch, epochs: int
) -> None:
    """E_q(Θ) ln p(o | Θ) over draws of Θ against the terms of eq. 19 that belong to items."""
    monkeypatch.setattr(generative, "ELBO_SAMPLES", 50)
    fit = bayes(n_clusters=4, init_epochs=epochs, with_answers=False)
    fit.begin()
    model = fit.model
    generator = torch.Generator().manual_seed(0)
    priors = []
    for draw in range(30):
        weights = dirichlet.sample(model.globals.eta["pi"].detach()[0], generator)
        components = [draws_of_niw(eta, 1, draw) for eta in model.globals.eta["components"].detach()[0]]
        locations, covariances = (torch.cat(each) for each in zip(*components, strict=True))
        priors.append(log_mixture(weights.float(), locations.float(), covariances.float()))
    draws = log_evidence(fit, torch.stack(priors)).sum(1)  # [30]
    error = draws.std() / len(draws) ** 0.5

    some = replace(fit.data, features=fit.features[:ITEMS])  # the same q(Θ), the sum over these items
    terms = model.elbo(some)
    bound = terms["reconstruction"] - terms["kl_z"] - terms["kl_x"]
    assert bound < draws.mean() + 4 * error
    assert epochs == 2 or draws.mean() - bound < ITEMS


@pytest.mark.parametrize("name", ["bayes", "scdc"])
@pytest.mark.parametrize("kind", ["mixture", "cold"])
def test_training_raises_the_bound_and_finds_the_arms(
    build: Callable[..., SmallFit[Any]], pinwheel: Dataset, name: str, kind: str
) -> None:
    fit = build(name, batch_size=20, init=kind, init_epochs=60)
    fit.begin()
    before = fit.elbo()["total"]
    fit.train(20)
    assert fit.elbo()["total"] > before
    if kind == "cold":  # 20 epochs are few for it
        return
    assert clustering_scores(pinwheel.labels, fit.clusters())["acc"] > 0.92


def epoch_means(fit: SmallFit[Any], epochs: int) -> np.ndarray:
    """Mean of the steps' bounds in each epoch, [epochs]: within one the steps share out the items."""
    bounds: list[float] = []
    module = fit.module()
    take = module._take

    def listen(elbo: Tensor, diagnostics: dict[str, Tensor]) -> None:
        bounds.append(float(elbo.detach()))
        take(elbo, diagnostics)

    module._take = listen  # type: ignore[method-assign]
    fit.train(epochs, module)
    return np.array(bounds).reshape(epochs, -1).mean(1)


@pytest.fixture
def many_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound of the whole data set has no error that counts."""
    monkeypatch.setattr(generative, "ELBO_SAMPLES", 250)


@pytest.mark.usefixtures("many_draws")
@pytest.mark.parametrize("sampler", ["pairs", "nodes", None])
def test_steps_of_scdc(scdc: Callable[..., SmallFit[SCDC]], sampler: str | None) -> None:
    size = {"nodes": 20}.get(sampler or "")
    fit = scdc(
        init_epochs=20, learning_rate=1e-30, batch_size=30, sampler=sampler or "auto", sample_size=size,
        with_answers=sampler is not None, final_refits=0,
    )  # fmt: skip
    fit.begin()
    means = epoch_means(fit, 60)
    exact = float(fit.elbo()["total"])
    error = means.std() / len(means) ** 0.5
    assert means.mean() == pytest.approx(exact, abs=4 * error)
    assert 8 * error < abs(exact) / 10, "a factor of the relational or of the local part would show"


@pytest.mark.usefixtures("many_draws")
def test_steps_of_bayes_without_answers(
    bayes: Callable[..., SmallFit[BayesSCDC]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With answers the neighbours that a minibatch leaves out change q(z): only the terms' weights are unbiased."""
    monkeypatch.setattr(bayes_module, "STEP_TOLERANCE", 1e-4)
    fit = bayes(
        init_epochs=20, learning_rate=1e-30, step_size=1e-12, batch_size=30, max_sweeps=100,
        with_answers=False,
    )  # fmt: skip
    fit.begin()
    means = epoch_means(fit, 20)
    error = means.std() / len(means) ** 0.5
    assert means.mean() == pytest.approx(float(fit.elbo()["total"]), abs=4 * error)
