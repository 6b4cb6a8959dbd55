"""q(z | o) of SCDC learns to say the same of two views of an image, from the clusters that it has been taught.

Clusters of latent means cut a few per cent of images off their kind; a network that is taught these learns the cuts.
What moves an image does not change its kind, and where views lead from one side of a cut to the other it gives way;
so it does where the answers about some images say that it is wrong. Invariant and decided outputs that keep their
shares: information maximising self-augmented training (Hu et al. 2017).
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
from semicrowd.starts.epochs import Say, shuffled

#: Share of the first learning rate that is left at the end.
FINAL_RATE = 0.02


def learn_agreement(
    model: SCDC, data: TrainingData, views: Views, settings: StartSettings, target: Tensor, say: Say
) -> None:
    """``agree_epochs`` epochs of Adam on :func:`disagreement`, the learning rate falling along a cosine.

    Beside it stands, with answers, the mean of :func:`surprise` over the items that have some: as many nats for all of
    them as for the agreement of all items, else a few annotated ones would not be heard.

    Parameters
    ----------
    target : clusters [R, N] or probabilities [R, N, K], whose shares are kept
    """
    optimizer = torch.optim.Adam(model.classifier.parameters(), lr=settings.learning_rate, fused=True)
    annotated = 0 if data.annotations is None else len(data.annotations.annotated)
    shares = _shares(target, model.num_clusters).to(data.device)
    for epoch in range(settings.agree_epochs):
        noise = torch_stream(data.seed, "agreement/noise", epoch, device=data.device)
        told = _told(model, data)
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
            if told is not None:
                loss = loss + data.num_items / annotated * surprise(log_q, told[:, items])
            optimizer.zero_grad()
            loss.sum().backward()
            optimizer.step()
            total += loss.min().detach().double().cpu()
        say(f"start: views of an image agree {epoch + 1}/{settings.agree_epochs}: {total / len(batches):.4f}")


def disagreement(log_q: Float[Tensor, "R b K"], shares: Float[Tensor, "R K"]) -> Float[Tensor, "R"]:
    """−ln of the probability that both views of an image are of one kind, on average, plus KL(mean of q(z) ‖ shares).

    Agreement alone is cheapest where all images are of one kind; the divergence keeps the clusters their items.

    Parameters
    ----------
    log_q : ln q(z | o) of one view of each item, then of another
    shares : of the clusters among the items
    """
    one, other = log_q.chunk(2, 1)
    apart = -torch.logsumexp(one + other, -1).mean(1)
    mean = log_q.exp().mean(1)
    return apart + (mean * (mean.clamp(min=1e-8).log() - shares.log())).sum(-1)


def _told(model: SCDC, data: TrainingData) -> Float[Tensor, "R N K"] | None:
    """q(z) of the items that have answers, by these and by q(z | o) as it is; 0 in the rows of all others."""
    if data.annotations is None:
        return None
    found = model.annotated_posterior(data.features, data.annotations).probabilities.to(data.device)
    told = found.new_zeros(len(found), data.num_items, model.num_clusters)
    told[:, torch.from_numpy(data.annotations.annotated).to(data.device)] = found
    return told


def surprise(log_q: Float[Tensor, "R b K"], told: Float[Tensor, "R B K"]) -> Float[Tensor, "R"]:
    """Cross-entropy of both views' q(z | o) to q(z) given the answers, on average of all items.

    Parameters
    ----------
    log_q : ln q(z | o) of one view of each item, then of another
    told : q(z) given the answers; 0 in the rows of items without any
    """
    one, other = log_q.chunk(2, 1)
    return -(told * (one + other) / 2).sum(-1).mean(1)


def _shares(target: Tensor, num_clusters: int) -> Float[Tensor, "R K"]:
    """Of the clusters among the items, with one more item in each."""
    probabilities = one_hot(target.long(), num_clusters).float() if target.dim() == 2 else target
    counts = probabilities.sum(1) + 1
    return counts / counts.sum(-1, keepdim=True)
