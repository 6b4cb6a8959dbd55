"""BayesSCDC taught a clustering: the ELBO with q(z) given, and the recognition network that has to find it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from semicrowd.expfam import gaussian
from semicrowd.inference.bound import local_terms
from semicrowd.inference.message_passing import LocalPosterior, initial_z, update_x
from semicrowd.inference.statistics import ExpectedGlobals
from semicrowd.fitting.module import CHUNK
from semicrowd.starts.partition import partition_posterior
from semicrowd.random import stream, torch_stream

if TYPE_CHECKING:
    from semicrowd.models.bayes import BayesSCDC


def teach(model: BayesSCDC, probabilities: Tensor, progress: Callable[[str], None]) -> None:
    """Epochs of Adam on the networks with q(z) held at ``probabilities``, [R, N, K].

    q(π) and q(μ, Σ) follow after every epoch: the posterior of each item's most probable cluster. Beside the ELBO
    stands ``warm.classifier.weight`` times the cross-entropy of q(z | features alone), the recognition potential under
    the mixture, to ``probabilities``: what sets the clusters apart gets room in x.
    """
    settings = model.settings.warm
    optimizer = torch.optim.Adam(model.parameters_of_vae(), lr=settings.learning_rate, fused=True)
    clusters, size = probabilities.argmax(-1), min(model.batch_size, model.num_items)
    epochs = settings.classifier.epochs
    for epoch in range(epochs):
        expected = model.globals.expected().cast(model.features.dtype)
        expected = ExpectedGlobals(*(statistics.detach() for statistics in expected))
        order = torch.from_numpy(stream(model.seed, "order", 0, 2, epoch).permutation(model.num_items))
        noise = torch_stream(model.seed, "noise", 0, 0, 0, epoch, 3, device=model.device)
        total, batches = torch.zeros((), dtype=torch.float64), order[: model.num_items // size * size].split(size)
        for items in batches:
            q, features = probabilities[:, items], model.features[items].to(model.device)
            draws = torch.randn(model.num_restarts, *features.shape, generator=noise, device=model.device)
            recognition = model.recognition.potentials(features + settings.classifier.noise * draws)
            eta_x = update_x(q, recognition, expected)
            mean, root = gaussian.location_and_root(eta_x)
            local = LocalPosterior(eta_x, gaussian.statistics(mean, root @ root.mT), root, q.clamp(min=1e-30).log())
            terms = local_terms(local, expected)
            bound = model.decoder.log_likelihood(gaussian.draw(mean, root, noise), features) - terms.kl_x
            alone = initial_z(recognition, expected)
            objective = (bound + settings.classifier.weight * (q * alone).sum(-1)).mean(1)
            optimizer.zero_grad()
            (-objective.sum()).backward()
            optimizer.step()
            total += objective.max().detach().double().cpu()
        _refit_mixture(model, probabilities, clusters, expected)
        progress(f"warm start: learning the clusters {epoch + 1}/{epochs}: {total / len(batches):.2f}")


@torch.no_grad()
def _refit_mixture(model: BayesSCDC, probabilities: Tensor, clusters: Tensor, expected: ExpectedGlobals) -> None:
    """q(π) and q(μ, Σ) at the posterior of the clusters, x as eq. 12 has it."""
    pieces, given = model.chunks(model.features), probabilities.split(max(CHUNK // model.num_restarts, 1), 1)
    eta_x = [update_x(q, model.recognition.potentials(o), expected) for o, q in zip(pieces, given, strict=True)]
    t_x = torch.cat([gaussian.expected_statistics(eta) for eta in eta_x], 1)
    for name, eta in partition_posterior(model, t_x, clusters).items():
        model.globals.eta[name].copy_(eta)
