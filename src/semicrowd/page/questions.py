"""Pairs of items whose answers would help most, and ``questions.csv``, in which people write these answers."""

import heapq
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.files import write_csv
from semicrowd.page.clusters import Distances, typical_items
from semicrowd.page.items import Items
from semicrowd.random import stream
from semicrowd.result import Assignment

#: The file's name in a run's folder.
QUESTIONS = "questions.csv"
#: Number of pairs; and of columns of a table that the file has, the first ones.
NUMBER, _COLUMNS = 200, 10
#: A probability of another cluster up to this value is ignored.
_SLIGHT = 0.01


def write_questions(path: Path, pairs: Sequence[tuple[int, int]], items: Items) -> None:
    """Write the pairs as answers i,j,worker,label, with nothing in the last two columns; no file without pairs.

    What a person needs to answer follows: both items' cells of the first ten columns of a table with names of columns,
    or both pictures' paths. Reading the file as answers skips these columns.

    Parameters
    ----------
    pairs : numbers of the items of each pair
    """
    if not pairs:
        return
    header = ["i", "j", "worker", "label"]
    header += [f"{name} ({end})" for name in items.shown(pairs[0][0], _COLUMNS) for end in "ij"]
    rows = []
    for i, j in pairs:
        cells = zip(items.shown(i, _COLUMNS).values(), items.shown(j, _COLUMNS).values(), strict=True)
        rows.append([items.name(i), items.name(j), "", "", *chain.from_iterable(cells)])
    write_csv(path, header, rows)


def pairs_to_ask(
    final: Assignment, features: Assignment, distance: Distances, answers: PairAnnotations | None, number: int
) -> list[tuple[int, int]]:
    """At most ``number`` pairs to ask about, the most useful first: an item, and the item to compare it with.

    One question is added after the other, about the item with the largest :func:`uncertainty` / (1 + its answers), for
    which the questions that are already in the list count as answers: 1 / (1 + number of answers) is the share of the
    next answer in all answers about the item. The item is compared with a typical item of its own cluster, then with
    one of its second most plausible cluster, and so on in turns: "same" or "different" then says in which of both it
    is. Of the surer half of a cluster, items that have answers are preferred, so that new answers connect to earlier
    ones. Typical items are used equally often, so that no single one decides about a cluster. A pair that has an
    answer is not asked about again.

    Without any answers the clusters are those of the features alone, and their doubts are no guide: the pairs are
    drawn at random then.

    Parameters
    ----------
    final, features : clusters given features and answers, and given the features alone
    distance : distances of the items to the means of the final clusters
    answers : those so far; None if there are none
    """
    if answers is None:
        return _random_pairs(len(distance.group), number)
    counts = np.bincount(np.concatenate([answers.i, answers.j]), minlength=answers.num_items)  # answers about each item
    typical = [typical_items(final, distance, k, counts > 0).tolist() for k in range(len(distance.numbers))]
    second = second_clusters(final, features, distance)
    # Pairs that have an answer or are in the list; of all answers only those about typical items can be asked again.
    ends = np.sort([answers.i, answers.j], axis=0)
    taken = set(zip(*ends[:, np.isin(ends, np.concatenate(typical)).any(axis=0)].tolist(), strict=True))
    used: Counter[int] = Counter()  # questions in which a typical item is compared with others
    value = uncertainty(final, features, distance) / (1 + counts)
    order = np.argsort(-value, kind="stable").tolist()
    # With a question about each, the first items are enough; one with nothing left to ask makes room for the next.
    queue, others = [(-float(value[item]), item, 0) for item in order[:number]], iter(order[number:])
    heapq.heapify(queue)
    pairs: list[tuple[int, int]] = []
    while queue and len(pairs) < number:
        _, item, asked = heapq.heappop(queue)
        own = int(distance.group[item])
        turns = [second[item], own] if asked % 2 else [own, second[item]]
        free = [[one for one in typical[k] if one != item and (min(item, one), max(item, one)) not in taken]
                for k in turns]  # fmt: skip
        if partners := free[0] or free[1]:
            partner = min(partners, key=lambda one: used[one])
            pairs.append((item, partner))
            taken.add((min(item, partner), max(item, partner)))
            used[partner] += 1
            # Each question that is asked already divides the value of the next one.
            later = float(value[item]) * (1 + counts[item]) / (2 + counts[item] + asked)
            heapq.heappush(queue, (-later, item, asked + 1))
        elif (following := next(others, None)) is not None:
            heapq.heappush(queue, (-float(value[following]), following, 0))
    return pairs


def _random_pairs(num_items: int, number: int) -> list[tuple[int, int]]:
    """Different pairs of different items."""
    if num_items < 2:
        return []
    ordered = num_items * (num_items - 1)  # each pair twice
    drawn = stream(0, "page/pairs").choice(ordered, min(2 * number, ordered), replace=False)
    i, j = np.divmod(drawn, num_items - 1)
    pairs = np.sort([i, j + (j >= i)], axis=0).T.tolist()
    return list(dict.fromkeys((i, j) for i, j in pairs))[:number]


def uncertainty(final: Assignment, features: Assignment, distance: Distances) -> Float[np.ndarray, "N"]:
    """Uncertainty of each item's cluster, from 0 to 1: the mean of up to three numbers.

    1 minus the difference between the two highest final probabilities; the same for the features alone, 1 if they
    predict another cluster; and how close the item is to the mean of another cluster. The final probability alone is
    not sufficient: after co-training it is near 1 for nearly all items, also for those in a wrong cluster.
    """
    views = [np.minimum(distance.ambiguity, 1)]
    differs = features.cluster != final.cluster
    for one, other in ((final, np.zeros(len(differs), bool)), (features, differs)):
        if one.memberships is not None:
            lead = one.memberships.max(1) - np.nan_to_num(one.second()[1], nan=0.0)
            views.append(np.where(other, 1.0, 1 - lead))
        elif other.any():
            views.append(other.astype(float))
    return np.mean(views, axis=0)


def second_clusters(final: Assignment, features: Assignment, distance: Distances) -> Int[np.ndarray, "N"]:
    """Position of each item's second most plausible cluster: by the features, else by probability, else by distance."""
    numbers, every = distance.numbers, np.arange(len(distance.group))
    likely = (numbers == features.cluster[:, None]).astype(float)
    for view in (final, features):
        if view.memberships is not None:
            likely += np.pad(view.memberships, ((0, 0), (0, 1 + int(numbers.max()))))[:, numbers]
    likely[every, distance.group] = 0.0
    return np.where(likely.max(1) > _SLIGHT, likely.argmax(1), distance.nearest)
