"""What is believed of the annotators after a fit."""

from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class WorkerPosterior:
    """Beta posteriors of M annotators' sensitivity and specificity: shape parameters [R, M, 2].

    Point estimates (SCDC) are Beta(∞, ∞)-like: ``exact`` then holds and intervals have no width.
    """

    sensitivity: np.ndarray
    specificity: np.ndarray
    exact: bool = False

    def mean(self) -> tuple[np.ndarray, np.ndarray]:
        """Posterior means of sensitivity and specificity, [R, M] each."""
        return tuple(shape[..., 0] / shape.sum(-1) for shape in (self.sensitivity, self.specificity))

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Central credible intervals of sensitivity and specificity, [R, M, 2] each: lower and upper end."""
        sensitivity, specificity = self.mean()
        if self.exact:
            return np.stack([sensitivity] * 2, -1), np.stack([specificity] * 2, -1)
        return _beta_interval(self.sensitivity, level), _beta_interval(self.specificity, level)


def _beta_interval(shape: np.ndarray, level: float) -> np.ndarray:
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    return stats.beta.ppf(tails, shape[..., :1], shape[..., 1:])
