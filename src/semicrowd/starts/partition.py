"""Partitions of latent means: cells of a quick clustering, joined where answers or views say that they are one kind."""

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells, mixed_cells, odds_between
from semicrowd.crowd.orientation import reversed_annotators
from semicrowd.crowd.two_coin import pair_evidence
from semicrowd.expfam import dirichlet, normal_inverse_wishart
from semicrowd.inference.message_passing import unary_message
from semicrowd.inference.mixture import Mixture, count_links, join_by_links, partition_posterior
from semicrowd.inference.statistics import ExpectedGlobals
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.training_data import TrainingData
from semicrowd.models.views import JOIN_WEIGHT
from semicrowd.random import stream
from semicrowd.settings.training import StartSettings

#: Items that a clustering into cells looks at.
MOST_ITEMS = 20_000


@dataclass(frozen=True)
class Cells:
    """What partitions are made of.

    Attributes
    ----------
    t_x : E t(x) of every item
    t_views : the same of a view of every item, or None
    turn : which partition of a fit it is, None for the first
    progress : share of the training that is done
    """

    model: GenerativeModel
    data: TrainingData
    settings: StartSettings
    t_x: Float[Tensor, "R N S"]
    t_views: Float[Tensor, "R N S"] | None = None
    turn: int | None = None
    progress: float = 0.0

    def rng(self, restart: int, candidate: int) -> np.random.Generator:
        """Of one candidate."""
        turn = () if self.turn is None else (self.turn,)
        return stream(self.data.seed, "partition", restart, candidate, *turn)

    def means(self, t_x: Float[Tensor, "N S"]) -> np.ndarray:
        """Latent means [N, d]."""
        return t_x[:, : self.model.settings.latent_dim].cpu().numpy()

    def sample(self, restart: int, rng: np.random.Generator) -> np.ndarray:
        """Latent means of at most :data:`MOST_ITEMS` items."""
        latent = self.means(self.t_x[restart])
        return latent[rng.permutation(len(latent))[:MOST_ITEMS]]

    def posterior(self, restart: int, clusters: np.ndarray, rows: np.ndarray | None = None) -> Mixture:
        """The conjugate posterior of clusters [n] of all items, or of the items marked in ``rows``."""
        t_x = self.t_x[restart] if rows is None else self.t_x[restart][torch.from_numpy(rows).to(self.t_x.device)]
        return partition_posterior(self.model.mixture_prior(), t_x[None], torch.from_numpy(clusters)[None])

    @torch.no_grad()
    def answer_weights(self, restart: int, answers: PairAnnotations) -> np.ndarray:
        """w_ij of every answer (eq. 14) under what the model believes of the annotators."""
        sensitivity, specificity = (log[restart, None].cpu() for log in self.model.annotator_statistics())
        worker, label = torch.from_numpy(answers.worker), torch.from_numpy(answers.label)
        return pair_evidence(sensitivity, specificity, worker, label).weight[0].numpy()


def best_partition(cells: Cells, restart: int, now: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
    """Of some candidate partitions the one with the most evidence, [N].

    Parameters
    ----------
    now : clusters of the items and of their views, [N] each: joined like cells, they are a candidate too
    """
    settings, answers = cells.settings, cells.data.annotations
    streams = [cells.rng(restart, candidate) for candidate in range(settings.candidates)]
    if cells.t_views is not None and (answers is None or settings.join == "both"):
        found = [_gaussian_cells(cells, restart, rng) for rng in streams]
        if now is None:
            _reverse_annotators(cells, restart, found[0][0])
        joined = [_join_by_views(cells, restart, *both) for both in found + ([] if now is None else [now])]
        return max(joined, key=lambda pair: pair[0])[1]
    candidates = [_kmeans(cells, restart, rng) for rng in streams]
    if answers is not None:
        if now is None:  # once: later they are what has been learned of them
            _reverse_annotators(cells, restart, candidates[0])
        if settings.cells:
            candidates = [_join_by_answers(cells, restart, one, answers) for one in candidates]
    candidates += [] if now is None else [now[0]]
    return max(candidates, key=lambda clusters: _evidence(cells, restart, clusters))


def _reverse_annotators(cells: Cells, restart: int, found: np.ndarray) -> None:
    if cells.data.annotations is not None:
        cells.model.reverse_annotators(restart, reversed_annotators(found, cells.data.annotations))


def _kmeans(cells: Cells, restart: int, rng: np.random.Generator) -> np.ndarray:
    """``cells`` cells where answers will join them, else K clusters, [N]."""
    subset, K = cells.sample(restart, rng), cells.model.num_clusters
    number = max(cells.settings.cells, K) if cells.data.annotations is not None else K
    kmeans = KMeans(min(number, len(subset)), n_init=1, random_state=int(rng.integers(2**31))).fit(subset)
    return kmeans.predict(cells.means(cells.t_x[restart]))


def _gaussian_cells(cells: Cells, restart: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """K Gaussian cells of the items [N] and of their views [N]."""
    assert cells.t_views is not None
    subset = cells.sample(restart, rng)
    with warnings.catch_warnings(), threadpool_limits(1):  # its many small products are slower on several threads
        warnings.simplefilter("ignore", ConvergenceWarning)  # rough cells are all that is needed
        mixture = GaussianMixture(
            cells.model.num_clusters, reg_covar=1e-3, max_iter=60, random_state=int(rng.integers(2**31))
        ).fit(subset)
    return tuple(mixture.predict(cells.means(t_x[restart])) for t_x in (cells.t_x, cells.t_views))


def _join_by_views(cells: Cells, restart: int, own: np.ndarray, of_views: np.ndarray) -> tuple[float, np.ndarray]:
    """Cells [N] of items and of their views, joined by the links and answers between them: evidence, clusters [N]."""
    (low, high), K, answers = JOIN_WEIGHT, cells.model.num_clusters, cells.data.annotations
    prior = cells.model.mixture_prior().components[0, 0]
    statistics = cells.posterior(restart, own).components[0].cpu() - prior
    odds = None if answers is None else odds_between(own, answers, cells.answer_weights(restart, answers), K)
    weight = low + (high - low) * cells.progress
    name, evidence = join_by_links(statistics, prior, count_links(own, of_views, K), weight, odds)
    return evidence, name[own]


def _join_by_answers(cells: Cells, restart: int, found: np.ndarray, answers: PairAnnotations) -> np.ndarray:
    """Cells [N] joined by the answers; items of the cells that the answers tear apart go to the rest."""
    weight, K = cells.answer_weights(restart, answers), cells.model.num_clusters
    clusters = join_cells(found, answers, weight, K)
    mixed = mixed_cells(clusters, answers, weight, K)
    if mixed.all() or not mixed.any():
        return clusters
    kept = ~mixed[clusters]
    names, clusters[kept] = np.unique(clusters[kept], return_inverse=True)
    posterior = cells.posterior(restart, clusters[kept], kept)
    log_pi = dirichlet.expected_statistics(posterior.pi)
    components = normal_inverse_wishart.expected_statistics(posterior.components)
    expected = ExpectedGlobals(log_pi, components, *cells.model.annotator_statistics())
    rest = cells.t_x[restart][torch.from_numpy(~kept).to(cells.t_x.device)]
    scores = unary_message(rest[None].double(), expected)[0, :, : len(names)]
    clusters[~kept] = scores.argmax(-1).cpu().numpy()
    return clusters


@torch.no_grad()
def _evidence(cells: Cells, restart: int, clusters: np.ndarray) -> float:
    """Log evidence of a hard partition up to a constant: conjugate mixture (App. A.3) and answers (eq. 20)."""
    mixture = cells.posterior(restart, clusters).log_partition()[0]
    answers = cells.data.annotations
    if answers is None:
        return float(mixture)
    same = clusters[answers.i] == clusters[answers.j]
    return float(mixture) + float(cells.answer_weights(restart, answers)[same].sum())
