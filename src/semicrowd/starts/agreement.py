"""q(z | o) of SCDC is trained to predict the same cluster for two views of an image, starting from given clusters.

Clusters of latent means misplace a few per cent of the images, and a network that is trained on them learns the wrong
borders. A small shift or rotation does not change the class of an image, so borders between two views of an image are
moved; so are borders that the answers contradict. The objective is that of information maximising self-augmented
training (Hu et al. 2017): invariant, confident outputs with given cluster sizes.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import one_hot

from semicrowd.models.scdc import SCDC
from semicrowd.models.training_data import TrainingData
from semicrowd.models.views import Views
from semicrowd.random import torch_stream
from semicrowd.settings.training import StartSettings
from semicrowd.starts.epochs import ProgressCallback, shuffled

#: Last learning rate as a share of the first.
FINAL_RATE = 0.02


def learn_agreement(
    model: SCDC, data: TrainingData, views: Views, settings: StartSettings, target: Tensor, progress: ProgressCallback
) -> None:
    """``agree_epochs`` epochs of Adam on :func:`disagreement`, the learning rate falling along a cosine.

    With answers the loss has a second term, the mean of :func:`answer_cross_entropy` over the annotated items. As a
    mean it has the weight of the agreement of all items, however few are annotated.

    Parameters
    ----------
    target : clusters [R, N] or probabilities [R, N, K]; the network keeps their cluster sizes
    """
    optimizer = torch.optim.Adam(model.classifier.parameters(), lr=settings.learning_rate, fused=True)
    annotated = 0 if data.annotations is None else len(data.annotations.annotated)
    shares = _cluster_shares(target, model.num_clusters).to(data.device)
    for epoch in range(settings.agree_epochs):
        noise = torch_stream(data.seed, "agreement/noise", epoch, device=data.device)
        posterior = _posterior_given_answers(model, data)
        total, batches = torch.zeros((), dtype=torch.float64), shuffled(data, "agreement/order", epoch)
        for step, items in enumerate(batches):
            done = (epoch + step / len(batches)) / settings.agree_epochs
            for group in optimizer.param_groups:
                fall = 0.5 * (1 + math.cos(math.pi * done))
                group["lr"] = settings.learning_rate * (FINAL_RATE + (1 - FINAL_RATE) * fall)
            features = data.features[items]
            both = torch.cat([views.of(features, noise), views.of(features, noise)])
            log_q = model.classify(both)
            loss = disagreement(log_q, shares)
            if posterior is not None:
                loss = loss + data.num_items / annotated * answer_cross_entropy(log_q, posterior[:, items])
            optimizer.zero_grad()
            loss.sum().backward()
            optimizer.step()
            total += loss.min().detach().double().cpu()
        progress(f"start: views of an image agree {epoch + 1}/{settings.agree_epochs}: {total / len(batches):.4f}")


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
    """Cluster sizes as shares of the items, with a pseudo-item in each cluster."""
    probabilities = one_hot(target.long(), num_clusters).float() if target.dim() == 2 else target
    counts = probabilities.sum(1) + 1
    return counts / counts.sum(-1, keepdim=True)
