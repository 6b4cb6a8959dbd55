"""Warm start: some epochs as a plain VAE, k-means on the latent means, then the conjugate posterior of that partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from sklearn.cluster import KMeans
from torch import Tensor
from torch.distributions import MultivariateNormal, kl_divergence

from semicrowd.crowd.two_coin import pair_evidence
from semicrowd.expfam import dirichlet, gaussian, normal_inverse_wishart
from semicrowd.random import stream, torch_stream

if TYPE_CHECKING:
    from semicrowd.models.bayes import BayesSCDC


def warm_start(model: BayesSCDC, progress: Callable[[str], None]) -> None:
    """Set the networks, q(π) and q(μ, Σ) of ``model``; q(α) and q(β) keep their initial values.

    Of ``warm.candidates`` partitions of each restart, the one with the most evidence starts it.
    """
    train_vae(model, progress)
    progress("warm start: partitions of the latent means")
    t_x = torch.cat([_vae_statistics(model, piece) for piece in model.chunks(model.features)], 1)
    best = [max(_partitions(model, t_x[r], r), key=lambda pair: pair[0])[1] for r in range(model.num_restarts)]
    set_components(model, t_x, torch.from_numpy(np.stack(best)))


def _partitions(model: BayesSCDC, t_x: Tensor, restart: int) -> Iterator[tuple[float, np.ndarray]]:
    """Evidence and clusters [N] of one restart's candidates."""
    settings = model.settings.warm
    latent = t_x[:, : model.settings.latent_dim].cpu().numpy()
    for candidate in range(settings.candidates):
        rng = stream(model.seed, "init", restart, candidate)
        subset = rng.permutation(len(latent))[: settings.kmeans_items]
        kmeans = KMeans(model.num_clusters, n_init=1, random_state=int(rng.integers(2**31)))
        clusters = kmeans.fit(latent[subset]).predict(latent)
        if model.annotations is not None and settings.merge:
            clusters = _merge_by_answers(model, clusters, restart)
        yield _evidence(model, t_x, clusters, restart), clusters


@torch.no_grad()
def _evidence(model: BayesSCDC, t_x: Tensor, clusters: np.ndarray, restart: int) -> float:
    """The conjugate model's log evidence of a hard partition, up to a constant: mixture (App. A.3) and answers (eq. 20)."""
    counts, statistics = _counts(model, t_x[None], torch.from_numpy(clusters)[None])
    prior = model.globals
    mixture = dirichlet.log_partition(prior.prior("pi") + counts).sum()
    mixture += normal_inverse_wishart.log_partition(prior.prior("components") + statistics).sum()
    if model.annotations is None:
        return float(mixture)
    same = clusters[model.annotations.i] == clusters[model.annotations.j]
    return float(mixture) + float(_answer_weights(model, restart)[same].sum())


def _answer_weights(model: BayesSCDC, restart: int) -> np.ndarray:
    """w_ij of every answer (eq. 14) under the initial q(α) and q(β)."""
    a = model.annotations
    assert a is not None
    with torch.no_grad():
        expected = model.globals.expected()
    worker, label = torch.from_numpy(a.worker), torch.from_numpy(a.label)
    sensitivity, specificity = expected.sensitivity[restart, None].cpu(), expected.specificity[restart, None].cpu()
    return pair_evidence(sensitivity, specificity, worker, label).weight[0].numpy()


def _vae_natural(model: BayesSCDC, features: Tensor) -> Tensor:
    """q(x) under the prior N(0, s² I) in place of the mixture: natural parameters [R, B, d + d²]."""
    d = model.settings.latent_dim
    covariance = torch.eye(d, dtype=features.dtype, device=features.device) * model.settings.warm.latent_sd**2
    return model.recognition.potentials(features) + gaussian.to_natural(features.new_zeros(d), covariance)


@torch.no_grad()
def _vae_statistics(model: BayesSCDC, features: Tensor) -> Tensor:
    return gaussian.expected_statistics(_vae_natural(model, features))


def train_vae(model: BayesSCDC, progress: Callable[[str], None]) -> None:
    """Epochs of Adam on the ELBO of a VAE with the prior N(0, s² I), s = ``warm.latent_sd``, over all items."""
    nets = [*model.recognition.parameters(), *model.decoder.parameters()]
    optimizer = torch.optim.Adam(nets, lr=model.settings.warm.learning_rate)
    size = min(model.batch_size, model.num_items)
    for epoch in range(model.settings.warm.epochs):
        order = torch.from_numpy(stream(model.seed, "order", 0, 0, epoch).permutation(model.num_items))
        noise = torch_stream(model.seed, "noise", 0, 0, 0, epoch, device=model.device)
        total = torch.zeros((), dtype=torch.float64)
        batches = order[: model.num_items // size * size].split(size)
        for items in batches:
            features = model.features[items].to(model.device)
            eta_x = _vae_natural(model, features)
            log_likelihood = model.decoder.log_likelihood(gaussian.sample(eta_x, noise), features)
            objective = (log_likelihood - _kl_to_prior(eta_x, model.settings.warm.latent_sd)).mean(1)
            optimizer.zero_grad()
            (-objective.sum()).backward()
            optimizer.step()
            total += objective.max().detach().double().cpu()
        progress(f"warm start {epoch + 1}/{model.settings.warm.epochs}: ELBO per item {total / len(batches):.2f}")


def _kl_to_prior(eta_x: Tensor, sd: float) -> Tensor:
    """KL(q(x)‖N(0, sd² I)) in nats, [R, B]."""
    mean, covariance = gaussian.to_standard(eta_x)
    prior = MultivariateNormal(torch.zeros_like(mean[0, 0]), sd**2 * torch.eye(mean.shape[-1], device=mean.device))
    return kl_divergence(MultivariateNormal(mean, covariance, validate_args=False), prior)


def _merge_by_answers(model: BayesSCDC, clusters: np.ndarray, restart: int) -> np.ndarray:
    """Join the cells that the answers say are one kind: greedy agglomeration of the summed w_ij (eq. 14) between cells.

    k-means cuts long or curved clusters in pieces. Two cells are joined while the log-odds of the answers between them,
    less ln K for the prior odds of any two cells, is positive, the largest first; cells without answers stay.
    """
    a = model.annotations
    assert a is not None
    K = model.num_clusters
    odds = np.zeros((K, K))
    np.add.at(odds, (clusters[a.i], clusters[a.j]), _answer_weights(model, restart))
    odds += odds.T
    name = np.arange(K)
    np.fill_diagonal(odds, -np.inf)
    while odds.max() > np.log(K):
        keep, gone = np.unravel_index(odds.argmax(), odds.shape)
        odds[keep] += odds[gone]
        odds[:, keep] = odds[keep]
        odds[gone], odds[:, gone], odds[keep, keep] = -np.inf, -np.inf, -np.inf
        name[name == gone] = keep
    return name[clusters]


@torch.no_grad()
def set_components(model: BayesSCDC, t_x: Tensor, clusters: Tensor) -> None:
    """q(π) and q(μ, Σ) as the exact conjugate posterior given assignments (eqs. 26 and 27 at ρ = 1).

    Parameters
    ----------
    t_x : [R, N, d + d²], E t(x) of every item
    clusters : [R, N] int, cluster of every item
    """
    counts, statistics = _counts(model, t_x, clusters)
    eta = model.globals.eta
    eta["pi"].copy_(model.globals.prior("pi") + counts)
    eta["components"].copy_(model.globals.prior("components") + statistics)


def _counts(model: BayesSCDC, t_x: Tensor, clusters: Tensor) -> tuple[Tensor, Tensor]:
    """Sums over the items of each cluster: their number [R, K] and (t(x), 1, 1) [R, K, F]."""
    one_hot = torch.nn.functional.one_hot(clusters.long().to(t_x.device), model.num_clusters).to(torch.float64)
    statistics = torch.cat([t_x, t_x.new_ones(*t_x.shape[:2], 2)], -1).double()
    return one_hot.sum(1), one_hot.mT @ statistics
