"""What would help most: items to ask about, and how many more answers it takes until half of the uncertain are sure."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from semicrowd.fitting.result import Assignment
from semicrowd.page.clusters import SURE, Distances
from semicrowd.random import stream

#: Items to ask about.
_ITEMS = 10
#: A probability of another cluster that is at most this is none.
_SLIGHT = 0.01
#: Doubt by place from which on another mean is near: at most √3 times as far as its own.
_NEAR = 0.5
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
    clusters : the two that it may be in, its own first; its own alone where there is no other
    partners : a sure item of each of them, to be shown beside it; None where a cluster has none
    why : it is among them, in a few words each
    """

    item: int
    probability: float | None
    clusters: tuple[int, ...]
    partners: tuple[int | None, ...]
    why: tuple[str, ...]


def questions(
    final: Assignment, features: Assignment, distance: Distances, answers: Int[np.ndarray, "N"]
) -> list[Question]:
    """The items about which an answer promises most, each with others that it should be compared with.

    It promises much where an item may be in the wrong cluster and little has been said of it: the :func:`doubt` over
    1 + the item's answers, which is the share that the next one will have in all of them.

    Parameters
    ----------
    final, features : clusters by all that is known, and by the features alone
    distance : of the items to the means of the final clusters
    answers : about each item
    """
    promise = doubt(final, features, distance) / (1 + answers)
    asked = []
    for item in np.argsort(-promise, kind="stable")[:_ITEMS].tolist():
        own, second = int(distance.group[item]), _second(final, features, distance, item)
        places = (own,) if second is None else (own, second)
        probability = float(final.probability[item])
        asked.append(Question(
            item, probability if np.isfinite(probability) else None, tuple(int(distance.numbers[k]) for k in places),
            tuple(_surest(final, distance, k, item) for k in places),
            tuple(_why(final, features, distance, int(answers[item]), item)),
        ))  # fmt: skip
    return asked


def doubt(final: Assignment, features: Assignment, distance: Distances) -> Float[np.ndarray, "N"]:
    """How doubtful each item's cluster is, 0 … 1: the mean of three views, as far as a method has them.

    How little the final probability of its cluster is above that of the next; the same of the features alone, 1 where
    they say another cluster; and how near it lies to another cluster's mean. The final probability alone would not do:
    after co-training it is near 1 for nearly all items, also for those that are wrong.
    """
    views = [distance.doubt]
    differs = features.cluster != final.cluster
    if final.memberships is not None:
        views.append(1 - _lead(final.memberships))
    if features.memberships is not None:
        views.append(np.where(differs, 1.0, 1 - _lead(features.memberships)))
    elif differs.any():
        views.append(differs.astype(float))
    return np.mean(views, axis=0)


def _lead(memberships: Float[np.ndarray, "N K"]) -> Float[np.ndarray, "N"]:
    """The highest probability of each item less the next."""
    ordered = np.sort(memberships, axis=1)
    return ordered[:, -1] - ordered[:, -2] if memberships.shape[1] > 1 else np.ones(len(memberships))


def _second(final: Assignment, features: Assignment, distance: Distances, item: int) -> int | None:
    """Position of the cluster that an item may be in instead: what its features say, or the next probable, or near."""
    numbers, own = distance.numbers, int(distance.group[item])
    if len(numbers) == 1:
        return None
    likely = np.where(numbers == features.cluster[item], 1.0, 0.0)
    for view in (final, features):
        if view.memberships is not None:
            likely += np.pad(view.memberships[item], (0, 1 + int(numbers.max())))[numbers]
    likely[own] = 0.0
    return int(likely.argmax()) if likely.max() > _SLIGHT else distance.nearest_other(item)


def _why(
    final: Assignment, features: Assignment, distance: Distances, answers: int, item: int
) -> Iterator[str]:
    yield "nobody was asked about it" if not answers else f"{answers} answer{'s' if answers > 1 else ''} so far"
    unsure = [view.probability[item] < SURE for view in (final, features)]
    if features.cluster[item] != final.cluster[item]:
        yield f"its features alone say cluster {features.cluster[item]}"
    elif unsure[1]:
        yield f"its features alone leave its cluster open (probability {features.probability[item]:.2f})"
    elif unsure[0]:
        yield f"its cluster is uncertain (probability {final.probability[item]:.2f})"
    if len(distance.numbers) == 1:
        yield "it is far from the mean of all"
    elif distance.doubt[item] > _NEAR:
        yield "another cluster's mean is nearly as near as its own"
    elif not any(unsure) and features.cluster[item] == final.cluster[item]:
        yield "less sure than what is not listed"


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
