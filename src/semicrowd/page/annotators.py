"""Description of the annotators for a report: estimated rates, their uncertainty, and advice."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.crowd.workers import WorkerPosterior

#: Half the width of a 90 % interval, in standard deviations.
_NINETY = 1.645
#: Answers are almost uninformative if sensitivity + specificity − 1 is at most this; 0: random, 1: perfect answers.
_NOTHING = 0.2
#: Probability of an answer, whatever the two items are, from which on it counts as nearly always given.
_ALWAYS = 0.8
#: An annotator's quality is called unknown if the 90 % interval of sensitivity + specificity − 1 is wider than this.
_WIDE = 0.6

DROP = "answers tell next to nothing: do not ask again"
REVERSED = "answers the opposite of what is right: explain the question, or do not ask again"
ALWAYS_SAME = "nearly always answers “same”: explain the question, or do not ask again"
ALWAYS_DIFFERENT = "nearly always answers “different”: explain the question, or do not ask again"
UNKNOWN = "too few answers to tell"
PERHAPS = "may be guessing: the interval includes answers at random"


@dataclass(frozen=True)
class Annotator:
    """A person who answered.

    Attributes
    ----------
    answers : number of answers
    sensitivity, specificity : estimate and the ends of its 90 % interval
    weight : logit(sensitivity) + logit(specificity), in nats; 0 for random answers
    remark : advice, or empty
    """

    name: str
    answers: int
    sensitivity: tuple[float, float, float]
    specificity: tuple[float, float, float]
    weight: float
    remark: str

    @property
    def drop(self) -> bool:
        """Whether the advice is not to ask again."""
        return self.remark in (DROP, REVERSED, ALWAYS_SAME, ALWAYS_DIFFERENT)


def annotators(table: pd.DataFrame, posterior: WorkerPosterior, best: int, *, remarks: bool = True) -> list[Annotator]:
    """All annotators, the most reliable first.

    Parameters
    ----------
    table : from :func:`semicrowd.crowd.workers.worker_frame`
    posterior : posterior of the rates in the table
    remarks : False where the clusters are not to be trusted: rates are estimated from these clusters, and people who
        are right would be reproached for them
    """
    informedness, error = _informedness(posterior, best, table["pairs"].to_numpy())
    order = np.argsort(-table["weight"].to_numpy(), kind="stable")
    rows, people = table.to_dict("records"), []
    for n in order.tolist():
        sensitivity, specificity = (_with_ends(rows[n], name) for name in ("sensitivity", "specificity"))
        says_same = sensitivity[0], 1 - specificity[0]
        remark = _remark(says_same, float(informedness[n]), float(error[n])) if remarks else ""
        people.append(Annotator(str(rows[n]["annotator"]), int(rows[n]["pairs"]), sensitivity, specificity,
                                float(rows[n]["weight"]), remark))  # fmt: skip
    return people


def _with_ends(row: Mapping[str, Any], name: str) -> tuple[float, float, float]:
    estimate = float(row[name])
    low, high = (float(row[f"{name}_{end}"]) for end in ("low", "high"))
    return estimate, low if np.isfinite(low) else estimate, high if np.isfinite(high) else estimate


def _informedness(posterior: WorkerPosterior, best: int, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sensitivity + specificity − 1 of each annotator (Youden 1950), and its standard deviation.

    For a method without a posterior, the deviation is an upper bound: that of two shares of half the answers each.
    """
    rates, variance = [one[best] for one in posterior.mean()], np.zeros(len(answers))
    for shape in (posterior.sensitivity[best], posterior.specificity[best]):
        a, b = shape[:, 0], shape[:, 1]
        beta = a * b / ((a + b) ** 2 * (a + b + 1))
        variance += np.where(np.isfinite(beta), beta, 0.5 / np.maximum(answers, 1))
    return rates[0] + rates[1] - 1, np.sqrt(variance)


def _remark(says_same: tuple[float, float], informedness: float, error: float) -> str:
    """Advice; ``says_same`` : probability of the answer "same" about items of one class, and of two."""
    low, high = informedness - _NINETY * error, informedness + _NINETY * error
    if high < _NOTHING:
        if min(says_same) > _ALWAYS:
            return ALWAYS_SAME
        if max(says_same) < 1 - _ALWAYS:
            return ALWAYS_DIFFERENT
        return REVERSED if high < 0 else DROP
    if high - low > _WIDE:
        return UNKNOWN
    return PERHAPS if low < 0 else ""
