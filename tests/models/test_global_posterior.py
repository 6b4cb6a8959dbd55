"""Priors of the global variables: readings of App. B, and the annotators' priors by empirical Bayes."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import stats
from tests.small_fits import SmallFit

from semicrowd.expfam import dirichlet, normal_inverse_wishart
from semicrowd.expfam.shared_prior import HYPERPRIOR_SD
from semicrowd.inference.mixture import mixture_prior
from semicrowd.models.bayes import BayesSCDC

Build = Callable[..., SmallFit[BayesSCDC]]


@pytest.mark.parametrize(("kind", "expected"), [("paper", 0.001), ("corrected", 1.001), ("released", 1.05)])
def test_readings_of_the_dirichlet_prior(bayes: Build, kind: str, expected: float) -> None:
    assert dirichlet.to_standard(mixture_prior(kind, 50, 2).pi)[0, 7] == pytest.approx(expected)
    model = bayes(n_clusters=50, concentration=kind).model
    assert torch.allclose(dirichlet.to_standard(model.globals.prior("pi")), torch.tensor(expected).double())


def test_the_priors_and_first_values_of_the_appendix(bayes: Build) -> None:
    model = bayes(restarts=50).model
    location, kappa, scale, degrees = normal_inverse_wishart.to_standard(model.globals.prior("components"))
    assert location.abs().max() == 0
    assert kappa.item() == pytest.approx(0.5)
    assert degrees.item() == pytest.approx(2.5)
    torch.testing.assert_close(scale[0, 0], 2.5 * torch.eye(2, dtype=torch.float64))
    first = normal_inverse_wishart.to_standard(model.globals.eta["components"].detach())[0].numpy()
    assert stats.kstest(first.ravel(), stats.norm(0, 3).cdf).pvalue > 0.01
    assert (dirichlet.to_standard(model.globals.eta["sensitivity"].detach()) == torch.tensor([10.0, 1.0])).all()


def test_the_annotators_prior_is_the_mode_of_its_posterior(bayes: Build) -> None:
    """Against scipy's Beta-binomial on a grid, with the hyperprior's density."""
    model = bayes().model
    counts = torch.tensor([[60, 1], [50, 12], [61, 0], [40, 2], [30, 30], [70, 3]], dtype=torch.float64)
    before = model.globals.prior("sensitivity").clone()
    model.globals.eta["sensitivity"].data.copy_(counts[None] + before)
    model.globals.eta["specificity"].data.copy_(counts[None] + model.globals.prior("specificity"))
    model.globals.fit_annotator_priors()
    fitted = model.globals.prior("sensitivity")
    torch.testing.assert_close(model.globals.eta["sensitivity"].detach() - fitted, counts[None])

    def objective(log_a: float, log_b: float) -> float:
        n, yes = counts.sum(1).numpy(), counts[:, 0].numpy()
        likelihood = stats.betabinom(n, np.exp(log_a), np.exp(log_b)).logpmf(yes).sum()
        return float(likelihood + stats.norm(0, HYPERPRIOR_SD).logpdf([log_a, log_b]).sum())

    log_a, log_b = np.log(dirichlet.to_standard(fitted)[0, 0].numpy())
    best = objective(log_a, log_b)
    for step_a in (-0.05, 0, 0.05):
        for step_b in (-0.05, 0, 0.05):
            assert objective(log_a + step_a, log_b + step_b) <= best + 1e-6
    assert log_a != pytest.approx(0, abs=0.1)


def test_perfect_answers_keep_the_prior_within_its_bounds(bayes: Build) -> None:
    model = bayes().model
    for name in ("sensitivity", "specificity"):
        perfect = torch.tensor([60.0, 0.0], dtype=torch.float64)
        model.globals.eta[name].data.copy_(model.globals.prior(name) + perfect)
    model.globals.fit_annotator_priors()
    shape = dirichlet.to_standard(model.globals.prior("sensitivity"))
    assert (shape > 0.01).all()
    assert (shape < 100).all()
    workers = model.workers()
    assert workers is not None
    low, high = workers.interval(0.9)[0][0, 0]
    assert 0.9 < low < workers.mean()[0][0, 0] <= high <= 1
