"""What would help most: items to ask about, and how many more answers it takes until half of the uncertain are sure."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from semicrowd.fitting.result import Assignment
from semicrowd.page.clusters import SURE, Distances
from semicrowd.random import stream

#: Items to ask about.
_ITEMS = 10
#: Uncertain items that are simulated, at most; a sample of more.
_SIMULATED = 400
#: Answers about one item, at most: those of an item that stays uncertain.
_MOST_ANSWERS = 60
#: An annotator's rates are kept away from 0 and 1: nobody is never wrong.
_RATES = (0.02, 0.98)


@dataclass(frozen=True)
class Question:
    """An item to ask about.

    Attributes
    ----------
    item : number
    probability : of its cluster, None of a method without probabilities
    clusters : the two that it may be in, the likelier first
    partners : a sure item of each of the two, to be shown beside it; None where a cluster has none
    """

    item: int
    probability: float | None
    clusters: tuple[int, int]
    partners: tuple[int | None, int | None]


def questions(found: Assignment, distance: Distances) -> list[Question]:
    """The least certain items, each with two others that it should be compared with.

    Without probabilities those are the items that are hardly nearer to the mean of their cluster than to another one.
    """
    numbers, group = distance.numbers, distance.group
    if len(numbers) < 2:
        return []
    members = np.eye(len(numbers))[group] if found.memberships is None else found.memberships[:, numbers]
    if found.memberships is None:
        items = np.argsort(-distance.doubt(), kind="stable")[:_ITEMS]
    else:
        items = np.argsort(found.probability, kind="stable")[:_ITEMS]
        items = items[found.probability[items] < SURE]
    asked = []
    for item in items.tolist():
        first = int(group[item])
        second = int(np.argmax(np.where(np.arange(len(numbers)) == first, -np.inf, members[item])))
        if found.memberships is None:
            second = distance.nearest_other(item)
        partners = [_surest(found, distance, k, item) for k in (first, second)]
        probability = float(found.probability[item])
        asked.append(Question(item, probability if np.isfinite(probability) else None,
                              (int(numbers[first]), int(numbers[second])), (partners[0], partners[1])))  # fmt: skip
    return asked


def _surest(found: Assignment, distance: Distances, k: int, item: int) -> int | None:
    own = np.flatnonzero(distance.group == k)
    own = own[own != item]
    if not len(own):
        return None
    probability = np.nan_to_num(found.probability[own], nan=1.0)
    surest = own[probability >= np.quantile(probability, 0.5)]
    return int(surest[distance.to_own(surest).argmin()])


@dataclass(frozen=True)
class Need:
    """How many answers would halve the uncertain share.

    Attributes
    ----------
    uncertain : items whose cluster has a probability below .9
    share : of all items
    answers : that are needed, asked one after the other about uncertain items; None where they would not suffice
    each : mean answers about an item
    sensitivity, specificity : of the annotators that are assumed
    """

    uncertain: int
    share: float
    answers: int | None
    each: float
    sensitivity: float
    specificity: float


def need(found: Assignment, table: pd.DataFrame | None) -> Need | None:
    """How many more answers until the share of uncertain items halves, by simulation.

    An uncertain item's true cluster is drawn from its probabilities. Annotators like those of the run, drawn by their
    numbers of answers, are asked one by one whether it is of one kind with a sure item of the cluster that is then
    likeliest; each answer changes its probabilities by Bayes' rule under the two-coin model (SCDC paper, eq. 1), until
    one reaches .9 or 60 answers did not do. It supposes that the run's probabilities and rates are right and that
    errors are independent, and counts what the answers say of the asked item alone, not what other items learn from it.
    None where nothing is uncertain, or the method gives no probabilities or no annotators.

    Parameters
    ----------
    table : as :func:`semicrowd.crowd.workers.worker_frame`
    """
    if found.memberships is None or table is None or not len(table):
        return None
    uncertain = np.flatnonzero(found.probability < SURE)
    if not len(uncertain):
        return None
    draws = stream(0, "page/need")
    asked = uncertain if len(uncertain) <= _SIMULATED else draws.choice(uncertain, _SIMULATED, replace=False)
    rates = np.clip(table[["sensitivity", "specificity"]].to_numpy(float), *_RATES)
    share = table["pairs"].to_numpy(float) / table["pairs"].sum()
    beliefs = found.memberships[asked] / found.memberships[asked].sum(1, keepdims=True)
    truth = (beliefs.cumsum(1) > draws.random((len(asked), 1))).argmax(1)
    count, open_ = np.zeros(len(asked)), np.ones(len(asked), bool)
    for _ in range(_MOST_ANSWERS):
        rows = np.flatnonzero(open_)
        if not len(rows):
            break
        sensitivity, specificity = rates[draws.choice(len(rates), len(rows), p=share)].T
        compared = beliefs[rows].argmax(1)
        same = draws.random(len(rows)) < np.where(truth[rows] == compared, sensitivity, 1 - specificity)
        inside, outside = np.where(same, (sensitivity, 1 - specificity), (1 - sensitivity, specificity))
        likelihood = np.repeat(outside[:, None], beliefs.shape[1], 1)
        likelihood[np.arange(len(rows)), compared] = inside
        beliefs[rows] *= likelihood
        beliefs[rows] /= beliefs[rows].sum(1, keepdims=True)
        count[rows] += 1
        open_ = beliefs.max(1) < SURE
    # An item that is still open after so many answers is given up, and another one asked about in its place.
    told, each = 1 - float(open_.mean()), float(count.mean())
    mean = (share[:, None] * rates).sum(0)
    answers = int(np.ceil(each * len(uncertain) / 2 / told)) if told >= 0.5 else None
    return Need(len(uncertain), len(uncertain) / len(found.cluster), answers, each, float(mean[0]), float(mean[1]))
