"""How well sensitivity and specificity of the annotators were estimated."""

import numpy as np


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
