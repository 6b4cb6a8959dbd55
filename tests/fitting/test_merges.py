"""Merge moves: which pairs they try, that no round lowers the bound, and the bound of a subset that they look at."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import torch
from scipy.special import multigammaln
from tests.small_fits import SmallFit

from semicrowd.expfam import normal_inverse_wishart
from semicrowd.fitting import moves
from semicrowd.fitting.bayes_moves import MovableBayes, refit
from semicrowd.fitting.moves import candidates, merge_moves
from semicrowd.models.bayes import BayesSCDC

Build = Callable[..., SmallFit[BayesSCDC]]


def log_evidence(eta: np.ndarray, prior: np.ndarray) -> float:
    """Log marginal likelihood of what a component has seen, up to its number of items times ln 2π."""

    def log_normaliser(eta: np.ndarray) -> float:
        m, kappa, scale, nu = (v.numpy() for v in normal_inverse_wishart.to_standard(torch.from_numpy(eta)))
        d = len(m)
        log_determinant = np.linalg.slogdet(scale)[1]
        return float(multigammaln(nu / 2, d) + nu / 2 * (d * np.log(2) - log_determinant) - d / 2 * np.log(kappa))

    return log_normaliser(eta) - log_normaliser(prior)


def test_a_restart_whose_moves_have_ended_stays_as_it_is_while_others_go_on() -> None:
    """The refit raises each bound a little in every turn; only restart 1 gains by its moves, by the first eight."""
    values, tried = torch.zeros(2), [0, 0]

    class TwoRestarts(MovableBayes):
        def __init__(self) -> None:
            self.model = cast("BayesSCDC", SimpleNamespace(num_restarts=2))

        def tensors(self) -> list[torch.Tensor]:
            return [values]

        def bound(self) -> torch.Tensor:
            return values.clone()

        def refitted_bound(self) -> torch.Tensor:
            values.add_(1e-3)
            return values.clone()

    def move(restart: int) -> None:
        tried[restart] += 1
        values[restart] += 1.0 if restart == 1 and tried[1] <= 8 else -1.0

    def propose(_: moves.MovableModel) -> list[Iterator[Callable[[], None]]]:
        return [iter([partial(move, restart)] * 20) for restart in (0, 1)]

    accepted = moves.accept_moves(TwoRestarts(), propose)
    assert tried == [moves.REJECTIONS, 8 + moves.REJECTIONS]
    assert accepted.tolist() == [0, 8]


def test_pairs_are_tried_from_the_smallest_loss_of_evidence(
    bayes: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moves, "MIN_COUNT", 12)
    fit = bayes(K=6, start={"epochs": 40}, with_answers=False)
    fit.begin()
    model = fit.model
    prior = model.globals.prior("components")[0, 0].numpy()
    eta = model.globals.eta["components"][0].detach().numpy()
    counts = (model.globals.eta["pi"] - model.globals.prior("pi"))[0].detach().numpy()
    used = np.flatnonzero(counts > 12)
    assert 3 <= len(used) < 6, "some clusters are in use and some are not"
    loss = {}
    for a in used:
        for b in used[used > a]:
            apart = log_evidence(eta[a], prior) + log_evidence(eta[b], prior)
            loss[int(a), int(b)] = apart - log_evidence(eta[a] + eta[b] - prior, prior)
    assert candidates(MovableBayes(model, fit.data), 0) == sorted(loss, key=loss.__getitem__)


def test_a_refit_is_equations_26_to_29_on_all_data(bayes: Build) -> None:
    """By loops over items and answers, from q(z) and q(x) under the global posterior before."""
    fit = bayes(K=4, restarts=2)
    fit.begin()
    model = fit.model
    before = {name: eta.detach().clone() for name, eta in model.globals.eta.items()}
    expected = {name: model.globals.prior(name).expand_as(eta).numpy().copy() for name, eta in before.items()}
    for part in fit.data.parts(2):
        batch = part.answers
        local, _ = model.infer(part, (20, 1e-3))
        q, t = local.probabilities.double().numpy(), local.t_x.double().numpy()
        for r in range(2):
            for n in range(len(part.features)):
                expected["pi"][r] += q[r, n]
                expected["components"][r] += np.outer(q[r, n], np.append(t[r, n], [1, 1]))
            if batch is None:
                continue
            for i, j, worker, label in zip(batch.i, batch.j, batch.worker, batch.label, strict=True):
                same = q[r, i] @ q[r, j]
                expected["sensitivity"][r, worker, 1 - label] += same
                expected["specificity"][r, worker, label] += 1 - same
    refit(model, fit.data, 1)
    for name, eta in model.globals.eta.items():
        np.testing.assert_allclose(eta.detach(), expected[name], rtol=1e-4, atol=1e-4)
        eta.data.copy_(before[name])
    # The annotators alone: the same, the mixture as it was, and then their priors are the crowd's.
    fixed = replace(model.settings, annotators="fixed")
    model.settings, empirical = fixed, model.settings
    model.refit_annotators(fit.data)
    annotators = ("sensitivity", "specificity")
    for name, eta in model.globals.eta.items():
        now = expected[name] if name in annotators else before[name]
        np.testing.assert_allclose(eta.detach(), now, rtol=1e-4, atol=1e-4)
    usual = model.globals.prior("sensitivity").clone()
    model.settings = empirical
    model.refit_annotators(fit.data)
    assert (model.globals.prior("sensitivity") != usual).all()


@pytest.mark.parametrize("with_answers", [True, False])
@pytest.mark.parametrize("epochs", [0, 6])
def test_no_round_lowers_the_bound(bayes: Build, with_answers: bool, epochs: int) -> None:
    fit = bayes(merge_every=0, final_refits=0, batch_size=20, with_answers=with_answers, restarts=6)
    fit.begin()
    if epochs:
        fit.train(epochs)
    before = fit.elbo()["total"]
    accepted = merge_moves(MovableBayes(fit.model, fit.data))
    rise = fit.elbo()["total"] - before
    assert accepted.any()
    assert (rise[accepted > 0] > 0).all()
    # Restarts converge together: how long the others take moves a sweep's last digits.
    assert (rise[accepted == 0].abs() < 0.05).all()


def test_the_bound_of_a_subset_is_unbiased(bayes: Build) -> None:
    fit = bayes(start={"epochs": 20}, with_answers=False)
    fit.begin()
    exact = fit.elbo()
    estimates: dict[str, list[float]] = {name: [] for name in ("reconstruction", "kl_z", "kl_x", "total")}
    for seed in range(60):  # the subset depends on the run's seed
        terms = fit.model.elbo(replace(fit.data, seed=seed), max_items=40)
        for name, values in estimates.items():
            values.append(float(terms[name]))
    for name, values in estimates.items():
        error = np.std(values) / len(values) ** 0.5
        assert np.mean(values) == pytest.approx(float(exact[name]), abs=4 * error), name
    assert float(fit.elbo(max_items=40)["total"]) == estimates["total"][0], "the same items each time"


def test_annotated_items_are_never_left_out_of_a_subset(bayes: Build) -> None:
    fit = bayes()
    first, other = fit.data.parts(1, max_items=10)
    assert (set(first.weight.tolist()), set(other.weight.tolist())) == ({1.0}, {70 / 10})
    assert first.answers is not None
    assert other.answers is None
    annotated = fit.annotations.annotated
    torch.testing.assert_close(first.features, fit.features[annotated])
    position = (other.features[:, None] == fit.features[None]).all(-1).float().argmax(1)
    assert len(set(position.tolist())) == 10
    assert not set(position.tolist()) & set(annotated.tolist())
