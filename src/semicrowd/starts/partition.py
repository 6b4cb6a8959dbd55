"""Partitions of latent means: k-means cells, joined where the answers are evidence that they are one cluster."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from sklearn.cluster import KMeans
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import join_cells, mixed_cells
from semicrowd.crowd.two_coin import pair_evidence
from semicrowd.expfam import dirichlet, normal_inverse_wishart
from semicrowd.inference.message_passing import unary_message
from semicrowd.inference.mixture import Mixture, partition_posterior
from semicrowd.inference.statistics import ExpectedGlobals
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.training_data import TrainingData
from semicrowd.random import stream
from semicrowd.starts.vae import latent_means

#: Items that k-means is fitted to, at most.
MOST_ITEMS = 20_000


@dataclass(frozen=True)
class Cells:
    """The inputs of a partition.

    Attributes
    ----------
    t_x : E t(x) of every item
    """

    model: GenerativeModel
    data: TrainingData
    t_x: Float[Tensor, "R N S"]

    def posterior(self, restart: int, clusters: np.ndarray, rows: np.ndarray | None = None) -> Mixture:
        """The conjugate posterior of clusters [n] of all items, or of the items marked in ``rows``."""
        t_x = self.t_x[restart]
        if rows is not None:
            t_x = t_x[torch.from_numpy(rows).to(t_x.device)]
        return partition_posterior(self.model.mixture_prior(), t_x[None], torch.from_numpy(clusters)[None])

    @torch.no_grad()
    def answer_weights(self, restart: int, answers: PairAnnotations) -> np.ndarray:
        """w_ij of every answer (eq. 14) under the model's q(α) and q(β)."""
        sensitivity, specificity = (log[restart, None].cpu() for log in self.model.annotator_statistics())
        worker, label = torch.from_numpy(answers.worker), torch.from_numpy(answers.label)
        return pair_evidence(sensitivity, specificity, worker, label).weight[0].numpy()


def best_partition(cells: Cells, restart: int) -> np.ndarray:
    """The candidate partition with the highest evidence, [N]."""
    params, answers = cells.model.params, cells.data.annotations
    streams = (stream(cells.data.seed, "partition", restart, number) for number in range(params.n_candidates))
    candidates = [_kmeans(cells, restart, rng) for rng in streams]
    if answers is not None and params.n_cells:
        candidates = [_join_by_answers(cells, restart, one, answers) for one in candidates]
    return max(candidates, key=lambda clusters: _evidence(cells, restart, clusters))


def _kmeans(cells: Cells, restart: int, rng: np.random.Generator) -> np.ndarray:
    """``n_cells`` cells if answers will join them, else K clusters, [N]."""
    latent, K = latent_means(cells.model, cells.t_x[restart]), cells.model.num_clusters
    rows = rng.permutation(len(latent))[:MOST_ITEMS]
    subset = latent[rows]
    number = max(cells.model.params.n_cells, K) if cells.data.annotations is not None else K
    kmeans = KMeans(min(number, len(subset)), n_init=1, random_state=int(rng.integers(2**31)))
    return kmeans.fit(subset).predict(latent)


def _join_by_answers(cells: Cells, restart: int, initial: np.ndarray, answers: PairAnnotations) -> np.ndarray:
    """Cells [N] joined by the answers; items of cells that the answers split go to the most probable other cluster."""
    weight, K = cells.answer_weights(restart, answers), cells.model.num_clusters
    clusters = join_cells(initial, answers, weight, K)
    mixed = mixed_cells(clusters, answers, weight, K)
    if mixed.all() or not mixed.any():
        return clusters
    kept = ~mixed[clusters]
    names, clusters[kept] = np.unique(clusters[kept], return_inverse=True)
    posterior = cells.posterior(restart, clusters[kept], kept)
    log_pi = dirichlet.expected_statistics(posterior.pi)
    components = normal_inverse_wishart.expected_statistics(posterior.components)
    of_annotators = (one[restart, None] for one in cells.model.annotator_statistics())
    expected = ExpectedGlobals(log_pi, components, *of_annotators)
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
