"""The first epochs, as a plain VAE: networks whose latent means are worth looking at before there are clusters."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.distributions import MultivariateNormal, kl_divergence

from semicrowd.expfam import gaussian
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.training_data import TrainingData, pieces
from semicrowd.random import torch_stream
from semicrowd.settings.training import StartSettings
from semicrowd.starts.epochs import Say, shuffled

#: Standard deviation s of the VAE's prior N(0, s² I): as wide as the initial locations (App. B: m ~ N(0, 3)).
PRIOR_SD = 3.0


def train_vae(model: GenerativeModel, data: TrainingData, settings: StartSettings, say: Say) -> None:
    """Epochs of Adam on the ELBO of a VAE with the prior N(0, s² I) over all items.

    The weight of the KL divergence rises to 1 (Bowman et al. 2016): under its full weight one start in ten learns to
    ignore x before the decoder has learned to use it, and nothing brings it back.
    """
    optimizer = torch.optim.Adam(model.vae_parameters(), lr=settings.learning_rate, fused=True)
    for epoch in range(settings.epochs):
        kl_weight = (epoch + 1) / settings.epochs
        noise = torch_stream(data.seed, "vae/noise", epoch, device=data.device)
        total, batches = torch.zeros((), dtype=torch.float64), shuffled(data, "vae/order", epoch)
        for items in batches:
            features = data.features[items]
            if data.views is not None:
                features = data.views.of(features, noise)
            eta_x = model.vae_posterior(features, PRIOR_SD)
            log_likelihood = model.log_likelihood(gaussian.sample(eta_x, noise), features)
            objective = (log_likelihood - kl_weight * _kl_to_prior(eta_x)).mean(1)
            optimizer.zero_grad()
            (-objective.sum()).backward()
            optimizer.step()
            total += objective.max().detach().double().cpu()
        say(f"start {epoch + 1}/{settings.epochs}: ELBO per item {total / len(batches):.2f}")


@torch.no_grad()
def latent_statistics(model: GenerativeModel, features: Float[Tensor, "N D"]) -> Float[Tensor, "R N S"]:
    """E t(x) of items under the model as a VAE, S = d + d²."""
    found = [
        gaussian.expected_statistics(model.vae_posterior(piece, PRIOR_SD))
        for piece in pieces(features, model.num_restarts, model.device)
    ]
    return torch.cat(found, 1)


def latent_means(model: GenerativeModel, t_x: Float[Tensor, "*batch S"]) -> Float[np.ndarray, "*batch d"]:
    """E x of E t(x)."""
    return t_x[..., : model.settings.latent_dim].cpu().numpy()


def _kl_to_prior(eta_x: Float[Tensor, "R B S"]) -> Float[Tensor, "R B"]:
    """KL(q(x)‖N(0, s² I)) in nats."""
    mean, covariance = gaussian.to_standard(eta_x)
    wide = PRIOR_SD**2 * torch.eye(mean.shape[-1], device=mean.device)
    prior = MultivariateNormal(torch.zeros_like(mean[0, 0]), wide)
    return kl_divergence(MultivariateNormal(mean, covariance, validate_args=False), prior)
