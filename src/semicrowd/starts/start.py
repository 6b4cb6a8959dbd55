"""Initialisation of a model: epochs as a plain VAE, first clusters, then the mixture and networks fitted to them."""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells
from semicrowd.inference.mixture import partition_posterior
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.scdc import SCDC
from semicrowd.models.training_data import TrainingData, pieces
from semicrowd.random import stream, torch_stream
from semicrowd.starts.answer_classifier import Annotators
from semicrowd.starts.answers import AnswerStart, answer_start
from semicrowd.starts.initial_clusters import default_max_clusters
from semicrowd.starts.neighbours import communities
from semicrowd.starts.of_features import clusters_of_features
from semicrowd.starts.partition import answer_weights, mixture_clusters
from semicrowd.starts.patches import has_patches
from semicrowd.starts.portfolio import Portfolio
from semicrowd.starts.preparing import preparations
from semicrowd.starts.selection import Verdict
from semicrowd.starts.shared import ProgressCallback, shared
from semicrowd.starts.teaching import learn_agreement, teach_bayes, teach_classifier
from semicrowd.starts.vae import latent_means, latent_statistics, train_vae

#: Is called with the verdict of a portfolio.
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
    if init in FROM_ANSWERS and data.annotations is not None:
        probabilities = _from_answers(model, data, data.annotations, progress, keep_verdict)
        _initialise(model, data, t_x, probabilities, progress, of_latent=False)
        return
    if init == "features":
        _initialise(model, data, t_x, _from_features(model, data, progress), progress, of_latent=False)
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


def _from_answers(
    model: GenerativeModel,
    data: TrainingData,
    annotations: PairAnnotations,
    progress: ProgressCallback,
    keep_verdict: VerdictCallback,
) -> Float[Tensor, "R N K"]:
    """q(z) of all items by one of :data:`FROM_ANSWERS`; also sets the annotators of ``model``."""
    params = model.params
    if params.init == "cotraining":
        initial = cotrained_start(data, annotations, model, progress, keep_verdict)
    else:
        initial = answer_start(data, annotations, params.n_clusters, params.hidden, model.num_restarts, progress)
    model.set_annotators(*initial.annotators)
    return initial.probabilities


def cotrained_start(
    data: TrainingData,
    annotations: PairAnnotations,
    model: GenerativeModel,
    progress: ProgressCallback,
    keep_verdict: VerdictCallback,
) -> AnswerStart:
    """The result of co-training (:mod:`semicrowd.starts.portfolio`) for each restart of a model."""
    num_clusters, restarts = model.num_clusters, model.num_restarts
    features = data.features.cpu().double().numpy() if data.original is None else data.original
    annotators, of_restarts = [], torch.full((restarts, data.num_items, num_clusters), _UNUSED_PROBABILITY)
    for restart in range(restarts):
        max_clusters = min(num_clusters, default_max_clusters(len(annotations.annotated)))
        found = Portfolio(
            features, annotations, data.seed, progress, max_clusters, restart, model.image_shape, data.jobs,
            data.indicators, data.memory,
        ).cotrained()  # fmt: skip
        keep_verdict(found.verdict)
        annotators.append(found.annotators)
        probabilities = found.probabilities.astype(np.float32)
        of_restarts[restart, :, : probabilities.shape[1]] += torch.from_numpy(probabilities)
    both = Annotators(*(torch.cat(eta) for eta in zip(*annotators, strict=True)))
    return AnswerStart(both, of_restarts / of_restarts.sum(-1, keepdim=True))


def _from_features(model: GenerativeModel, data: TrainingData, progress: ProgressCallback) -> Int[Tensor, "R N"]:
    """Clusters [R, N] of the features, for images that are large enough of the features of their patches.

    Each restart has its own random stream.
    """
    features, clusters = data.features.cpu().double().numpy(), []
    if has_patches(model.image_shape):
        pixels = features if data.original is None else data.original
        _, way = next(preparations(pixels, model.image_shape), ("none", None))
        features = features if way is None else way.items
    for restart in range(model.num_restarts):
        rng = stream(data.seed, "of_features", restart)
        labels, said = clusters_of_features(features, model.num_clusters, rng)
        progress(f"start: {said}")
        clusters.append(torch.from_numpy(labels))
    return torch.stack(clusters)


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
