"""Where a model begins: some epochs as a plain VAE, clusters, then the mixture and the networks of these clusters."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells
from semicrowd.crowd.orientation import reversed_annotators
from semicrowd.inference.mixture import partition_posterior
from semicrowd.models.bayes import BayesSCDC
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.scdc import SCDC
from semicrowd.models.training_data import TrainingData, pieces
from semicrowd.random import stream, torch_stream
from semicrowd.settings.training import StartSettings
from semicrowd.starts.agreement import learn_agreement
from semicrowd.starts.answer_classifier import Annotators
from semicrowd.starts.answers import AnswerStart, answer_start
from semicrowd.starts.epochs import Say
from semicrowd.starts.neighbours import communities
from semicrowd.starts.of_features import clusters_of_features
from semicrowd.starts.partition import Cells, best_partition
from semicrowd.starts.patches import has_patches
from semicrowd.starts.portfolio import Portfolio, Verdict, most_clusters
from semicrowd.starts.preparing import preparations
from semicrowd.starts.teaching import teach_bayes, teach_classifier
from semicrowd.starts.vae import latent_means, latent_statistics, train_vae

#: Takes what was chosen among candidates.
Keep = Callable[[Verdict], None]
#: Starts that need answers.
FROM_ANSWERS = ("answers", "portfolio")
#: Probability of a cluster that co-training does not use.
_LEAST = 1e-6


def start(
    model: GenerativeModel, data: TrainingData, settings: StartSettings, say: Say, keep: Keep = lambda _: None
) -> None:
    """Set the networks, the mixture and, as far as the answers tell, the annotators of ``model``; cold: nothing.

    Parameters
    ----------
    keep : takes the verdict of each restart that chooses among candidates
    """
    if settings.kind == "cold":
        return
    train_vae(model, data, settings, say)
    t_x = latent_statistics(model, data.features)
    if settings.kind in FROM_ANSWERS and data.annotations is not None:
        probabilities = _from_answers(model, data, data.annotations, settings, say, keep)
        _begin_with(model, data, settings, t_x, probabilities, say, of_latent=False)
        return
    if settings.kind == "features":
        _begin_with(model, data, settings, t_x, _from_features(model, data, say), say, of_latent=False)
        return
    if settings.kind == "communities":
        clusters = _communities(Cells(model, data, settings, t_x), say)
    else:
        say("start: partitions of the latent means")
        clusters = _cells(model, data, settings, t_x)
    _begin_with(model, data, settings, t_x, clusters, say)


def _cells(model: GenerativeModel, data: TrainingData, settings: StartSettings, t_x: Tensor) -> Int[Tensor, "R N"]:
    """Cells of the latent means, joined by the answers."""
    cells = Cells(model, data, settings, t_x)
    return torch.from_numpy(np.stack([best_partition(cells, restart) for restart in range(model.num_restarts)]))


def _communities(cells: Cells, say: Say) -> Int[Tensor, "R N"]:
    """Communities of neighbouring latent means, of the items and of a view of each where there are views.

    Those that the answers say are one kind are joined.
    """
    model, data = cells.model, cells.data
    means, views = latent_means(model, cells.t_x), None
    if data.views is not None:
        noise = torch_stream(data.seed, "communities/views", device=data.device)
        moved = torch.cat([data.views.of(piece, noise) for piece in pieces(data.features, 1, data.device)])
        views = latent_means(model, latent_statistics(model, moved))
    clusters = []
    for restart, latent in enumerate(means):
        rng = stream(data.seed, "communities", restart)
        found = communities(latent, model.num_clusters, rng, None if views is None else views[restart])
        said = f"start: {found.max() + 1} communities of neighbours"
        if data.annotations is not None:
            model.reverse_annotators(restart, reversed_annotators(found, data.annotations))
            weight = cells.answer_weights(restart, data.annotations)
            found = join_cells(found, data.annotations, weight, model.num_clusters)
            said += f", {found.max() + 1} when joined by the answers"
        say(said)
        clusters.append(torch.from_numpy(found))
    return torch.stack(clusters)


def _from_answers(
    model: GenerativeModel,
    data: TrainingData,
    annotations: PairAnnotations,
    settings: StartSettings,
    say: Say,
    keep: Keep,
) -> Float[Tensor, "R N K"]:
    """q(z) of all items by one of :data:`FROM_ANSWERS`; the annotators of ``model`` are set."""
    given = data, annotations, model.settings, settings, model.num_restarts, say
    portfolio = settings.kind == "portfolio"
    found = cotrained(data, annotations, model, say, keep) if portfolio else answer_start(*given)
    model.set_annotators(*found.annotators)
    return found.probabilities


def cotrained(
    data: TrainingData, annotations: PairAnnotations, model: GenerativeModel, say: Say, keep: Keep
) -> AnswerStart:
    """What co-training finds (:mod:`semicrowd.starts.portfolio`), for each restart of a model."""
    num_clusters, restarts = model.num_clusters, model.num_restarts
    features = data.features.cpu().double().numpy() if data.original is None else data.original
    annotators, found = [], torch.full((restarts, data.num_items, num_clusters), _LEAST)
    for restart in range(restarts):
        most = min(num_clusters, most_clusters(len(annotations.annotated)))
        portfolio = Portfolio(features, annotations, data.seed, say, most, restart, model.image_shape)
        winner, verdict = portfolio.winner()
        keep(verdict)
        _, probabilities = portfolio.probabilities(winner)
        annotators.append(winner.annotators)
        found[restart, :, : probabilities.shape[1]] += torch.from_numpy(probabilities).float()
    both = Annotators(*(torch.cat(eta) for eta in zip(*annotators, strict=True)))
    return AnswerStart(both, found / found.sum(-1, keepdim=True))


def _from_features(model: GenerativeModel, data: TrainingData, say: Say) -> Int[Tensor, "R N"]:
    """Clusters of the features, of images those of their patches; each restart from a stream of its own."""
    features, clusters = data.features.cpu().double().numpy(), []
    if has_patches(model.image_shape):
        pixels = features if data.original is None else data.original
        _, way = next(preparations(pixels, model.image_shape), ("none", None))
        features = features if way is None else way.items
    for restart in range(model.num_restarts):
        found, said = clusters_of_features(features, model.num_clusters, stream(data.seed, "of_features", restart))
        say(f"start: {said}")
        clusters.append(torch.from_numpy(found))
    return torch.stack(clusters)


def _begin_with(
    model: GenerativeModel,
    data: TrainingData,
    settings: StartSettings,
    t_x: Tensor,
    found: Tensor,
    say: Say,
    *,
    of_latent: bool = True,
) -> None:
    """The mixture, and the networks as far as they have to learn, of clusters [R, N] or of probabilities [R, N, K].

    BayesSCDC's networks know clusters of their own latent means (``of_latent``) already.
    """
    clusters = found if found.dim() == 2 else found.argmax(-1)
    model.set_mixture(partition_posterior(model.mixture_prior(), t_x, clusters))
    if isinstance(model, SCDC):
        teach_classifier(model, data, settings, found, say)
        if data.views is not None:
            learn_agreement(model, data, data.views, settings, found, say)
    elif isinstance(model, BayesSCDC) and not of_latent:
        teach_bayes(model, data, settings, clusters, say)
