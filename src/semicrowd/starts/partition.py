"""Partitions of latent means: cells of a quick clustering, joined where answers or views say that they are one kind."""

import warnings

import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits
from torch import Tensor

from semicrowd.crowd.cells import join_cells, mixed_cells, odds_between
from semicrowd.crowd.orientation import reversed_annotators
from semicrowd.crowd.two_coin import pair_evidence
from semicrowd.expfam import dirichlet, normal_inverse_wishart
from semicrowd.inference.message_passing import unary_message
from semicrowd.inference.statistics import ExpectedGlobals
from semicrowd.fitting.module import ClusteringModule
from semicrowd.models.global_posterior import mixture_prior
from semicrowd.inference.mixture import count_links, join_by_links
from semicrowd.random import stream


def best_partition(
    model: ClusteringModule,
    t_x: Tensor,
    t_views: Tensor | None,
    restart: int,
    now: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """Of ``warm.candidates`` partitions the one with the most evidence, [N].

    Parameters
    ----------
    t_x : [R, N, d + d²], E t(x) of every item
    t_views : the same of a view of every item, or None
    restart : which of the R
    now : clusters of the items and of their views, [N] each: joined like cells, they are a candidate too
    """
    t_x, t_views = t_x[restart], None if t_views is None else t_views[restart]
    turn = () if now is None else (1 + model.current_epoch,)
    numbers = range(model.settings.warm.candidates)
    streams = [stream(model.seed, "init", restart, candidate, *turn) for candidate in numbers]
    if t_views is not None and (model.annotations is None or model.settings.warm.join == "both"):
        low, high = model.settings.views.join_weight
        progress = 0.0 if now is None else (1 + model.current_epoch) / max(model.trainer.max_epochs or 1, 1)
        weight = low + (high - low) * progress
        cells = [_gaussian_cells(model, t_x, t_views, rng) for rng in streams]
        if now is None:
            _reverse_annotators(model, restart, cells[0][0])
        joined = [_join(model, t_x, *c, weight, restart) for c in cells + ([] if now is None else [now])]
        return max(joined, key=lambda pair: pair[0])[1]
    candidates = [_kmeans(model, t_x, rng) for rng in streams]
    if model.annotations is not None:
        if now is None:  # once: later they are what has been learned of them
            _reverse_annotators(model, restart, candidates[0])
        if model.settings.warm.cells is not None:
            candidates = [_by_answers(model, t_x, cells, restart) for cells in candidates]
    candidates += [] if now is None else [now[0]]
    return max(candidates, key=lambda clusters: _evidence(model, t_x, clusters, restart))


def _reverse_annotators(model: ClusteringModule, restart: int, cells: np.ndarray) -> None:
    if model.annotations is not None:
        model.reverse_annotators(restart, reversed_annotators(cells, model.annotations))


def _latent_means(model: ClusteringModule, t_x: Tensor) -> np.ndarray:
    return t_x[:, : model.settings.latent_dim].cpu().numpy()


def _kmeans(model: ClusteringModule, t_x: Tensor, rng: np.random.Generator) -> np.ndarray:
    """``warm.cells`` cells where answers will join them, else K clusters, [N]."""
    settings, latent = model.settings.warm, _latent_means(model, t_x)
    subset = latent[rng.permutation(len(latent))[: settings.kmeans_items]]
    join = model.annotations is not None and settings.cells is not None
    number = max(settings.cells, model.num_clusters) if join else model.num_clusters
    kmeans = KMeans(min(number, len(subset)), n_init=1, random_state=int(rng.integers(2**31))).fit(subset)
    return kmeans.predict(latent)


def _gaussian_cells(
    model: ClusteringModule, t_x: Tensor, t_views: Tensor, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """K Gaussian cells of the items [N] and of their views [N]."""
    latent = _latent_means(model, t_x)
    subset = latent[rng.permutation(len(latent))[: model.settings.warm.kmeans_items]]
    with warnings.catch_warnings(), threadpool_limits(1):  # its many small products are slower on several threads
        warnings.simplefilter("ignore", ConvergenceWarning)  # rough cells are all that is needed
        mixture = GaussianMixture(
            model.num_clusters, reg_covar=1e-3, max_iter=60, random_state=int(rng.integers(2**31))
        ).fit(subset)
    return mixture.predict(latent), mixture.predict(_latent_means(model, t_views))


def _join(
    model: ClusteringModule, t_x: Tensor, cells: np.ndarray, of_views: np.ndarray, weight: float, restart: int
) -> tuple[float, np.ndarray]:
    """Cells [N] of items and of their views, joined by the links and answers between them: evidence, clusters [N]."""
    prior = mixture_prior(model.settings)["components"][0, 0]
    eta = partition_posterior(model, t_x[None], torch.from_numpy(cells)[None])["components"][0].cpu()
    links, odds = count_links(cells, of_views, model.num_clusters), None
    if model.annotations is not None:
        odds = odds_between(cells, model.annotations, _answer_weights(model, restart), model.num_clusters)
    name, evidence = join_by_links(eta - prior, prior, links, weight, odds)
    return evidence, name[cells]


def _by_answers(model: ClusteringModule, t_x: Tensor, cells: np.ndarray, restart: int) -> np.ndarray:
    """Cells [N] joined by the answers; items of the cells that the answers tear apart go to the rest."""
    assert model.annotations is not None
    weight = _answer_weights(model, restart)
    clusters = join_cells(cells, model.annotations, weight, model.num_clusters)
    mixed = mixed_cells(clusters, model.annotations, weight, model.num_clusters)
    if mixed.all() or not mixed.any():
        return clusters
    kept = ~mixed[clusters]
    names, clusters[kept] = np.unique(clusters[kept], return_inverse=True)
    eta = partition_posterior(model, t_x[None, kept], torch.from_numpy(clusters[None, kept]))
    mixture = dirichlet.expected_statistics(eta["pi"]), normal_inverse_wishart.expected_statistics(eta["components"])
    expected = ExpectedGlobals(*mixture, *model.worker_log_probabilities())
    scores = unary_message(t_x[None, ~kept].double(), expected)[0, :, : len(names)]
    clusters[~kept] = scores.argmax(-1).cpu().numpy()
    return clusters


@torch.no_grad()
def _evidence(model: ClusteringModule, t_x: Tensor, clusters: np.ndarray, restart: int) -> float:
    """Log evidence of a hard partition up to a constant: conjugate mixture (App. A.3) and answers (eq. 20)."""
    eta = partition_posterior(model, t_x[None], torch.from_numpy(clusters)[None])
    mixture = dirichlet.log_partition(eta["pi"]).sum() + normal_inverse_wishart.log_partition(eta["components"]).sum()
    if model.annotations is None:
        return float(mixture)
    same = clusters[model.annotations.i] == clusters[model.annotations.j]
    return float(mixture) + float(_answer_weights(model, restart)[same].sum())


def partition_posterior(model: ClusteringModule, t_x: Tensor, clusters: Tensor) -> dict[str, Tensor]:
    """The exact conjugate posterior of π and (μ, Σ) given assignments (eqs. 26 and 27 at ρ = 1).

    Parameters
    ----------
    t_x : [R, N, d + d²], E t(x) of every item
    clusters : [R, N] int, cluster of every item
    """
    one_hot = torch.nn.functional.one_hot(clusters.long().to(t_x.device), model.num_clusters).to(torch.float64)
    statistics = torch.cat([t_x, t_x.new_ones(*t_x.shape[:2], 2)], -1).double()
    prior = {name: eta.to(t_x.device) for name, eta in mixture_prior(model.settings).items()}
    return {"pi": prior["pi"] + one_hot.sum(1), "components": prior["components"] + one_hot.mT @ statistics}


@torch.no_grad()
def _answer_weights(model: ClusteringModule, restart: int) -> np.ndarray:
    """w_ij of every answer (eq. 14) under what the model believes of the annotators."""
    a = model.annotations
    assert a is not None
    sensitivity, specificity = (log[restart, None].cpu() for log in model.worker_log_probabilities())
    evidence = pair_evidence(sensitivity, specificity, torch.from_numpy(a.worker), torch.from_numpy(a.label))
    return evidence.weight[0].numpy()
