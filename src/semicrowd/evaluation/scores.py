"""Scores of a fitted method: every number of metrics.json, each row of workers.csv, restarts.csv; likeliest images."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Float, Int, Shaped

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import worker_frame
from semicrowd.data import Dataset
from semicrowd.data.frames import read_npz
from semicrowd.files import write_arrays
from semicrowd.metrics import (
    USED_SHARE,
    calibration_error,
    cluster_counts,
    clustering_scores,
    interval_coverage,
    worker_rank,
    worker_recovery,
)
from semicrowd.metrics.chains import mixing
from semicrowd.result import Assignment, Restarts, Result, Samples

_QUALITY = ("sensitivity", "specificity")
#: Numbers of clusters of a smaller probability are left out.
_SHOWN = 0.01


@dataclass(frozen=True)
class Evaluation:
    """The result of a method and its scores.

    Attributes
    ----------
    found : the result of the fit
    test : items of the test split; None without one, or for a method without ``predict``
    workers : workers.csv; true rates are NaN where unknown; without labels and true rates it has no columns observed_…;
        None for a method that estimates no annotators
    scores : metrics.json, times excepted
    restart_scores : columns of restarts.csv; empty for a method that keeps no scores of its restarts
    """

    found: Result
    test: Assignment | None
    workers: pd.DataFrame | None
    scores: dict[str, float | int]
    restart_scores: dict[str, Shaped[np.ndarray, "R"]]


def score(
    result: Result, data: Dataset, answers: PairAnnotations | None, test: Assignment | None = None
) -> Evaluation:
    """Compare a result with labels and the annotators' true rates, as far as they are known.

    Labels are used for scores only, never to select a result.

    Parameters
    ----------
    test : the method's clusters of the test split
    """
    counts = cluster_counts(result.features.cluster, result.num_clusters)
    scores: dict[str, float | int] = {
        **_scores("train", data.labels, result.features.cluster),
        **({} if test is None else _scores("test", data.test_labels, test.cluster)),
        **_scores("final", data.labels, result.final.cluster),
        **({} if data.labels is None else _calibration("final", data.labels, result.final)),
        "clusters/occupied": int(counts["occupied"]),
        "clusters/used": int(counts["used"]),
        "clusters/effective": float(counts["effective"]),
        "restart/best": result.best,
    }
    restart_scores: dict[str, np.ndarray] = {}
    if result.restarts is not None:
        scores[f"{result.restarts.column}/train"] = float(result.restarts.score[result.best])
        restart_scores = _score_restarts(result.restarts, data.labels, result.num_clusters)
        if data.labels is not None:
            scores["restart/oracle_acc"] = float(restart_scores["oracle_acc"].max())
    if result.samples is not None:
        scores |= _score_samples(result.samples, data.labels)
    if result.verdict is not None:
        scores["answers/evidence"] = result.verdict.evidence
    if result.posterior is not None:
        likely = result.posterior[result.posterior["probability"] >= _SHOWN].itertuples()
        scores |= {f"clusters/probability_{row.clusters}": float(row.probability) for row in likely}
    workers = None
    if answers is not None:
        items = answers.annotated
        labels = None if data.labels is None else data.labels[items]
        scores |= _scores("annotated", labels, result.final.cluster[items])
        if labels is not None:
            scores |= _calibration("annotated", labels, result.final, items)
        if result.workers is not None:
            workers = worker_frame(result.workers, result.best, answers, result.final.memberships_or_clusters)
            for name in _QUALITY:
                truth = getattr(answers, f"true_{name}")
                workers[f"true_{name}"] = np.nan if truth is None else truth
                scores |= _recovery(name, workers[name].to_numpy(), workers[f"true_{name}"].to_numpy(float))
                if truth is not None:
                    low, high = (workers[f"{name}_{end}"].to_numpy() for end in ("low", "high"))
                    scores |= _finite(f"workers/{name}_coverage", interval_coverage(low, high, truth))
            if data.labels is not None:
                for name, in_truth in zip(_QUALITY, answers.empirical_quality(data.labels), strict=True):
                    observed = workers[f"observed_{name}"].to_numpy()
                    # NaN where no answered pair is within one cluster (sensitivity) or across two (specificity).
                    scores |= _recovery(f"observed_{name}", observed, np.where(np.isnan(observed), np.nan, in_truth))
            elif answers.true_sensitivity is None and answers.true_specificity is None:
                # Without a truth to compare with, these columns would look like second estimates.
                workers = workers.drop(columns=[f"observed_{name}" for name in _QUALITY])
    return Evaluation(result, test, workers, scores, restart_scores)


def _scores(split: str, labels: np.ndarray | None, clusters: np.ndarray) -> dict[str, float]:
    scores = {} if labels is None else clustering_scores(labels, clusters)
    return {f"{split}/{name}": value for name, value in scores.items()}


def _calibration(
    split: str, labels: np.ndarray, assignment: Assignment, items: np.ndarray | slice = slice(None)
) -> dict[str, float]:
    error = calibration_error(labels, assignment.cluster[items], assignment.probability[items])
    return _finite(f"{split}/calibration_error", error)


def _finite(name: str, value: float) -> dict[str, float]:
    return {name: value} if np.isfinite(value) else {}


def _score_restarts(restarts: Restarts, labels: np.ndarray | None, num_clusters: int) -> dict[str, np.ndarray]:
    used = np.array([int(cluster_counts(clusters, num_clusters)["used"]) for clusters in restarts.clusters])
    each = [{"acc": np.nan, "nmi": np.nan} if labels is None else clustering_scores(labels, clusters)
            for clusters in restarts.clusters]  # fmt: skip
    oracle = {f"oracle_{name}": np.array([one[name] for one in each]) for name in ("acc", "nmi")}
    return {restarts.column: restarts.score, "clusters_used": used} | oracle


def _score_samples(samples: Samples, labels: np.ndarray | None) -> dict[str, float | int]:
    """Mean and standard deviation over the partitions that were kept, and whether the chains have mixed."""
    kept = samples.partitions[samples.kept]
    each = [{"samples/clusters": float(one.max() + 1)} | _scores("samples", labels, one) for one in kept]
    scores: dict[str, float | int] = {}
    for key in each[0]:
        values = [one[key] for one in each]
        scores |= {key: float(np.mean(values)), f"{key}_sd": float(np.std(values, ddof=min(1, len(values) - 1)))}
    # R-hat is infinite if every chain is constant at a different value: JSON has no such number.
    chains = {f"chains/{name}": value for name, value in mixing(samples.chains).items() if np.isfinite(value)}
    return scores | chains


def _recovery(name: str, estimated: np.ndarray, true: np.ndarray) -> dict[str, float]:
    scores = {}
    if np.isfinite(true).any():
        scores[f"workers/{name}_mae"] = worker_recovery(estimated, true)
    rank = worker_rank(estimated, true)
    if rank is not None:
        scores[f"workers/{name}_rank"] = rank
    return scores


LIKELIEST = "likeliest.npz"
#: Number of images of each cluster.
_IMAGES = 10
#: Maximal number of clusters.
_MOST = 25


@dataclass(frozen=True)
class Likeliest:
    """k clusters in use, the largest first.

    Attributes
    ----------
    clusters : numbers of the clusters
    share : share of all items in each cluster
    probability : cluster probability of each image, the highest first; NaN if a cluster has fewer images
    images : pixels; white if a cluster has fewer images
    """

    clusters: Int[np.ndarray, "k"]
    share: Float[np.ndarray, "k"]
    probability: Float[np.ndarray, "k 10"]
    images: Float[np.ndarray, "k 10 D"]

    @classmethod
    def of(cls, assignment: Assignment, images: np.ndarray) -> "Likeliest":
        """Select from images [N, D] with values from 0 to 1; clusters below 0.5 % of the items are left out."""
        share = np.bincount(assignment.cluster) / len(images)
        order = [int(k) for k in np.argsort(-share, kind="stable") if share[k] >= USED_SHARE][:_MOST]
        probability = np.full((len(order), _IMAGES), np.nan)
        shown = np.ones((len(order), _IMAGES, images.shape[1]), np.float32)
        for row, k in enumerate(order):
            items = np.flatnonzero(assignment.cluster == k)
            items = items[np.argsort(-assignment.probability[items], kind="stable")[:_IMAGES]]
            probability[row, : len(items)] = assignment.probability[items]
            shown[row, : len(items)] = images[items]
        return cls(np.array(order), share[order], probability, shown)

    def write(self, directory: Path) -> None:
        """Write ``likeliest.npz`` into a run directory, whole or not at all."""
        write_arrays(directory / LIKELIEST, {**vars(self), "images": self.images.astype(np.float16)})

    @classmethod
    def read(cls, directory: Path) -> "Likeliest | None":
        """Read ``likeliest.npz`` of a run directory; None if there is none."""
        path = directory / LIKELIEST
        if not path.is_file():
            return None
        return cls(**read_npz(path))
