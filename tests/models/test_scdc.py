"""SCDC: the sum over z by force, restricted sums, answers, and three readings of the first α and β."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from scipy.stats import kstest
from tests import made
from tests.small_fits import SmallFit
from torch import Tensor
from torch.distributions import Categorical, MultivariateNormal, kl_divergence

from semicrowd.models.scdc import NUM_VIEWS, QUALITY, SCDC
from semicrowd.models.scdc_terms import ItemTerms, evaluated_pairs
from semicrowd.models.views import Views

Fit = SmallFit[SCDC]
Build = Callable[..., Fit]
NOISE = 0.5


def shaken(fit: Fit, by: float = 0.3) -> Fit:
    """Every parameter moved, so that q(z | o), the encoder and the scales are nothing special."""
    made.shaken(fit.model, by)
    return fit


def restricted(scdc: Build, drop: float, **options: Any) -> Fit:
    """Shaken gently and near the origin, where terms are tens of nats and float32 tells their differences apart."""
    fit = scdc(drop_mass=drop, **options)
    return shaken(replace(fit, data=replace(fit.data, features=0.2 * fit.features)), 0.1)


def components(model: SCDC, r: int, k: int) -> MultivariateNormal:
    return MultivariateNormal(model.location[r, k], scale_tril=model._scale()[r, k])


def kept(q: Tensor, drop: float) -> list[int]:
    """The fewest clusters of q, [K], that leave out at most ``drop``; likeliest first."""
    order = sorted(range(len(q)), key=lambda k: -float(q[k]))
    count = next(n for n in range(1, len(q) + 1) if sum(float(q[k]) for k in order[n:]) <= drop)
    return order[:count]


class Loop(NamedTuple):
    """Terms of items by plain loops, [R, B, K]: of each cluster at its own x, and at that of the likeliest cluster."""

    own: tuple[Tensor, ...]  # reconstruction and KL of x
    shared: tuple[Tensor, ...]


def terms_of_each_cluster(model: SCDC, items: Tensor) -> Loop:
    """With the draws of :func:`terms_at_constant_noise`."""
    R, B, K = model.num_restarts, len(items), model.num_clusters
    q = model.classifier(items).detach()
    cells: dict[str, list[Tensor]] = {"own": [], "shared": []}
    for r, b, k in product(range(R), range(B), range(K)):
        for name, source in (("own", k), ("shared", int(q[r, b].argmax()))):
            mean, variance = model.encoder(items[b : b + 1], torch.zeros(1).long(), torch.full((R, 1), source))
            copies = mean + NOISE * variance.sqrt()  # the decoder takes all restarts; this one is read
            reconstruction = model.decoder.log_likelihood(copies, items[b : b + 1])[r, 0]
            kl_x = kl_divergence(MultivariateNormal(mean[r, 0], variance[r, 0].diag()), components(model, r, k))
            cells[name].append(torch.stack([reconstruction, kl_x]))
    return Loop(*(torch.stack(cells[name]).reshape(R, B, K, 2).unbind(-1) for name in ("own", "shared")))


def terms_at_constant_noise(model: SCDC, items: Tensor) -> ItemTerms:
    """Every draw of x is mean + NOISE · standard deviation, whatever the number and order of draws."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "randn", lambda shape, **_: torch.full(tuple(shape), NOISE))
        return model.item_terms(items, torch.Generator())


@pytest.mark.parametrize("drop", [0.0, 1e-9, 0.1, 0.3, 0.99])
def test_the_terms_of_an_item_are_sums_over_its_clusters(scdc: Build, drop: float) -> None:
    """Values and gradients; clusters that are left out take the x of the item's likeliest cluster."""
    fit = restricted(scdc, drop, n_clusters=4, restarts=2)
    model, items = fit.model, fit.features[:5]
    terms = terms_at_constant_noise(model, items)
    loop = terms_of_each_cluster(model, items)
    log_q = model.classifier(items)
    evaluated = torch.zeros(log_q.shape, dtype=torch.bool)
    for r, b in product(range(2), range(5)):
        evaluated[r, b, kept(log_q[r, b].detach().exp(), drop)] = True
    q = log_q.exp()
    reconstruction, kl_x = (
        (q * torch.where(evaluated, own, shared)).sum(-1) for own, shared in zip(*loop, strict=True)
    )
    pi = model.logits_pi[:, None].expand(log_q.shape)
    kl_z = kl_divergence(Categorical(logits=log_q), Categorical(logits=pi))
    torch.testing.assert_close(terms.reconstruction, reconstruction, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(terms.kl_x, kl_x, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(terms.kl_z, kl_z, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(terms.log_z, log_q)
    torch.testing.assert_close(terms.dropped, (q * ~evaluated).sum(-1).detach(), rtol=1e-4, atol=1e-12)
    parameters = [p for name, p in model.named_parameters() if name != "logits_quality"]
    bounds = (terms.reconstruction - terms.kl_x - terms.kl_z, reconstruction - kl_x - kl_z)
    for actual, expected in zip(*(torch.autograd.grad(bound.sum(), parameters) for bound in bounds), strict=True):
        assert (actual - expected).norm() < 1e-4 * expected.norm()


def test_draws_of_x_are_independent_and_standard(scdc: Build) -> None:
    """Of the exact sum's pairs every one has noise of its own."""
    fit = scdc(n_clusters=4)
    model, features = fit.model, fit.features
    seen = []
    model.decoder.log_likelihood = lambda x, observed: (seen.append(x), observed.sum(-1)[None])[1]  # type: ignore
    model.item_terms(features, torch.Generator().manual_seed(0))
    pairs = evaluated_pairs(model.classifier(features).detach(), model.params.drop_mass)
    mean, variance = model.encoder(features, pairs.item, pairs.cluster)
    noise = ((seen[-1] - mean) / variance.sqrt()).detach()[0].flatten()
    assert len(noise.unique()) > 0.99 * len(noise)
    assert kstest(noise.numpy(), "norm").pvalue > 0.01


def test_the_latent_mean_is_that_under_q(scdc: Build) -> None:
    fit = restricted(scdc, 0.02, n_clusters=4)
    model, features = fit.model, fit.features
    q = model.classifier(features)[0].exp().detach()
    expected = torch.zeros(len(features), 2)
    for b in range(len(features)):
        own = kept(q[b], 0.02)
        for k in range(4):
            source = torch.tensor([[k if k in own else own[0]]])
            expected[b] += q[b, k] * model.encoder(features[b : b + 1], torch.zeros(1).long(), source)[0][0, 0]
    torch.testing.assert_close(model.posterior(features).latent_mean[0], expected.detach(), rtol=1e-4, atol=1e-4)


def test_the_dropped_mass_of_an_epoch_is_logged(scdc: Build) -> None:
    fit = restricted(scdc, 0.99, learning_rate=1e-30, batch_size=30, with_answers=False)
    module = fit.module()
    fit.train(2, module)
    expected = 1 - fit.model.posterior(fit.features).probabilities[0].amax(-1).mean()
    assert expected > 0.01
    assert module.history[-1]["clusters/dropped_mass"] == pytest.approx(float(expected), rel=1e-5)


def test_answers_are_summed_over_all_pairs_of_clusters(scdc: Build) -> None:
    fit = shaken(scdc(n_clusters=3))
    model = fit.model
    expected = torch.zeros(())
    q = model.classifier(fit.features)[0].exp()
    sensitivity, specificity = model.logits_quality[0].sigmoid()
    a = fit.annotations
    for i, j, worker, label in zip(a.i, a.j, a.worker, a.label, strict=True):
        for k in range(3):
            for other in range(3):
                yes = sensitivity[worker] if k == other else 1 - specificity[worker]
                expected = expected + q[i, k] * q[j, other] * torch.log(yes if label else 1 - yes)
    torch.testing.assert_close(fit.elbo()["relational"][0].float(), expected, rtol=1e-4, atol=1e-2)


def test_readings_of_the_first_quality(scdc: Build) -> None:
    def quality(kind: str) -> np.ndarray:
        model = scdc(initial_quality=kind, restarts=40).model
        return model.logits_quality.detach().sigmoid().numpy()  # [R, 2, M]

    assert np.allclose(quality("corrected"), 0.9)
    released, paper = quality("released"), quality("paper")
    np.testing.assert_allclose(released, np.broadcast_to(released[:, :, :1], paper.shape))
    assert len(np.unique(released.round(6))) > 70
    for drawn in (released[:, :, 0], paper):  # Beta(1, 1): uniform
        assert 0.4 < drawn.mean() < 0.6
        assert 0.2 < drawn.std() < 0.36
    assert len(np.unique(paper[0].round(6))) == paper[0].size


def test_the_released_start_draws_all_of_the_clusters(scdc: Build) -> None:
    model = scdc(init="cold", initial_weights="glorot", covariance="diagonal", n_clusters=30, restarts=20).model
    W, scale = model.requires_grad_(False).encoder.cluster, model._scale().diagonal(dim1=-2, dim2=-1)
    for drawn, sd in ((W, (2 / (2 + 30 + W.shape[-1])) ** 0.5), (model.logits_pi, 0.088), (scale.log(), 0.19)):
        assert float(drawn.mean()) == pytest.approx(0, abs=0.03)
        assert float(drawn.std()) == pytest.approx(sd, rel=0.1)


def test_answers_move_annotated_items(scdc: Build) -> None:
    """Where the classifier knows nothing, the answers alone decide which items go together."""
    fit = scdc(n_clusters=3)
    model, batch = fit.model, fit.data.answers
    with torch.no_grad():
        model.logits_quality.fill_(4.0)
    same = batch.label.numpy() == 1
    q = model.annotated_posterior(fit.features, fit.annotations).probabilities[0].numpy()
    alone = model.posterior(fit.features[batch.items]).probabilities[0].numpy()

    def agreement(p: np.ndarray) -> np.ndarray:
        return (p[batch.i.numpy()] * p[batch.j.numpy()]).sum(1)

    gain = agreement(q) - agreement(alone)
    assert gain[same].mean() > 0.2
    assert gain[~same].mean() < 0


def test_a_refit_of_the_annotators_is_the_ratio_of_expected_counts(scdc: Build) -> None:
    """By loops over the answers; and no other α or β has a larger L_rel under the same q."""
    fit = scdc(restarts=2)
    fit.begin()
    model, a = fit.model, fit.annotations
    q = model.annotated_posterior(fit.features, a).probabilities.double().numpy()
    position = {int(item): index for index, item in enumerate(a.annotated)}
    right, all_ = np.zeros((2, 2, a.num_annotators)), np.zeros((2, 2, a.num_annotators))
    for i, j, m, label in zip(a.i, a.j, a.worker, a.label, strict=True):
        for r in range(2):
            same = float(q[r, position[int(i)]] @ q[r, position[int(j)]])
            for side, (chance, correct) in enumerate(((same, label), (1 - same, 1 - label))):
                right[r, side, m] += chance * correct
                all_[r, side, m] += chance
    model.refit_annotators(fit.data)
    quality = model.logits_quality.detach().sigmoid().numpy()
    np.testing.assert_allclose(quality, (right / all_).clip(*QUALITY), atol=2e-3)


def test_who_an_annotated_item_is_is_asked_of_its_views_too(scdc: Build) -> None:
    """Where the answers say nothing, the mean of q(z | o) of the item and of q(z | o') of its views, half each."""
    fit = scdc(n_clusters=3, restarts=2)
    model, annotated = fit.model, fit.annotations.annotated
    with torch.no_grad():
        model.logits_quality.zero_()
    rng = np.random.default_rng(5)
    moved = rng.normal(size=(NUM_VIEWS, len(annotated), fit.features.shape[1])).astype(np.float32)
    drawn = iter(torch.from_numpy(moved))

    class Drawn(Views):
        def __init__(self) -> None:
            """Views as they were drawn above."""

        def of(self, features: Tensor, generator: torch.Generator, *, shared: bool = False) -> Tensor:  # noqa: ARG002
            assert shared
            assert torch.equal(features, fit.features[annotated])
            return next(drawn)

    found = model.annotated_posterior(fit.features, fit.annotations, Drawn()).probabilities
    views = model.posterior(torch.from_numpy(moved).flatten(0, 1)).probabilities.unflatten(1, moved.shape[:2])
    own = model.posterior(fit.features[annotated]).probabilities
    torch.testing.assert_close(found, (own + views.mean(1)) / 2, rtol=1e-5, atol=1e-6)
    again = model.annotated_posterior(fit.features, fit.annotations).probabilities
    torch.testing.assert_close(again, own, rtol=1e-5, atol=1e-6)
