"""Split moves: a planted union is cut, a right cluster is not, the bound never falls, and what halves get is exact."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tests.small_fits import SmallFit, small_fit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.fitting.bayes_moves import MovableBayes, refit
from semicrowd.fitting.moves import merge_moves, split_moves, splits
from semicrowd.inference.mixture import cuts, partition_posterior
from semicrowd.models.bayes import BayesSCDC
from semicrowd.starts.vae import latent_statistics

Build = Callable[..., SmallFit[BayesSCDC]]
#: All fits begin with the same VAE.
pytestmark = pytest.mark.shares_starts
CENTRES = np.array([[-6.0, 0.0], [6.0, 0.0], [0.0, 8.0]])
KIND = np.arange(360) % 3


def blobs(annotations: PairAnnotations | None = None, restarts: int = 1, **settings: Any) -> SmallFit[BayesSCDC]:
    """Three clear clusters of 120 points, and a VAE that has seen them."""
    noise = np.random.default_rng(0).normal(size=(len(KIND), 2))
    features = (CENTRES[KIND] + noise).astype(np.float32)
    fit = small_fit(
        "bayes", features, annotations, restarts=restarts, K=6, start={"epochs": 40}, merge_every=0, **settings
    )
    fit.begin()
    return fit


def plant(fit: SmallFit[BayesSCDC], clusters: np.ndarray) -> None:
    """The mixture of given clusters, [R, N] or [N]."""
    model, restarts = fit.model, fit.model.num_restarts
    t_x = latent_statistics(model, fit.features)
    found = torch.from_numpy(np.broadcast_to(clusters, (restarts, len(KIND))).copy())
    model.set_mixture(partition_posterior(model.mixture_prior(), t_x, found))
    refit(model, fit.data, 3)


def refitted(fit: SmallFit[BayesSCDC]) -> MovableBayes:
    movable = MovableBayes(fit.model, fit.data)
    movable.refitted_bound()
    return movable


def test_a_planted_union_is_split_and_the_right_clusters_are_not() -> None:
    fit = blobs(restarts=2)
    united = np.stack([np.where(KIND == 2, 0, KIND), KIND])
    plant(fit, united)
    before = fit.elbo()["total"]
    accepted = split_moves(MovableBayes(fit.model, fit.data))
    assert accepted.tolist() == [1, 0]
    assert float((fit.elbo()["total"] - before)[0]) > 10
    for found in fit.model.posterior(fit.features).probabilities.argmax(-1).numpy():
        assert len({*zip(found.tolist(), KIND.tolist(), strict=True)}) == len({*found.tolist()}) == 3
    assert not merge_moves(MovableBayes(fit.model, fit.data)).any(), "one objective: no merge undoes it"


def test_all_in_one_becomes_three() -> None:
    fit = blobs()
    plant(fit, np.zeros_like(KIND))
    assert int(split_moves(MovableBayes(fit.model, fit.data))) >= 2
    found = fit.clusters()
    assert all(len(set(found[kind == KIND].tolist())) == 1 for kind in range(3))
    assert len(set(found.tolist())) == 3


def test_without_a_free_component_nothing_is_split_and_nothing_changes() -> None:
    fit = blobs()
    plant(fit, np.where(KIND == 2, 0, KIND))
    model = fit.model
    with torch.no_grad():
        model.globals.eta["pi"] += 3.0  # every component counts as one in use
    movable = refitted(fit)
    with torch.no_grad():
        model.globals.eta["pi"] += 3.0
    assert cuts(movable.items(), 0, movable.prior)
    assert next(splits(movable, 0, movable.items()), None) is None


@pytest.mark.parametrize("with_answers", [True, False])
def test_no_round_lowers_the_bound(bayes: Build, with_answers: bool) -> None:
    fit = bayes(K=8, merge_every=0, final_refits=0, batch_size=20, with_answers=with_answers, restarts=4)
    fit.begin()
    model = fit.model
    t_x = latent_statistics(model, fit.features)
    halves = torch.from_numpy((fit.features[:, 0].numpy() > 0).astype(np.int64))
    model.set_mixture(partition_posterior(model.mixture_prior(), t_x, halves.expand(4, -1).clone()))
    before = fit.elbo()["total"]
    accepted = split_moves(MovableBayes(model, fit.data))
    rise = fit.elbo()["total"] - before
    assert accepted.any()
    assert (rise[accepted > 0] > 0).all()
    assert (rise[accepted == 0].abs() < 0.05).all()


def test_answers_cut_what_looks_alike() -> None:
    """Two kinds at one place: only the answers' cut gains, by what they say across it."""
    rng = np.random.default_rng(1)
    seen = np.where((KIND == 0) & (np.arange(len(KIND)) % 2 == 0), 3, KIND)
    i, j = rng.integers(60, size=(2, 3000))
    i, j = i[i != j], j[i != j]
    annotations = PairAnnotations.from_arrays(
        i, j, np.zeros(len(i), int), (seen[i] == seen[j]).astype(int), num_items=len(KIND)
    )
    fit = blobs(annotations)
    plant(fit, KIND)
    movable = refitted(fit)
    proposed = cuts(movable.items(), 0, movable.prior)
    best = max(proposed, key=lambda cut: cut.gain)
    assert best.gain > 20
    assert all(cut.gain < 0 for cut in proposed if cut is not best)


def test_halves_have_the_exact_posteriors_of_their_items() -> None:
    fit = blobs()
    plant(fit, np.where(KIND == 2, 0, KIND))
    model = fit.model
    movable = refitted(fit)
    items = movable.items()
    cut = max(cuts(items, 0, movable.prior), key=lambda cut: cut.gain)
    free = int((model.globals.eta["pi"] - model.globals.prior("pi"))[0].argmin())
    movable.divide(0, cut, free)
    prior = model.globals.prior("components")[0, 0]
    shares, statistics = items.shares[0, :, cut.cluster], items.statistics[0]
    total = torch.zeros_like(prior)
    for share, one in zip(shares, statistics, strict=True):
        total += share * one
    halves = model.globals.eta["components"].detach()[0, [cut.cluster, free]] - prior
    torch.testing.assert_close(halves.sum(0), total)
    counts = (model.globals.eta["pi"] - model.globals.prior("pi")).detach()[0, [cut.cluster, free]]
    torch.testing.assert_close(counts, halves[:, -1])
    assert counts.tolist() == pytest.approx([120, 120], abs=5), "two blobs"
