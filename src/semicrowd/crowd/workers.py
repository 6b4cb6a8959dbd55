"""Estimates of the annotators' sensitivity and specificity after a fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy import stats
from scipy.special import logit

from semicrowd.crowd.annotations import PairAnnotations

#: Rates are clipped to [this, 1 − this] before the logit.
_ENDS = 1e-12


@dataclass(frozen=True)
class WorkerPosterior:
    """Beta posteriors of M annotators' sensitivity and specificity.

    Attributes
    ----------
    sensitivity, specificity : shape parameters; NaN if the method gives no posterior
    point : point estimates of both rates, which are reported instead of the posterior means; or None
    """

    sensitivity: Float[np.ndarray, "R M 2"]
    specificity: Float[np.ndarray, "R M 2"]
    point: Float[np.ndarray, "2 R M"] | None = None

    def mean(self) -> tuple[np.ndarray, np.ndarray]:
        """Estimates of sensitivity and specificity, [R, M] each: ``point`` if given, else the posterior means."""
        if self.point is not None:
            return self.point[0], self.point[1]
        return tuple(shape[..., 0] / shape.sum(-1) for shape in (self.sensitivity, self.specificity))

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Credible intervals of sensitivity and specificity, [R, M, 2] each: lower and upper end.

        Central ones, but up to 1 (down to 0) where the density has its maximum there, as for somebody without a mistake
        (the modified Jeffreys interval; Brown, Cai & DasGupta 2001). They are extended, if necessary, to contain the
        reported estimates.
        """
        rates = self.mean()
        return _beta_interval(self.sensitivity, rates[0], level), _beta_interval(self.specificity, rates[1], level)

    def weight(self, best: int) -> np.ndarray:
        """[M] weight logit(sensitivity) + logit(specificity) of the annotators in a restart, 0 for random answers."""
        sensitivity, specificity = (logit(np.clip(rate[best], _ENDS, 1 - _ENDS)) for rate in self.mean())
        weight: np.ndarray = sensitivity + specificity
        return weight


def _beta_interval(shape: np.ndarray, mean: np.ndarray, level: float) -> np.ndarray:
    low, high = stats.beta.interval(level, shape[..., 0], shape[..., 1])
    low, high = np.where(shape[..., 0] < 1, 0.0, low), np.where(shape[..., 1] < 1, 1.0, high)
    return np.stack([np.minimum(low, mean), np.maximum(high, mean)], -1)


def worker_frame(
    estimates: WorkerPosterior, best: int, answers: PairAnnotations, clusters: np.ndarray
) -> pd.DataFrame:
    """Table of the annotators' estimated rates in restart ``best``, a row for each annotator.

    Columns: annotator (name), pairs (number of answers), sensitivity and specificity, each with the ends of its 90 %
    interval, weight (logit α + logit β, in nats; 0 for random answers), and observed_sensitivity and
    observed_specificity, the shares of correct answers among the given ones if ``clusters`` were true. In contrast to
    them, sensitivity and specificity are estimates for future answers.

    Parameters
    ----------
    clusters : final clusters [N] of the items, or their probabilities [N, K]
    """
    columns: dict[str, Any] = {
        "annotator": list(answers.worker_names),
        "pairs": np.bincount(answers.worker, minlength=answers.num_annotators),
    }
    names = ("sensitivity", "specificity")
    for name, mean, interval in zip(names, estimates.mean(), estimates.interval(), strict=True):
        low, high = interval[best].T
        columns |= {name: mean[best], f"{name}_low": low, f"{name}_high": high}
    observed = zip(names, answers.empirical_quality(clusters), strict=True)
    columns |= {"weight": estimates.weight(best)} | {f"observed_{name}": rate for name, rate in observed}
    return pd.DataFrame(columns)
