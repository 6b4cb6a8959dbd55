"""Warm start: some epochs as a plain VAE, a partition of the latent means, then the mixture of that partition."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.distributions import MultivariateNormal, kl_divergence

from semicrowd.expfam import gaussian
from semicrowd.starts.answers import answer_start
from semicrowd.fitting.module import ClusteringModule
from semicrowd.starts.partition import best_partition
from semicrowd.random import stream, torch_stream


def warm_start(model: ClusteringModule, progress: Callable[[str], None]) -> None:
    """Set the networks and the mixture of ``model``; of the annotators it believes what it did, or the opposite."""
    train_vae(model, progress)
    t_x, views = _latent_statistics(model, model.features), _views(model)
    if model.settings.warm.partition == "classifier" and model.annotations is not None:
        model.start_from_answers(t_x, answer_start(model, progress), progress)
        return
    progress("warm start: partitions of the latent means")
    t_views = None if views is None else _latent_statistics(model, views)
    clusters = [best_partition(model, t_x, t_views, restart) for restart in range(model.num_restarts)]
    model.start_from_partition(t_x, torch.from_numpy(np.stack(clusters)), progress)


def start_anew(model: ClusteringModule) -> None:
    """Partitions of the present latent means beside the present clusters; the mixture starts from the best of them.

    Splits and merges of all clusters at once, for a model with views: what its networks have learned from a first
    partition shows where that was wrong.
    """
    t_x, views, own = _latent_statistics(model, model.features), _views(model), _clusters(model, model.features)
    # Where no partition looks at views, nor does the comparison with the present one.
    t_views, of_views = (None, own) if views is None else (_latent_statistics(model, views), _clusters(model, views))
    clusters = [best_partition(model, t_x, t_views, r, (own[r], of_views[r])) for r in range(model.num_restarts)]
    model.start_from_partition(t_x, torch.from_numpy(np.stack(clusters)), lambda _: None)


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
            if model.views is not None:
                features = model.views.of(features, noise)
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
    """E t(x) of every item, [R, N, d + d²]."""
    return torch.cat([gaussian.expected_statistics(model.vae_posterior(piece)) for piece in model.chunks(features)], 1)


def _clusters(model: ClusteringModule, features: Tensor) -> np.ndarray:
    """The present cluster of every item, [R, N]."""
    pieces = [model.posterior(piece).probabilities.argmax(-1) for piece in model.chunks(features)]
    return torch.cat(pieces, 1).numpy()


def _views(model: ClusteringModule) -> Tensor | None:
    """One view of every item, [N, D], the same for all partitions and apart from those of training.

    None where no partition looks at views.
    """
    if model.views is None or (model.annotations is not None and model.settings.warm.join != "both"):
        return None
    noise = torch_stream(model.seed, "noise", 0, 0, 0, 0, 1, device=model.device)
    return torch.cat([model.views.of(piece, noise) for piece in model.chunks(model.features)])
