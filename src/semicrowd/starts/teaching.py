"""Supervised training of a model's networks on the initial clusters.

q(z | o) of SCDC then learns to predict the same cluster for two views of an image. Clusters of latent means misplace a
few per cent of the images, and a network that is trained on them learns the wrong borders. A small shift or rotation
does not change the class of an image, so a border between two views of an image is wrong, and is moved, as is a border
that the answers contradict. The objective is that of information maximising self-augmented training (Hu et al. 2017):
invariant, confident outputs with given cluster sizes.
"""

import math

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
from semicrowd.models.views import Views
from semicrowd.nets import descend
from semicrowd.random import torch_stream
from semicrowd.starts.shared import ProgressCallback
from semicrowd.starts.vae import shuffled

#: Standard deviation of fresh Gaussian noise on the features while networks learn from few items.
NOISE = 0.2
#: Last learning rate of :func:`learn_agreement` as a share of the first.
FINAL_RATE = 0.02


def teach_classifier(model: SCDC, data: TrainingData, target: Tensor, progress: ProgressCallback) -> None:
    """Epochs of Adam on the cross-entropy of SCDC's q(z | o) to clusters, [R, N] int or probabilities [R, N, K].

    If q(z | o) is frozen afterwards (``hold``), it is trained on a view of each item here: it sees no views later.
    """
    params = model.params
    optimizer = torch.optim.Adam(model.classifier.parameters(), lr=params.init_learning_rate, fused=True)
    target, views = target.to(data.device), data.views if params.hold else None
    for epoch in range(params.teach_epochs):
        noise = torch_stream(data.seed, "classifier/views", epoch, device=data.device)
        for items in shuffled(data, "classifier/order", epoch, whole=False):
            features = data.features[items]
            log_q = model.classify(features if views is None else views.of(features, noise))
            descend(optimizer, _cross_entropy(log_q, target[:, items]))
        progress(f"start: learning the clusters {epoch + 1}/{params.teach_epochs}")


def _cross_entropy(log_q: Float[Tensor, "R B K"], target: Tensor) -> Float[Tensor, ""]:
    if target.dim() == 2:
        return nll_loss(log_q.flatten(0, 1), target.flatten().long())
    return -(target * log_q).sum(-1).mean()


def teach_bayes(
    model: BayesSCDC, data: TrainingData, clusters: Int[Tensor, "R N"], progress: ProgressCallback
) -> None:
    """Epochs of Adam on BayesSCDC's networks with every z fixed to its cluster.

    q(π) and q(μ, Σ) are set to the posterior given the clusters after every epoch. The objective is the ELBO plus
    ``teach_weight`` times ln q(z | features alone) of the cluster, from the recognition potential under the mixture.
    This second term makes x represent what distinguishes the clusters. Hard clusters are used since probabilities would
    widen the Gaussians, the only way in which the mixture can express uncertainty.
    """
    params = model.params
    optimizer = torch.optim.Adam(model.vae_parameters(), lr=params.init_learning_rate, fused=True)
    clusters = clusters.to(data.device)
    probabilities = one_hot(clusters, model.num_clusters).to(data.features.dtype)
    for epoch in range(params.teach_epochs):
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
            of_items = bound + params.teach_weight * (q * alone).sum(-1)
            objective = of_items.mean(1)
            descend(optimizer, -objective.sum())
            total += objective.max().detach().double().cpu()
        _refit_mixture(model, data, probabilities, clusters, expected)
        reached = f"objective {total / len(batches):.2f}"
        progress(f"start: learning the clusters {epoch + 1}/{params.teach_epochs}: {reached}")


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


def learn_agreement(
    model: SCDC, data: TrainingData, views: Views, target: Tensor, progress: ProgressCallback
) -> None:
    """``agree_epochs`` epochs of Adam on :func:`disagreement`, the learning rate falling along a cosine.

    With answers the loss has a second term, the mean of :func:`answer_cross_entropy` over the annotated items. As a
    mean it has the weight of the agreement of all items, however few are annotated.

    Parameters
    ----------
    target : clusters [R, N] or probabilities [R, N, K]; the network keeps their cluster sizes
    """
    params = model.params
    optimizer = torch.optim.Adam(model.classifier.parameters(), lr=params.init_learning_rate, fused=True)
    annotated = 0 if data.annotations is None else len(data.annotations.annotated)
    shares = _cluster_shares(target, model.num_clusters).to(data.device)
    for epoch in range(params.agree_epochs):
        noise = torch_stream(data.seed, "agreement/noise", epoch, device=data.device)
        posterior = _posterior_given_answers(model, data)
        total, batches = torch.zeros((), dtype=torch.float64), shuffled(data, "agreement/order", epoch)
        for step, items in enumerate(batches):
            done = (epoch + step / len(batches)) / params.agree_epochs
            fall = 0.5 * (1 + math.cos(math.pi * done))
            rate = params.init_learning_rate * (FINAL_RATE + (1 - FINAL_RATE) * fall)
            features = data.features[items]
            both = torch.cat([views.of(features, noise), views.of(features, noise)])
            log_q = model.classify(both)
            loss = disagreement(log_q, shares)
            if posterior is not None:
                loss = loss + data.num_items / annotated * answer_cross_entropy(log_q, posterior[:, items])
            descend(optimizer, loss.sum(), rate)
            total += loss.min().detach().double().cpu()
        progress(f"start: views of an image agree {epoch + 1}/{params.agree_epochs}: {total / len(batches):.4f}")


def disagreement(log_q: Float[Tensor, "R b K"], shares: Float[Tensor, "R K"]) -> Float[Tensor, "R"]:
    """Mean of −ln p(both views of an image are in one cluster), plus KL(mean of q(z) ‖ shares).

    The first term alone is lowest if all images are in one cluster; the divergence prevents that.

    Parameters
    ----------
    log_q : ln q(z | o) of one view of each item, then of the other view of each
    shares : cluster sizes, as shares of the items
    """
    one, other = log_q.chunk(2, 1)
    apart = -torch.logsumexp(one + other, -1).mean(1)
    mean = log_q.exp().mean(1)
    return apart + (mean * (mean.clamp(min=1e-8).log() - shares.log())).sum(-1)


def _posterior_given_answers(model: SCDC, data: TrainingData) -> Float[Tensor, "R N K"] | None:
    """q(z) of the annotated items, given the answers and the current q(z | o); rows of other items are 0."""
    if data.annotations is None:
        return None
    annotated = model.annotated_posterior(data.features, data.annotations).probabilities.to(data.device)
    posterior = annotated.new_zeros(len(annotated), data.num_items, model.num_clusters)
    posterior[:, torch.from_numpy(data.annotations.annotated).to(data.device)] = annotated
    return posterior


def answer_cross_entropy(log_q: Float[Tensor, "R b K"], posterior: Float[Tensor, "R B K"]) -> Float[Tensor, "R"]:
    """Cross-entropy of q(z) given the answers and q(z | o), averaged over both views and all items.

    Parameters
    ----------
    log_q : ln q(z | o) of one view of each item, then of the other view of each
    posterior : q(z) given the answers; rows of items without answers are 0
    """
    one, other = log_q.chunk(2, 1)
    return -(posterior * (one + other) / 2).sum(-1).mean(1)


def _cluster_shares(target: Tensor, num_clusters: int) -> Float[Tensor, "R K"]:
    probabilities = one_hot(target.long(), num_clusters).float() if target.dim() == 2 else target
    counts = probabilities.sum(1) + 1
    return counts / counts.sum(-1, keepdim=True)
