"""Pairs of items whose answers would help most, and ``questions.csv``, in which people write these answers."""

import heapq
from collections import Counter
from collections.abc import Sequence
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
#: Number of pairs.
NUMBER = 200
#: The file has so many columns of the table, the first ones.
_COLUMNS = 10
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
    header, shown = ["i", "j", "worker", "label"], items.shown(_COLUMNS)
    header += [f"{name} ({end})" for name in shown for end in "ij"]
    rows = ([items.name(i), items.name(j), "", "", *(of(one) for of in shown.values() for one in (i, j))]
            for i, j in pairs)  # fmt: skip
    write_csv(path, header, rows)


def pairs_to_ask(
    final: Assignment,
    features: Assignment,
    distance: Distances,
    counts: Int[np.ndarray, "N"],
    answers: PairAnnotations | None,
    number: int,
) -> list[tuple[int, int]]:
    """Pairs to ask about, the most useful first; fewer than ``number`` if there are not so many.

    One question is added after the other, about the item with the largest :func:`benefit`, for
    which the questions that are already in the list count as answers. The item is compared with a typical item of its
    own cluster, then with one of its second most plausible cluster, and so on in turns: "same" or "different" then
    says in which of both it is. Of the surer half of a cluster, items that have answers are preferred, so that new
    answers connect to earlier ones. Typical items are used equally often, so that no single one decides about a
    cluster. A pair that has an answer is not asked about again.

    Without any answers the clusters are those of the features alone, and their doubts are no guide: the pairs are
    drawn at random then.

    Parameters
    ----------
    final, features : clusters given features and answers, and given the features alone
    distance : distances of the items to the means of the final clusters
    counts : number of answers about each item
    answers : the answers so far; None if there are none
    number : number of pairs

    Returns
    -------
    list of (item, the item to compare it with)
    """
    if answers is None:
        return _random_pairs(len(counts), number)
    return _Questions(final, features, distance, answers).best(counts, number)


class _Questions:
    """Questions that compare items with typical ones; no pair is asked about twice, nor one that has an answer."""

    def __init__(
        self, final: Assignment, features: Assignment, distance: Distances, answers: PairAnnotations
    ) -> None:
        self._views, self._distance = (final, features), distance
        annotated = np.zeros(len(distance.group), bool)
        annotated[answers.annotated] = True
        typical = [typical_items(final, distance, k, annotated) for k in range(len(distance.numbers))]
        self._typical = [one.tolist() for one in typical]
        # Of many millions of answers only those about typical items can be asked for again.
        ends = np.stack([np.minimum(answers.i, answers.j), np.maximum(answers.i, answers.j)])
        ends = ends[:, np.isin(ends, np.concatenate(typical)).any(axis=0)]
        #: Pairs that have an answer or are in the list, the smaller number first.
        self._taken = set(zip(*ends.tolist(), strict=True))
        #: Number of questions in which a typical item is compared with others.
        self._used: Counter[int] = Counter()

    def best(self, counts: np.ndarray, number: int) -> list[tuple[int, int]]:
        """The pairs, the most useful first."""
        value = benefit(*self._views, self._distance, counts)
        order = np.argsort(-value, kind="stable").tolist()
        # With a question about each, the first items are enough; one with nothing left to ask makes room for the next.
        queue = [(-float(value[item]), item, 0) for item in order[:number]]
        others = iter(order[number:])
        heapq.heapify(queue)
        pairs: list[tuple[int, int]] = []
        while queue and len(pairs) < number:
            _, item, asked = heapq.heappop(queue)
            partner = self._partner(item, asked)
            if partner is None:
                if (following := next(others, None)) is not None:
                    heapq.heappush(queue, (-float(value[following]), following, 0))
                continue
            pairs.append((item, partner))
            self._taken.add((min(item, partner), max(item, partner)))
            self._used[partner] += 1
            # Each question that is asked already divides the value of the next one.
            later = float(value[item]) * (1 + counts[item]) / (2 + counts[item] + asked)
            heapq.heappush(queue, (-later, item, asked + 1))
        return pairs

    def _partner(self, item: int, asked: int) -> int | None:
        """A typical item of the cluster whose turn it is, else of the other one; None if all have been compared."""
        own, second = int(self._distance.group[item]), second_cluster(*self._views, self._distance, item)
        turns = [own] if second is None else [second, own] if asked % 2 else [own, second]
        for cluster in turns:
            free = [one for one in self._typical[cluster]
                    if one != item and (min(item, one), max(item, one)) not in self._taken]
            if free:
                return min(free, key=lambda one: self._used[one])
        return None


def _random_pairs(num_items: int, number: int) -> list[tuple[int, int]]:
    """Different pairs of different items."""
    if num_items < 2:
        return []
    draws = stream(0, "page/pairs")
    ordered = num_items * (num_items - 1)  # each pair twice
    i, j = np.divmod(draws.choice(ordered, min(2 * number, ordered), replace=False), num_items - 1)
    pairs = zip(i.tolist(), (j + (j >= i)).tolist(), strict=True)
    return list({(min(one), max(one)): None for one in pairs})[:number]


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
