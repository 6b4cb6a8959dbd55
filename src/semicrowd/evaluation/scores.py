"""What a fitted method says about its data: every number of metrics.json and every row of the result tables."""

from dataclasses import dataclass

import numpy as np
import torch

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.metrics import cluster_counts, clustering_scores, worker_rank, worker_recovery
from semicrowd.models import ClusteringModule, Posterior, WorkerPosterior


@dataclass(frozen=True)
class Assignment:
    """Hard clusters of N items and the probability of each item's cluster, NaN of a method that has none.

    Attributes
    ----------
    cluster : [N] int64
    probability : [N] float64
    """

    cluster: np.ndarray
    probability: np.ndarray

    @classmethod
    def of(cls, posterior: Posterior, restart: int) -> "Assignment":
        """The most probable cluster of every item under one restart; the first of equals."""
        probability, cluster = posterior.probabilities[restart].max(-1)
        return cls(cluster.numpy().astype(np.int64), probability.double().numpy())

    def replace(self, items: np.ndarray, new: "Assignment") -> "Assignment":
        """This assignment with that of ``items`` taken from ``new``, one row for each of them."""
        cluster, probability = self.cluster.copy(), self.probability.copy()
        cluster[items], probability[items] = new.cluster, new.probability
        return Assignment(cluster, probability)


@dataclass(frozen=True)
class WorkerTable:
    """Estimates of M annotators under the best restart, [M] each; truth is NaN where it is not known."""

    name: tuple[str, ...]
    pairs: np.ndarray
    sensitivity: np.ndarray
    sensitivity_interval: np.ndarray  # [M, 2], 90 %
    specificity: np.ndarray
    specificity_interval: np.ndarray  # [M, 2], 90 %
    true_sensitivity: np.ndarray
    true_specificity: np.ndarray

    @property
    def weight(self) -> np.ndarray:
        """logit α + logit β, [M] in nats: what one "same" and one "different" of an annotator say together."""
        ends = 1e-12
        alpha, beta = (np.clip(x, ends, 1 - ends) for x in (self.sensitivity, self.specificity))
        return np.log(alpha / (1 - alpha)) + np.log(beta / (1 - beta))


@dataclass(frozen=True)
class Findings:
    """What a method has found, before it is compared with any truth.

    Attributes
    ----------
    num_clusters : K
    elbo : [R] in nats, None of a method that has none
    best : restart of highest ELBO on the training data; all below is about it unless it has an axis R
    restart_clusters : [R, N] clusters of the training items from the features alone
    latent_mean : [N, d]
    features : training items from their features alone
    final : the same with the answers about them; assignments.csv
    test : items of the test split; None without one, and of a method that takes no new items
    workers : of the annotators, None of a method that does not judge them
    """

    num_clusters: int
    elbo: np.ndarray | None
    best: int
    restart_clusters: np.ndarray
    latent_mean: np.ndarray
    features: Assignment
    final: Assignment
    test: Assignment | None
    workers: WorkerPosterior | None


@dataclass(frozen=True)
class Evaluation:
    """A finished run: what the method has found, and how that compares with the truth.

    Attributes
    ----------
    workers : workers.csv, None of a method that does not judge the annotators
    scores : metrics.json, but for times
    restart_scores : columns of restarts.csv, [R] each; none of a method without an ELBO
    """

    found: Findings
    workers: WorkerTable | None
    scores: dict[str, float | int]
    restart_scores: dict[str, np.ndarray]


def evaluate(model: ClusteringModule, data: Dataset, annotations: PairAnnotations | None) -> Evaluation:
    """Evaluate the fixed model on every item; labels are used for scores only, never to choose.

    Raises
    ------
    UserError
        Where training has diverged in every restart.
    """
    return score(_ask(model, data, annotations), data, annotations)


@torch.no_grad()
def _ask(model: ClusteringModule, data: Dataset, annotations: PairAnnotations | None) -> Findings:
    elbo = model.elbo()["total"].double().cpu().numpy()
    if not np.isfinite(elbo).any():
        raise UserError("training diverged: the ELBO is not a number in any restart; try a lower model.learning_rate")
    best = int(np.where(np.isfinite(elbo), elbo, -np.inf).argmax())

    features = torch.from_numpy(data.features)
    posterior = model.posterior(features)
    assignment = Assignment.of(posterior, best)
    test = None
    if data.test_features is not None:
        test = Assignment.of(model.posterior(torch.from_numpy(data.test_features)), best)
    final, workers = assignment, None
    if annotations is not None:
        with_answers = Assignment.of(model.annotated_posterior(features, annotations), best)
        final = assignment.replace(annotations.annotated, with_answers)
        workers = model.workers()
    return Findings(
        num_clusters=model.num_clusters,
        elbo=elbo,
        best=best,
        restart_clusters=posterior.probabilities.argmax(-1).numpy(),
        latent_mean=posterior.latent_mean[best].numpy(),
        features=assignment,
        final=final,
        test=test,
        workers=workers,
    )


def score(found: Findings, data: Dataset, annotations: PairAnnotations | None) -> Evaluation:
    """Compare what a method has found with the labels and the annotators' true quality, as far as they are known."""
    counts = cluster_counts(found.features.cluster, found.num_clusters)
    scores: dict[str, float | int] = {
        **_scores("train", data.labels, found.features.cluster),
        "clusters/used": int(counts["used"]),
        "clusters/effective": float(counts["effective"]),
        "restart/best": found.best,
    }
    restart_scores: dict[str, np.ndarray] = {}
    if found.elbo is not None:
        scores["elbo/train"] = float(found.elbo[found.best])
        restart_scores = _score_restarts(found.restart_clusters, found.elbo, data.labels, found.num_clusters)
        if data.labels is not None:
            scores["restart/oracle_acc"] = float(restart_scores["oracle_acc"].max())
    if found.test is not None:
        scores |= _scores("test", data.test_labels, found.test.cluster)
    scores |= _scores("final", data.labels, found.final.cluster)
    workers = None
    if annotations is not None:
        items = annotations.annotated
        labels = None if data.labels is None else data.labels[items]
        scores |= _scores("annotated", labels, found.final.cluster[items])
        if found.workers is not None:
            workers = _worker_table(found.workers, annotations, found.best)
            scores |= _recovery(workers)
    return Evaluation(found, workers, scores, restart_scores)


def _scores(split: str, labels: np.ndarray | None, clusters: np.ndarray) -> dict[str, float]:
    scores = {} if labels is None else clustering_scores(labels, clusters)
    return {f"{split}/{name}": value for name, value in scores.items()}


def _score_restarts(
    clusters: np.ndarray, elbo: np.ndarray, labels: np.ndarray | None, num_clusters: int
) -> dict[str, np.ndarray]:
    used = np.array([int(cluster_counts(c, num_clusters)["used"]) for c in clusters])
    nothing = np.full(len(clusters), np.nan)
    scores = {"elbo": elbo, "clusters_used": used, "oracle_acc": nothing, "oracle_nmi": nothing}
    if labels is not None:
        each = [clustering_scores(labels, c) for c in clusters]
        scores["oracle_acc"] = np.array([s["acc"] for s in each])
        scores["oracle_nmi"] = np.array([s["nmi"] for s in each])
    return scores


def _worker_table(estimates: WorkerPosterior, annotations: PairAnnotations, best: int) -> WorkerTable:
    sensitivity, specificity = estimates.mean()
    sensitivity_interval, specificity_interval = estimates.interval(0.9)
    unknown = np.full(annotations.num_annotators, np.nan)
    truth = annotations.true_sensitivity, annotations.true_specificity
    return WorkerTable(
        name=annotations.worker_names,
        pairs=np.bincount(annotations.worker, minlength=annotations.num_annotators),
        sensitivity=np.asarray(sensitivity[best]),
        sensitivity_interval=np.asarray(sensitivity_interval[best]),
        specificity=np.asarray(specificity[best]),
        specificity_interval=np.asarray(specificity_interval[best]),
        true_sensitivity=unknown if truth[0] is None else truth[0],
        true_specificity=unknown if truth[1] is None else truth[1],
    )


def _recovery(workers: WorkerTable) -> dict[str, float]:
    scores = {}
    for name, estimated, true in (
        ("sensitivity", workers.sensitivity, workers.true_sensitivity),
        ("specificity", workers.specificity, workers.true_specificity),
    ):
        if np.isfinite(true).any():
            scores[f"workers/{name}_mae"] = worker_recovery(estimated, true)
        rank = worker_rank(estimated, true)
        if rank is not None:
            scores[f"workers/{name}_rank"] = rank
    return scores
