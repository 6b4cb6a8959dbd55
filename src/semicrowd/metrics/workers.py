"""How well sensitivity and specificity of the annotators were estimated."""

import numpy as np
from scipy.stats import spearmanr


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
