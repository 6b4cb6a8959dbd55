"""Supervised training of a model's networks on the initial clusters."""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import nll_loss, one_hot

from semicrowd.expfam import gaussian
from semicrowd.inference.bound import local_terms
from semicrowd.inference.message_passing import LocalPosterior, initial_z, update_x
from semicrowd.inference.mixture import partition_posterior
from semicrowd.inference.statistics import ExpectedGlobals
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.scdc import SCDC
from semicrowd.models.training_data import CHUNK, TrainingData, pieces
from semicrowd.random import torch_stream
from semicrowd.settings.training import StartSettings
from semicrowd.starts.epochs import ProgressCallback, shuffled

#: Standard deviation of fresh Gaussian noise on the features while networks learn from few items.
NOISE = 0.2


def teach_classifier(
    model: SCDC, data: TrainingData, settings: StartSettings, target: Tensor, progress: ProgressCallback
) -> None:
    """Epochs of Adam on the cross-entropy of SCDC's q(z | o) to clusters, [R, N] int or probabilities [R, N, K].

    If q(z | o) is frozen afterwards (``hold``), it is trained on a view of each item here: it sees no views later.
    """
    optimizer = torch.optim.Adam(model.classifier.parameters(), lr=settings.learning_rate, fused=True)
    target, views = target.to(data.device), data.views if settings.hold else None
    for epoch in range(settings.teach_epochs):
        noise = torch_stream(data.seed, "classifier/views", epoch, device=data.device)
        for items in shuffled(data, "classifier/order", epoch, whole=False):
            features = data.features[items]
            log_q = model.classify(features if views is None else views.of(features, noise))
            optimizer.zero_grad()
            _cross_entropy(log_q, target[:, items]).backward()
            optimizer.step()
        progress(f"start: learning the clusters {epoch + 1}/{settings.teach_epochs}")


def _cross_entropy(log_q: Float[Tensor, "R B K"], target: Tensor) -> Float[Tensor, ""]:
    """Mean over restarts and items."""
    if target.dim() == 2:
        return nll_loss(log_q.flatten(0, 1), target.flatten().long())
    return -(target * log_q).sum(-1).mean()


def teach_bayes(
    model: BayesSCDC,
    data: TrainingData,
    settings: StartSettings,
    clusters: Int[Tensor, "R N"],
    progress: ProgressCallback,
) -> None:
    """Epochs of Adam on BayesSCDC's networks with every z fixed to its cluster.

    q(π) and q(μ, Σ) are set to the posterior given the clusters after every epoch. The objective is the ELBO plus
    ``teach_weight`` times ln q(z | features alone) of the cluster, from the recognition potential under the mixture: it
    makes x represent what distinguishes the clusters. Hard clusters are used since probabilities would widen the
    Gaussians, the only way in which the mixture can express uncertainty.
    """
    optimizer = torch.optim.Adam(model.vae_parameters(), lr=settings.learning_rate, fused=True)
    clusters = clusters.to(data.device)
    probabilities = one_hot(clusters, model.num_clusters).to(data.features.dtype)
    for epoch in range(settings.teach_epochs):
        expected = model.globals.expected().cast(data.features.dtype).detach()
        noise = torch_stream(data.seed, "teaching/noise", epoch, device=data.device)
        total, batches = torch.zeros((), dtype=torch.float64), shuffled(data, "teaching/order", epoch)
        for items in batches:
            q, features = probabilities[:, items], data.features[items]
            draws = torch.randn(model.num_restarts, *features.shape, generator=noise, device=data.device)
            recognition = model.recognise(features + NOISE * draws)
            eta_x = update_x(q, recognition, expected)
            mean, root = gaussian.location_and_root(eta_x)
            local = LocalPosterior(eta_x, gaussian.statistics(mean, root @ root.mT), root, q.clamp(min=1e-30).log())
            terms = local_terms(local, expected)
            bound = model.log_likelihood(gaussian.draw(mean, root, noise), features) - terms.kl_x
            alone = initial_z(recognition, expected)
            objective = (bound + settings.teach_weight * (q * alone).sum(-1)).mean(1)
            optimizer.zero_grad()
            (-objective.sum()).backward()
            optimizer.step()
            total += objective.max().detach().double().cpu()
        _refit_mixture(model, data, probabilities, clusters, expected)
        progress(f"start: learning the clusters {epoch + 1}/{settings.teach_epochs}: {total / len(batches):.2f}")


@torch.no_grad()
def _refit_mixture(
    model: BayesSCDC,
    data: TrainingData,
    probabilities: Float[Tensor, "R N K"],
    clusters: Int[Tensor, "R N"],
    expected: ExpectedGlobals,
) -> None:
    """Set q(π) and q(μ, Σ) to the posterior given the clusters, with q(x) by eq. 12."""
    features = pieces(data.features, model.num_restarts, model.device)
    given = probabilities.split(max(CHUNK // model.num_restarts, 1), 1)
    eta_x = [update_x(q, model.recognition.potentials(o), expected) for o, q in zip(features, given, strict=True)]
    t_x = torch.cat([gaussian.expected_statistics(eta) for eta in eta_x], 1)
    model.set_mixture(partition_posterior(model.mixture_prior(), t_x, clusters))
