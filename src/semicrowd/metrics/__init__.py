"""How good a clustering is, and how accurate the annotators' estimated rates are."""

from semicrowd.metrics.clustering import USED_SHARE, accuracy, cluster_counts, clustering_scores, match_labels
from semicrowd.metrics.workers import calibration_error, interval_coverage, worker_rank, worker_recovery

__all__ = [
    "USED_SHARE", "accuracy", "calibration_error", "cluster_counts", "clustering_scores", "interval_coverage",
    "match_labels", "worker_rank", "worker_recovery",
]  # fmt: skip
