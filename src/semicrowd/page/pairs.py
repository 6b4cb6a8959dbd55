"""Pairs of items whose answers would help most: the rows of a run's ``questions.csv``."""

import heapq
from collections import Counter

import numpy as np
from jaxtyping import Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.fitting.result import Assignment
from semicrowd.page.advice import Need, benefit, second_cluster
from semicrowd.page.clusters import Distances, typical_items
from semicrowd.random import stream

#: Number of pairs if it is not known how many answers are needed.
_USUAL = 200
#: Maximal number of pairs.
_MOST = 10_000


def number_of_pairs(need: Need | None) -> int:
    """How many pairs to ask about: the number of answers that halves the share of uncertain items, if it is known."""
    return _USUAL if need is None or need.answers is None else min(need.answers, _MOST)


def pairs_to_ask(
    final: Assignment,
    features: Assignment,
    distance: Distances,
    counts: Int[np.ndarray, "N"],
    answers: PairAnnotations | None,
    number: int,
) -> list[tuple[int, int]]:
    """Pairs to ask about, the most useful first; fewer than ``number`` if there are not so many.

    One question is added after the other, about the item with the largest :func:`semicrowd.page.advice.benefit`, for
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
