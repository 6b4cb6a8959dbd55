"""Initialisation of a model: epochs as a plain VAE, first clusters, then the mixture and networks fitted to them."""

from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from semicrowd.crowd.cells import join_cells
from semicrowd.expfam import dirichlet
from semicrowd.inference.mixture import partition_posterior
from semicrowd.inference.neighbours import communities
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.scdc import SCDC
from semicrowd.models.training_data import TrainingData, pieces
from semicrowd.random import stream, torch_stream
from semicrowd.result import Verdict
from semicrowd.starts.answers import answer_start
from semicrowd.starts.partition import answer_weights, mixture_clusters
from semicrowd.starts.shared import ProgressCallback, shared
from semicrowd.starts.teaching import learn_agreement, teach_bayes, teach_classifier
from semicrowd.starts.vae import latent_means, latent_statistics, train_vae

#: Is called with the verdict of a co-training.
VerdictCallback = Callable[[Verdict], None]
#: Starts from answers; without answers they are replaced by ``mixture``.
FROM_ANSWERS = ("answers", "cotraining")
#: Probability of a cluster that co-training does not use: its logarithm is finite.
_UNUSED_PROBABILITY = 1e-6


def start(
    model: GenerativeModel,
    data: TrainingData,
    progress: ProgressCallback,
    keep_verdict: VerdictCallback = lambda _: None,
) -> None:
    """Initialise networks, mixture and, where the start uses answers, annotators of ``model``; cold changes nothing.

    Parameters
    ----------
    keep_verdict : is called with the verdict of each restart; only by init=cotraining with answers
    """
    init = model.params.init
    if init == "cold":
        return
    train_vae(model, data, progress)
    t_x = latent_statistics(model, data.features)
    if init == "features":
        clusters = _by_cotraining(model, data, progress, keep_verdict, with_answers=False).argmax(-1)
        _initialise(model, data, t_x, clusters, progress, of_latent=False)
        return
    if init in FROM_ANSWERS and data.annotations is not None:
        if init == "cotraining":
            probabilities = _by_cotraining(model, data, progress, keep_verdict, with_answers=True)
        else:
            inputs = model.num_clusters, model.params.hidden, model.num_restarts
            annotators, probabilities = answer_start(data, data.annotations, *inputs, progress)
            model.set_annotators(*annotators)
        _initialise(model, data, t_x, probabilities, progress, of_latent=False)
        return
    if init == "communities":
        clusters = _communities(model, data, t_x, progress)
    else:
        progress("start: a mixture of the latent means")
        of_restarts = [mixture_clusters(model, data, t_x, restart) for restart in range(model.num_restarts)]
        clusters = torch.stack(of_restarts)
    _initialise(model, data, t_x, clusters, progress)


def _communities(
    model: GenerativeModel, data: TrainingData, t_x: Tensor, progress: ProgressCallback
) -> Int[Tensor, "R N"]:
    """Communities in the graph of neighbouring latent means, to which views add edges where there are views.

    Communities are joined if the answers say that they are one cluster.
    """
    means, of_views = latent_means(model, t_x), None
    if data.views is not None:
        noise = torch_stream(data.seed, "communities/views", device=data.device)
        transformed = torch.cat([data.views.of(piece, noise) for piece in pieces(data.features, 1, data.device)])
        of_views = latent_means(model, latent_statistics(model, transformed))
    clusters = []
    for restart, latent in enumerate(means):
        rng = stream(data.seed, "communities", restart)
        views = None if of_views is None else of_views[restart]
        inputs = latent, model.num_clusters, data.seed, restart, views
        compute = partial(communities, latent, model.num_clusters, rng, views)
        labels = shared(data.memory, "communities", inputs, compute)
        said = f"start: {labels.max() + 1} communities of neighbours"
        if data.annotations is not None:
            weight = answer_weights(model, restart, data.annotations)
            labels = join_cells(labels, data.annotations, weight, model.num_clusters)
            said += f", {labels.max() + 1} when joined by the answers"
        progress(said)
        clusters.append(torch.from_numpy(labels))
    return torch.stack(clusters)


def _by_cotraining(
    model: GenerativeModel, data: TrainingData, progress: ProgressCallback, keep_verdict: VerdictCallback,
    *, with_answers: bool,
) -> Float[Tensor, "R N K"]:  # fmt: skip
    """q(z) of all items by co-training, for each restart; sets the annotators of ``model`` where it has answers."""
    assert data.clustered is not None, "init=cotraining and init=features need the method that clusters the items"
    of_restarts = torch.full((model.num_restarts, data.num_items, model.num_clusters), _UNUSED_PROBABILITY)
    annotators = []
    for restart, q in enumerate(of_restarts):
        probabilities, rates, verdict = data.clustered(restart, progress, with_answers=with_answers)
        q[:, : probabilities.shape[1]] += torch.from_numpy(probabilities).float()
        if rates is not None and verdict is not None:
            shapes = (torch.from_numpy(shape) for shape in (rates.sensitivity, rates.specificity))
            annotators.append([dirichlet.to_natural(shape) for shape in shapes])
            keep_verdict(verdict)
    if annotators:
        model.set_annotators(*(torch.stack(eta) for eta in zip(*annotators, strict=True)))
    return of_restarts / of_restarts.sum(-1, keepdim=True)


def _initialise(
    model: GenerativeModel,
    data: TrainingData,
    t_x: Tensor,
    target: Tensor,
    progress: ProgressCallback,
    *,
    of_latent: bool = True,
) -> None:
    """Set the mixture to its posterior given clusters [R, N] or probabilities [R, N, K], and train networks on them.

    SCDC: q(z | o). BayesSCDC: all networks, unless the clusters are of the latent means of the model (``of_latent``).
    """
    clusters = target if target.dim() == 2 else target.argmax(-1)
    model.set_mixture(partition_posterior(model.mixture_prior(), t_x, clusters))
    if isinstance(model, SCDC):
        model.hold_classifier(False)
        teach_classifier(model, data, target, progress)
        if data.views is not None:
            learn_agreement(model, data, data.views, target, progress)
        model.hold_classifier(model.params.hold)
    elif isinstance(model, BayesSCDC) and not of_latent:
        teach_bayes(model, data, clusters, progress)
