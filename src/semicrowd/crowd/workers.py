"""What is believed of the annotators after a fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from semicrowd.crowd.annotations import PairAnnotations

#: How sure an annotator's logit can be.
_ENDS = 1e-12


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


def worker_frame(
    estimates: WorkerPosterior, best: int, answers: PairAnnotations, kinds: np.ndarray
) -> pd.DataFrame:
    """What is believed of the annotators under the restart ``best``, a row for each.

    Columns are annotator (the name), pairs (answers), sensitivity and specificity, each with the ends of its 90 %
    interval, weight: logit α + logit β in nats, what one "same" and one "different" of the annotator say together,
    and observed_sensitivity and observed_specificity: not what is to be expected of the annotator's next answers but
    the share of right ones in those that there are, going by ``kinds``.

    Parameters
    ----------
    kinds : clusters [N] of the items or their probabilities [N, K], with all that is known of each
    """
    columns: dict[str, Any] = {
        "annotator": list(answers.worker_names),
        "pairs": np.bincount(answers.worker, minlength=answers.num_annotators),
    }
    weight = np.zeros(answers.num_annotators)
    names = ("sensitivity", "specificity")
    for name, mean, interval in zip(names, estimates.mean(), estimates.interval(), strict=True):
        low, high = interval[best].T
        columns |= {name: mean[best], f"{name}_low": low, f"{name}_high": high}
        rate = np.clip(mean[best], _ENDS, 1 - _ENDS)
        weight = weight + np.log(rate / (1 - rate))
    observed = zip(names, answers.empirical_quality(kinds), strict=True)
    return pd.DataFrame(columns | {"weight": weight} | {f"observed_{name}": rate for name, rate in observed})
