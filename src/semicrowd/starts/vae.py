"""The first epochs train a plain VAE, whose latent means are then clustered."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.distributions import MultivariateNormal, kl_divergence

from semicrowd.expfam import gaussian
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.training_data import TrainingData, pieces
from semicrowd.nets import descend
from semicrowd.random import stream, torch_stream
from semicrowd.starts.shared import ProgressCallback, shared


def shuffled(data: TrainingData, purpose: str, epoch: int, whole: bool = True) -> tuple[Tensor, ...]:
    """Batches of item ids, shuffled by the random stream ``purpose``; ``whole``: a smaller last batch is dropped."""
    order = torch.from_numpy(stream(data.seed, purpose, epoch).permutation(data.num_items)).to(data.device)
    size = min(data.batch_size, data.num_items)
    return order[: data.num_items // size * size if whole else None].split(size)


#: Standard deviation s of the VAE's prior N(0, s² I): as wide as the initial locations (App. B: m ~ N(0, 3)).
PRIOR_SD = 3.0


#: Parameters of a model on which its VAE depends.
_OF_VAE = (
    "architecture", "augmentation", "blocks", "channels", "init_epochs", "init_learning_rate", "likelihood",
    "precision",
)  # fmt: skip


def train_vae(model: GenerativeModel, data: TrainingData, progress: ProgressCallback) -> None:
    """Train the model as a VAE, or take the parameters of the same VAE of an earlier fit."""
    of_model = model.name, {name: model.params[name] for name in _OF_VAE}, _values(model), model.image_shape
    inputs = data.features.cpu().numpy(), data.batch_size, data.seed, str(data.device), of_model

    def compute() -> list[np.ndarray]:
        _train(model, data, progress)
        return _values(model)

    values = shared(data.memory, "vae", inputs, compute)
    with torch.no_grad():
        for parameter, value in zip(model.vae_parameters(), values, strict=True):
            parameter.copy_(torch.from_numpy(value))


def _values(model: GenerativeModel) -> list[np.ndarray]:
    return [parameter.detach().cpu().numpy() for parameter in model.vae_parameters()]


def _train(model: GenerativeModel, data: TrainingData, progress: ProgressCallback) -> None:
    """Epochs of Adam on the ELBO of a VAE with the prior N(0, s² I) over all items.

    The weight of the KL divergence rises linearly to 1 (Bowman et al. 2016): with weight 1 throughout, the posterior of
    one run in ten collapses to the prior for good.
    """
    epochs = model.params.init_epochs
    optimizer = torch.optim.Adam(model.vae_parameters(), lr=model.params.init_learning_rate, fused=True)
    for epoch in range(epochs):
        kl_weight = (epoch + 1) / epochs
        noise = torch_stream(data.seed, "vae/noise", epoch, device=data.device)
        total, batches = torch.zeros((), dtype=torch.float64), shuffled(data, "vae/order", epoch)
        for items in batches:
            features = data.features[items]
            if data.views is not None:
                features = data.views.of(features, noise)
            eta_x = model.vae_posterior(features, PRIOR_SD)
            log_likelihood = model.log_likelihood(gaussian.sample(eta_x, noise), features)
            of_items = log_likelihood - kl_weight * _kl_to_prior(eta_x)
            objective = of_items.mean(1)
            descend(optimizer, -objective.sum())
            total += objective.max().detach().double().cpu()
        progress(f"start {epoch + 1}/{epochs}: ELBO per item {total / len(batches):.2f}")


@torch.no_grad()
def latent_statistics(model: GenerativeModel, features: Float[Tensor, "N D"]) -> Float[Tensor, "R N S"]:
    """E t(x) of items under the model as a VAE, S = d + d²."""
    statistics = [
        gaussian.expected_statistics(model.vae_posterior(piece, PRIOR_SD))
        for piece in pieces(features, model.num_restarts, model.device)
    ]
    return torch.cat(statistics, 1)


def latent_means(model: GenerativeModel, t_x: Float[Tensor, "*batch S"]) -> Float[np.ndarray, "*batch d"]:
    """E x, the first components of E t(x)."""
    return t_x[..., : model.params.latent_dim].cpu().numpy()


def _kl_to_prior(eta_x: Float[Tensor, "R B S"]) -> Float[Tensor, "R B"]:
    mean, covariance = gaussian.to_standard(eta_x)
    wide = PRIOR_SD**2 * torch.eye(mean.shape[-1], device=mean.device)
    prior = MultivariateNormal(torch.zeros_like(mean[0, 0]), wide)
    return kl_divergence(MultivariateNormal(mean, covariance, validate_args=False), prior)
