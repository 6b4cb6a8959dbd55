"""Errors of the estimated sensitivities and specificities, and calibration of probabilities and intervals."""

import numpy as np
from scipy.stats import spearmanr

from semicrowd.metrics.clustering import right_items


def worker_recovery(estimated: np.ndarray, true: np.ndarray) -> float:
    """Mean absolute error over annotators, without those whose truth is not known (NaN).

    Parameters
    ----------
    estimated, true : [M] probabilities

    Returns
    -------
    float
        NaN where no truth is known.
    """
    known = ~np.isnan(true)
    return float(np.abs(estimated - true)[known].mean()) if known.any() else float("nan")


def worker_rank(estimated: np.ndarray, true: np.ndarray) -> float | None:
    """Spearman's rank correlation of estimate and truth over the annotators who make errors (truth known, below 1).

    Parameters
    ----------
    estimated, true : [M] probabilities

    Returns
    -------
    float or None
        None where it is not defined: fewer than three such annotators, or one truth or one estimate for all of them.
    """
    errs = true < 1
    estimated, true = estimated[errs], true[errs]
    if len(true) < 3 or np.ptp(true) == 0 or np.ptp(estimated) == 0:
        return None
    return float(spearmanr(estimated, true).statistic)


#: Intervals of equal width that probabilities are put into.
_BINS = 15


def calibration_error(labels: np.ndarray, clusters: np.ndarray, probability: np.ndarray) -> float:
    """Expected calibration error: |share of right items − mean probability|, by bins of probability, weighted by size.

    Parameters
    ----------
    labels, clusters : [N]; an item is right under the best one-to-one match of clusters and classes, as in ACC
    probability : [N] of each item's cluster

    Returns
    -------
    float
        NaN of a method that has no probabilities.
    """
    if np.isnan(probability).any():
        return float("nan")
    bins = np.minimum((_BINS * probability).astype(int), _BINS - 1)
    gap = np.bincount(bins, right_items(labels, clusters) - probability)
    return float(np.abs(gap).sum() / len(labels))


def interval_coverage(low: np.ndarray, high: np.ndarray, true: np.ndarray) -> float:
    """Share of the annotators whose true rate [M] lies within its interval; NaN where no truth is known."""
    known = ~(np.isnan(true) | np.isnan(low))
    return float(((low <= true) & (true <= high))[known].mean()) if known.any() else float("nan")
