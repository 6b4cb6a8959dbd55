"""Advice: items to ask about, and the number of further answers that would halve the number of uncertain items."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float

from semicrowd.fitting.result import Assignment
from semicrowd.page.clusters import SURE, Distances
from semicrowd.random import stream

#: Number of items to ask about.
_ITEMS = 10
#: Maximal number of uncertain items in the simulation; if there are more, a random sample is used.
_SIMULATED = 400
#: Maximal number of simulated answers about an item.
_MOST_ANSWERS = 60
#: The annotators' rates are clipped to this range in the simulation.
_RATES = (0.02, 0.98)


@dataclass(frozen=True)
class Question:
    """An item to ask about.

    Attributes
    ----------
    item : number of the item
    probability : probability of its cluster; None for a method without probabilities
    clusters : the two most probable clusters of the item, the more probable first
    partners : a typical item of each of the two clusters, to compare it with; None for a cluster without other items
    """

    item: int
    probability: float | None
    clusters: tuple[int, int]
    partners: tuple[int | None, int | None]


def questions(assignment: Assignment, place: Float[np.ndarray, "N d"]) -> list[Question]:
    """The least certain items, each with two items to compare it with.

    For a method without probabilities these are the items with the smallest :meth:`Distances.margin`.
    """
    numbers, group = np.unique(assignment.cluster, return_inverse=True)
    if len(numbers) < 2:
        return []
    distance = Distances(place, group)
    members = np.eye(len(numbers))[group] if assignment.memberships is None else assignment.memberships[:, numbers]
    if assignment.memberships is None:
        margin = np.concatenate([distance.margin(np.flatnonzero(group == k), k) for k in range(len(numbers))])
        every = np.concatenate([np.flatnonzero(group == k) for k in range(len(numbers))])
        items = every[np.argsort(margin, kind="stable")[:_ITEMS]]
    else:
        items = np.argsort(assignment.probability, kind="stable")[:_ITEMS]
        items = items[assignment.probability[items] < SURE]
    asked = []
    for item in items.tolist():
        first = int(group[item])
        second = int(np.argmax(np.where(np.arange(len(numbers)) == first, -np.inf, members[item])))
        if assignment.memberships is None:
            second = distance.nearest_other(item, first)
        partners = [_surest(assignment, group, distance, k, item) for k in (first, second)]
        probability = float(assignment.probability[item])
        asked.append(Question(item, probability if np.isfinite(probability) else None,
                              (int(numbers[first]), int(numbers[second])), (partners[0], partners[1])))  # fmt: skip
    return asked


def _surest(assignment: Assignment, group: np.ndarray, distance: Distances, k: int, item: int) -> int | None:
    own = np.flatnonzero(group == k)
    own = own[own != item]
    if not len(own):
        return None
    probability = np.nan_to_num(assignment.probability[own], nan=1.0)
    surest = own[probability >= np.quantile(probability, 0.5)]
    return int(surest[distance.to_own(surest).argmin()])


@dataclass(frozen=True)
class Need:
    """Number of answers that would halve the share of uncertain items.

    Attributes
    ----------
    uncertain : number of items whose cluster has a probability below .9
    share : share of these among all items
    answers : number of answers needed; None if they would not suffice
    each : mean number of answers about an item
    sensitivity, specificity : mean rates of the simulated annotators
    """

    uncertain: int
    share: float
    answers: int | None
    each: float
    sensitivity: float
    specificity: float


def need(assignment: Assignment, table: pd.DataFrame | None) -> Need | None:
    """Estimate by simulation how many further answers would halve the share of uncertain items.

    The true cluster of an uncertain item is drawn from its probabilities. Annotators with the rates of this run, drawn
    in proportion to their numbers of answers, answer one after the other whether the item belongs to the same class as
    a certain item of its currently most probable cluster. After each answer the item's probabilities are updated by
    Bayes' rule under the two-coin model (SCDC paper, eq. 1), until one reaches .9, for at most 60 answers. The
    simulation assumes that the run's probabilities and rates are correct and that errors are independent. It ignores
    that an answer also changes the probabilities of other items.

    Returns None if no item is uncertain, or the method estimates no probabilities or no annotators.

    Parameters
    ----------
    table : from :func:`semicrowd.crowd.workers.worker_frame`
    """
    if assignment.memberships is None or table is None or not len(table):
        return None
    uncertain = np.flatnonzero(assignment.probability < SURE)
    if not len(uncertain):
        return None
    draws = stream(0, "page/need")
    asked = uncertain if len(uncertain) <= _SIMULATED else draws.choice(uncertain, _SIMULATED, replace=False)
    rates = np.clip(table[["sensitivity", "specificity"]].to_numpy(float), *_RATES)
    share = table["pairs"].to_numpy(float) / table["pairs"].sum()
    beliefs = assignment.memberships[asked] / assignment.memberships[asked].sum(1, keepdims=True)
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
    # An item that is still uncertain after this number of answers is replaced by another one.
    told, each = 1 - float(open_.mean()), float(count.mean())
    mean = (share[:, None] * rates).sum(0)
    answers = int(np.ceil(each * len(uncertain) / 2 / told)) if told >= 0.5 else None
    return Need(len(uncertain), len(uncertain) / len(assignment.cluster), answers, each, float(mean[0]), float(mean[1]))
