"""Is a difference between two methods more than chance, where all its values are of splits of one data set?"""

import numpy as np
from scipy import stats


def corrected_p(differences: np.ndarray, test_to_train: float) -> float:
    """Two-sided p of the corrected resampled t test of Nadeau & Bengio (2003); nan where nothing varies.

    Each value is the difference on one split into training and test items. Splits share items, so their values vary
    less than those of fresh data would, and the variance of their mean does not shrink as 1/n. The test therefore
    takes it for (1/n + n_test/n_train) s², with n − 1 degrees of freedom. A usual t test, the case
    ``test_to_train`` = 0, becomes as small as one likes when the same items are split often enough.

    A value must be of a single split: means over the folds of a cross-validation, whose test parts are all items
    together, hardly vary from one shuffle to the next, whatever other items would have given.
    """
    n = len(differences)
    variance = float(np.var(differences, ddof=1)) if n > 1 else 0.0
    if not variance:
        return float("nan")
    t = float(np.mean(differences)) / np.sqrt((1 / n + test_to_train) * variance)
    return float(2 * stats.t.sf(abs(t), n - 1))
