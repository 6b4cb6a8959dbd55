"""What is believed of the annotators after a fit."""

from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class WorkerPosterior:
    """Beta posteriors of M annotators' sensitivity and specificity: shape parameters [R, M, 2].

    Attributes
    ----------
    sensitivity, specificity : shapes, NaN where nothing tells how sure one may be
    point : [2, R, M], what is reported of both in place of the posteriors' means, or None
    """

    sensitivity: np.ndarray
    specificity: np.ndarray
    point: np.ndarray | None = None

    def mean(self) -> tuple[np.ndarray, np.ndarray]:
        """Sensitivity and specificity, [R, M] each: posterior means or ``point``."""
        if self.point is not None:
            return self.point[0], self.point[1]
        return tuple(shape[..., 0] / shape.sum(-1) for shape in (self.sensitivity, self.specificity))

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Central credible intervals of sensitivity and specificity, [R, M, 2] each: lower and upper end.

        They hold what is reported.
        """
        rates = self.mean()
        return _beta_interval(self.sensitivity, rates[0], level), _beta_interval(self.specificity, rates[1], level)


def _beta_interval(shape: np.ndarray, mean: np.ndarray, level: float) -> np.ndarray:
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    low, high = np.moveaxis(stats.beta.ppf(tails, shape[..., :1], shape[..., 1:]), -1, 0)
    return np.stack([np.minimum(low, mean), np.maximum(high, mean)], -1)
