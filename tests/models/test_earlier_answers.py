"""Earlier answers of the annotators count like those of the fit."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.special import betaln
from tests.small_fits import SmallFit
from torch.distributions import Beta, kl_divergence

from semicrowd.expfam import dirichlet
from semicrowd.fitting.generative import evaluate
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.scdc import SCDC

Build = Callable[..., SmallFit[Any]]
#: Right and wrong answers of six annotators: about pairs of one cluster, then of two.
HISTORY = np.random.default_rng(3).integers(0, 40, (6, 2, 2)).astype(float)


def test_they_are_part_of_the_priors_of_bayes(bayes: Build) -> None:
    model: BayesSCDC = bayes().model
    eta = dirichlet.to_natural(torch.tensor(np.random.default_rng(0).uniform(1, 30, (6, 2))))
    model.globals.eta["specificity"].data.copy_(eta[None])
    model.set_history(HISTORY)
    found = model.globals.kl_terms(model.globals.expected())["kl_specificity"]
    shapes = torch.tensor(1 + HISTORY[:, 1]), dirichlet.to_standard(eta)
    prior, posterior = (Beta(shape[:, 0], shape[:, 1]) for shape in shapes)
    assert found.item() == pytest.approx(kl_divergence(posterior, prior).sum().item())


def test_their_probability_under_a_fitted_prior_is_part_of_the_bound_of_bayes(bayes: Build) -> None:
    """In closed form by scipy: of a Beta-binomial, without the number of orders."""
    model: BayesSCDC = bayes(restarts=2).model
    shapes = {"sensitivity": [[2.0, 3.0], [9.0, 1.0]], "specificity": [[1.0, 1.0], [4.0, 0.5]]}
    for name, both in shapes.items():
        model.globals.get_buffer(f"prior_{name}").copy_(dirichlet.to_natural(torch.tensor(both).double())[:, None])
    assert model.globals.log_evidence_of_history().tolist() == [0, 0]
    model.set_history(HISTORY)
    expected = np.zeros(2)
    for restart in range(2):
        for side, both in enumerate(shapes.values()):
            a, b = both[restart]
            right, wrong = HISTORY[:, side].T
            expected[restart] += (betaln(a + right, b + wrong) - betaln(a, b)).sum()
    np.testing.assert_allclose(model.globals.log_evidence_of_history(), expected)


def test_their_probability_is_part_of_the_bound_of_scdc(scdc: Build) -> None:
    fit = scdc(restarts=2)
    model: SCDC = fit.model
    model.logits_quality.data.copy_(torch.randn(2, 2, 6, generator=torch.Generator().manual_seed(0)))
    before = model.elbo(fit.data)["total"].numpy()
    model.set_history(HISTORY)
    quality, right, asked = model.logits_quality.detach().sigmoid().numpy(), HISTORY[..., 0], HISTORY.sum(-1)
    chosen = stats.binom.logpmf(right.T, asked.T, 0.5) - asked.T * np.log(0.5)  # ways to choose the right ones
    expected = (stats.binom.logpmf(right.T, asked.T, quality) - chosen).sum((1, 2))
    np.testing.assert_allclose(model.elbo(fit.data)["total"].numpy() - before, expected, rtol=1e-4)


@pytest.mark.parametrize("model", ["bayes", "scdc"])
def test_a_refit_and_what_is_reported_have_them(build: Build, model: str) -> None:
    """The posterior given both is that given all answers at once: of earlier ones it is known who is who."""
    fit = build(model)
    fit.begin()
    plain = evaluate(fit.model, fit.data).workers
    sure = 1e5 * np.array([[[0.7, 0.3], [0.6, 0.4]]]).repeat(6, 0)
    fit.model.set_history(sure)
    fit.model.refit_annotators(fit.data)
    workers = evaluate(fit.model, replace(fit.data, annotations=replace(fit.annotations, history=sure))).workers
    assert plain is not None
    assert workers is not None
    for mean, expected in zip(workers.mean(), (0.7, 0.6), strict=True):
        np.testing.assert_allclose(mean[0], expected, atol=3e-3)
    for (low, high), (wide_low, wide_high) in zip(
        (np.moveaxis(ends[0], -1, 0) for ends in workers.interval()),
        (np.moveaxis(ends[0], -1, 0) for ends in plain.interval()), strict=True,
    ):  # fmt: skip
        assert (high - low < 0.1 * (wide_high - wide_low)).all()
