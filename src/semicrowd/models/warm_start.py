"""Warm start: some epochs as a plain VAE, a partition of the latent means, then the mixture of that partition."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from sklearn.cluster import KMeans
from torch import Tensor
from torch.distributions import MultivariateNormal, kl_divergence

from semicrowd.crowd.cells import join_cells, mixed_cells
from semicrowd.crowd.two_coin import pair_evidence
from semicrowd.expfam import dirichlet, gaussian, normal_inverse_wishart
from semicrowd.inference.message_passing import unary_message
from semicrowd.inference.statistics import ExpectedGlobals
from semicrowd.models.base import ClusteringModule
from semicrowd.models.global_posterior import mixture_prior
from semicrowd.random import stream, torch_stream


def warm_start(model: ClusteringModule, progress: Callable[[str], None]) -> None:
    """Set the networks and the mixture of ``model``; what it believes of the annotators keeps its initial value.

    Of ``warm.candidates`` partitions of each restart, the one with the most evidence starts it.
    """
    train_vae(model, progress)
    progress("warm start: partitions of the latent means")
    t_x = torch.cat([_latent_statistics(model, piece) for piece in model.chunks(model.features)], 1)
    best = [max(_partitions(model, t_x[r], r), key=lambda pair: pair[0])[1] for r in range(model.num_restarts)]
    model.start_from_partition(t_x, torch.from_numpy(np.stack(best)), progress)


def train_vae(model: ClusteringModule, progress: Callable[[str], None]) -> None:
    """Epochs of Adam on the ELBO of a VAE with the prior N(0, s² I), s = ``warm.latent_sd``, over all items.

    The weight of the KL divergence rises to 1 (Bowman et al. 2016): under its full weight one start in ten learns to
    ignore x before the decoder has learned to use it, and nothing brings it back.
    """
    settings = model.settings.warm
    optimizer = torch.optim.Adam(model.parameters_of_vae(), lr=settings.learning_rate, fused=True)
    size = min(model.batch_size, model.num_items)
    for epoch in range(settings.epochs):
        kl_weight = (epoch + 1) / settings.epochs
        order = torch.from_numpy(stream(model.seed, "order", 0, 0, epoch).permutation(model.num_items))
        noise = torch_stream(model.seed, "noise", 0, 0, 0, epoch, device=model.device)
        total = torch.zeros((), dtype=torch.float64)
        batches = order[: model.num_items // size * size].split(size)
        for items in batches:
            features = model.features[items].to(model.device)
            eta_x = model.vae_posterior(features)
            log_likelihood = model.decoder.log_likelihood(gaussian.sample(eta_x, noise), features)
            objective = (log_likelihood - kl_weight * _kl_to_prior(eta_x, settings.latent_sd)).mean(1)
            optimizer.zero_grad()
            (-objective.sum()).backward()
            optimizer.step()
            total += objective.max().detach().double().cpu()
        progress(f"warm start {epoch + 1}/{settings.epochs}: ELBO per item {total / len(batches):.2f}")


def _kl_to_prior(eta_x: Tensor, sd: float) -> Tensor:
    """KL(q(x)‖N(0, sd² I)) in nats, [R, B]."""
    mean, covariance = gaussian.to_standard(eta_x)
    prior = MultivariateNormal(torch.zeros_like(mean[0, 0]), sd**2 * torch.eye(mean.shape[-1], device=mean.device))
    return kl_divergence(MultivariateNormal(mean, covariance, validate_args=False), prior)


@torch.no_grad()
def _latent_statistics(model: ClusteringModule, features: Tensor) -> Tensor:
    return gaussian.expected_statistics(model.vae_posterior(features))


def _partitions(model: ClusteringModule, t_x: Tensor, restart: int) -> Iterator[tuple[float, np.ndarray]]:
    """Evidence and clusters [N] of one restart's candidates."""
    settings = model.settings.warm
    latent = t_x[:, : model.settings.latent_dim].cpu().numpy()
    for candidate in range(settings.candidates):
        rng = stream(model.seed, "init", restart, candidate)
        subset = rng.permutation(len(latent))[: settings.kmeans_items]
        merge = model.annotations is not None and settings.cells is not None
        cells = max(settings.cells, model.num_clusters) if merge else model.num_clusters
        kmeans = KMeans(min(cells, len(subset)), n_init=1, random_state=int(rng.integers(2**31)))
        clusters = kmeans.fit(latent[subset]).predict(latent)
        if merge:
            clusters = _by_answers(model, t_x, clusters, restart)
        yield _evidence(model, t_x, clusters, restart), clusters


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
