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
ONE_WAY = "nearly always answers “{}”: explain the question, or do not ask again"
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
    drop : whether the advice is not to ask again
    """

    name: str
    answers: int
    sensitivity: tuple[float, float, float]
    specificity: tuple[float, float, float]
    weight: float
    remark: str
    drop: bool


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
        remark, drop = "", False
        if remarks:
            remark, drop = _remark(sensitivity[0], specificity[0], float(informedness[n]), float(error[n]))
        people.append(Annotator(str(rows[n]["annotator"]), int(rows[n]["pairs"]), sensitivity, specificity,
                                float(rows[n]["weight"]), remark, drop))  # fmt: skip
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


def _remark(sensitivity: float, specificity: float, informedness: float, error: float) -> tuple[str, bool]:
    """Advice, and whether it is not to ask this person again."""
    low, high = informedness - _NINETY * error, informedness + _NINETY * error
    if high < _NOTHING:
        says_same = sensitivity, 1 - specificity
        if min(says_same) > _ALWAYS:
            return ONE_WAY.format("same"), True
        if max(says_same) < 1 - _ALWAYS:
            return ONE_WAY.format("different"), True
        return (REVERSED if high < 0 else DROP), True
    if high - low > _WIDE:
        return UNKNOWN, False
    return (PERHAPS if low < 0 else ""), False
