"""What would help most: items to ask about, and how many more answers it takes until half of the uncertain are sure."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from semicrowd.fitting.result import Assignment
from semicrowd.page.clusters import SURE, Distances, typical_items
from semicrowd.random import stream

#: Number of items to ask about.
_ITEMS = 10
#: A probability of another cluster up to this value is ignored.
_SLIGHT = 0.01
#: Ambiguity above which the mean of another cluster counts as close: at most √3 times as far as that of its own.
_NEAR = 0.5
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
    clusters : its cluster and the second most probable one; only its own if there is no other
    partners : a typical item of each of these clusters, to compare it with; None for a cluster without other items
    why : reasons why it is in the list, a few words each
    """

    item: int
    probability: float | None
    clusters: tuple[int, ...]
    partners: tuple[int | None, ...]
    why: tuple[str, ...]


def questions(
    final: Assignment, features: Assignment, distance: Distances, answers: Int[np.ndarray, "N"]
) -> list[Question]:
    """The items about which further answers are expected to help most, each with items to compare it with.

    They are ordered by :func:`benefit`.

    Parameters
    ----------
    final, features : clusters given features and answers, and given the features alone
    distance : distances of the items to the means of the final clusters
    answers : number of answers about each item
    """
    value = benefit(final, features, distance, answers)
    asked = []
    for item in np.argsort(-value, kind="stable")[:_ITEMS].tolist():
        own, second = int(distance.group[item]), second_cluster(final, features, distance, item)
        places = (own,) if second is None else (own, second)
        probability = float(final.probability[item])
        asked.append(Question(
            item, probability if np.isfinite(probability) else None, tuple(int(distance.numbers[k]) for k in places),
            tuple(_surest(final, distance, k, item) for k in places),
            tuple(_why(final, features, distance, int(answers[item]), item)),
        ))  # fmt: skip
    return asked


def benefit(
    final: Assignment, features: Assignment, distance: Distances, answers: Int[np.ndarray, "N"]
) -> Float[np.ndarray, "N"]:
    """How much a further answer about each item is expected to help: its :func:`uncertainty` / (1 + its answers).

    1 / (1 + number of answers) is the share of the next answer in all answers about the item.

    Parameters
    ----------
    answers : number of answers about each item
    """
    return uncertainty(final, features, distance) / (1 + answers)


def uncertainty(final: Assignment, features: Assignment, distance: Distances) -> Float[np.ndarray, "N"]:
    """Uncertainty of each item's cluster, from 0 to 1: the mean of up to three numbers.

    1 minus the difference between the two highest final probabilities; the same for the features alone, 1 if they
    predict another cluster; and how close the item is to the mean of another cluster. The final probability alone is
    not sufficient: after co-training it is near 1 for nearly all items, also for those in a wrong cluster.
    """
    views = [distance.ambiguity]
    differs = features.cluster != final.cluster
    if final.memberships is not None:
        views.append(1 - _lead(final.memberships))
    if features.memberships is not None:
        views.append(np.where(differs, 1.0, 1 - _lead(features.memberships)))
    elif differs.any():
        views.append(differs.astype(float))
    return np.mean(views, axis=0)


def _lead(memberships: Float[np.ndarray, "N K"]) -> Float[np.ndarray, "N"]:
    """Difference between the two highest probabilities of each item."""
    ordered = np.sort(memberships, axis=1)
    return ordered[:, -1] - ordered[:, -2] if memberships.shape[1] > 1 else np.ones(len(memberships))


def second_cluster(final: Assignment, features: Assignment, distance: Distances, item: int) -> int | None:
    """Position of an item's second most plausible cluster: by the features, else by probability, else by distance.

    None if there is one cluster only.
    """
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
    yield "there are no answers about it" if not answers else f"{answers} answer{'s' if answers > 1 else ''} so far"
    unsure = [view.probability[item] < SURE for view in (final, features)]
    if features.cluster[item] != final.cluster[item]:
        yield f"its features alone predict cluster {features.cluster[item]}"
    elif unsure[1]:
        yield f"its cluster is uncertain given its features alone (probability {features.probability[item]:.2f})"
    elif unsure[0]:
        yield f"its cluster is uncertain (probability {final.probability[item]:.2f})"
    if len(distance.numbers) == 1:
        yield "it is far from the mean of all items"
    elif distance.ambiguity[item] > _NEAR:
        yield "the mean of another cluster is nearly as close as that of its own"
    elif not any(unsure) and features.cluster[item] == final.cluster[item]:
        yield "less certain than the items that are not listed"


def _surest(found: Assignment, distance: Distances, k: int, item: int) -> int | None:
    """The most typical item of the cluster at position k, other than ``item``; None if there is no other."""
    return next((one for one in typical_items(found, distance, k).tolist() if one != item), None)


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
    # An item that is still undecided after so many answers is given up, and another item is asked about instead.
    decided, each = 1 - float(open_.mean()), float(count.mean())
    mean = (share[:, None] * rates).sum(0)
    answers = int(np.ceil(each * len(uncertain) / 2 / decided)) if decided >= 0.5 else None
    return Need(len(uncertain), len(uncertain) / len(found.cluster), answers, each, float(mean[0]), float(mean[1]))
