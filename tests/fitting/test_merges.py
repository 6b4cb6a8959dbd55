"""Merge moves: which pairs they try, that no round lowers the bound, and the bound of a subset that they look at."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.special import multigammaln

from semicrowd.expfam import normal_inverse_wishart
from semicrowd.models import ClusteringModule
from semicrowd.models.bayes import BayesSCDC
from semicrowd.fitting.merges import _candidate, merge_moves, refit

Build = Callable[..., BayesSCDC]


def log_evidence(eta: np.ndarray, prior: np.ndarray) -> float:
    """Log marginal likelihood of what a component has seen, up to its number of items times ln 2π."""

    def log_normaliser(eta: np.ndarray) -> float:
        m, kappa, scale, nu = (v.numpy() for v in normal_inverse_wishart.to_standard(torch.from_numpy(eta)))
        d = len(m)
        log_determinant = np.linalg.slogdet(scale)[1]
        return float(multigammaln(nu / 2, d) + nu / 2 * (d * np.log(2) - log_determinant) - d / 2 * np.log(kappa))

    return log_normaliser(eta) - log_normaliser(prior)


def test_pairs_are_tried_from_the_smallest_loss_of_evidence_and_each_once(build: Build) -> None:
    model = build("model=bayes", "model.K=6", "model.warm.epochs=40", "model.moves.min_count=12", with_answers=False)
    model.warm_up()
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
    tried: list[tuple[int, int]] = []
    while (pair := _candidate(model, 0, set(tried))) is not None:
        tried.append(pair)
    assert tried == sorted(loss, key=loss.__getitem__)


def test_a_refit_is_equations_26_to_29_on_all_data(build: Build) -> None:
    """By loops over items and answers, from q(z) and q(x) under the global posterior before."""
    model = build("model=bayes", "model.K=4", restarts=2)
    model.warm_up()
    a = model.annotations
    assert a is not None
    before = {name: eta.detach().clone() for name, eta in model.globals.eta.items()}
    expected = {name: model.globals.prior(name).expand_as(eta).numpy().copy() for name, eta in before.items()}
    for features, batch, _ in model.evaluation_parts():
        local, _, _ = model.infer(features, batch, max_sweeps=20, tolerance=1e-3)
        q, t = local.probabilities.double().numpy(), local.t_x.double().numpy()
        for r in range(2):
            for n in range(len(features)):
                expected["pi"][r] += q[r, n]
                expected["components"][r] += np.outer(q[r, n], np.append(t[r, n], [1, 1]))
            if batch is None:
                continue
            for i, j, worker, label in zip(batch.i, batch.j, batch.worker, batch.label, strict=True):
                same = q[r, i] @ q[r, j]
                expected["sensitivity"][r, worker, 1 - label] += same
                expected["specificity"][r, worker, label] += 1 - same
    refit(model, 1)
    for name, eta in model.globals.eta.items():
        np.testing.assert_allclose(eta.detach(), expected[name], rtol=1e-4, atol=1e-4)
        eta.data.copy_(before[name])
    annotators = ("sensitivity", "specificity")
    refit(model, 1, annotators)  # only what is named
    for name, eta in model.globals.eta.items():
        now = expected[name] if name in annotators else before[name]
        np.testing.assert_allclose(eta.detach(), now, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("with_answers", [True, False])
@pytest.mark.parametrize("epochs", [0, 6])
def test_no_round_lowers_the_bound(
    build: Build, fit: Callable[[ClusteringModule, int], None], with_answers: bool, epochs: int
) -> None:
    model = build(
        "model=bayes", "model.moves.every=0", "model.final_refits=0", "batch_size=20", with_answers=with_answers,
        restarts=6,
    )  # fmt: skip
    model.warm_up()
    if epochs:
        fit(model, epochs)
    before = model.elbo()["total"]
    accepted = merge_moves(model)
    rise = model.elbo()["total"] - before
    assert accepted.any()
    assert (rise[accepted > 0] > 0).all()
    # Restarts converge together: how long the others take moves a sweep's last digits.
    assert (rise[accepted == 0].abs() < 0.05).all()


def test_the_bound_of_a_subset_is_unbiased(build: Build) -> None:
    model = build("model=bayes", "model.elbo_samples=10", "model.warm.epochs=20", with_answers=False)
    model.warm_up()
    exact = model.elbo()
    estimates: dict[str, list[float]] = {name: [] for name in ("reconstruction", "kl_z", "kl_x", "total")}
    for seed in range(60):  # the subset depends on the run's seed
        model.seed = seed
        terms = model.elbo(max_items=40)
        for name, values in estimates.items():
            values.append(float(terms[name]))
    for name, values in estimates.items():
        error = np.std(values) / len(values) ** 0.5
        assert np.mean(values) == pytest.approx(float(exact[name]), abs=4 * error), name
    model.seed = 0
    assert float(model.elbo(max_items=40)["total"]) == estimates["total"][0], "the same items each time"


def test_annotated_items_are_never_left_out_of_a_subset(build: Build) -> None:
    model = build("model=bayes", "model.start=cold")
    assert model.annotations is not None
    parts = list(model.evaluation_parts(max_items=10))
    assert [weight for _, _, weight in parts] == [1.0, 70 / 10]
    (features, batch, _), (others, none, _) = parts
    assert batch is not None
    assert none is None
    torch.testing.assert_close(features, model.features[model.annotations.annotated])
    position = (others[:, None] == model.features[None]).all(-1).float().argmax(1)
    assert len(set(position.tolist())) == 10
    assert not set(position.tolist()) & set(model.annotations.annotated.tolist())
