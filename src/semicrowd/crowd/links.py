"""Must-links and cannot-links from the combined answers of all annotators, and the groups of items that they form."""

import heapq
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from semicrowd.crowd.annotations import PairAnnotations


@dataclass(frozen=True)
class Links:
    """Links of C distinct pairs, from the combined answers of all annotators.

    Attributes
    ----------
    i, j : item ids, int64, i < j
    must : True for a must-link, False for a cannot-link
    weight : > 0
    """

    i: Int[np.ndarray, "C"]
    j: Int[np.ndarray, "C"]
    must: Bool[np.ndarray, "C"]
    weight: Float[np.ndarray, "C"]


def majority_vote(pairs: PairAnnotations) -> Links:
    """One link of weight 1 for each answered pair, by the majority of its answers; pairs with a tie have no link."""
    low, high = np.minimum(pairs.i, pairs.j), np.maximum(pairs.i, pairs.j)
    pair, index = np.unique(low * pairs.num_items + high, return_inverse=True)
    net = np.bincount(index, weights=2 * pairs.label - 1)
    pair, net = pair[net != 0], net[net != 0]
    return Links(pair // pairs.num_items, pair % pairs.num_items, net > 0, np.ones(len(net)))


def neighbourhoods(links: Links, num_items: int) -> list[np.ndarray]:
    """Groups of two or more items that the links put together, the largest first.

    Answers without contradiction give the transitive closure of the must-links. Of contradictory answers the closure
    would be one giant group, so that two groups are joined only where the links between them say so on balance, those
    with the largest balance first (greedy additive edge contraction: Keuper et al. 2015, ICCV).
    """
    balance: list[dict[int, float]] = [{} for _ in range(num_items)]
    signed = np.where(links.must, links.weight, -links.weight)
    for a, b, weight in zip(links.i.tolist(), links.j.tolist(), signed.tolist(), strict=True):
        balance[a][b] = balance[b][a] = balance[a].get(b, 0.0) + weight
    members = [[item] for item in range(num_items)]
    queue = [(-w, a, b) for a, row in enumerate(balance) for b, w in row.items() if a < b and w > 0]
    heapq.heapify(queue)
    while queue:
        weight, a, b = heapq.heappop(queue)
        if balance[a].get(b) != -weight:
            continue  # outdated entry: one of the two groups was joined with another in the meantime
        if len(balance[a]) < len(balance[b]):
            a, b = b, a
        for other, w in balance[b].items():
            del balance[other][b]
            if other != a:
                total = balance[a][other] = balance[other][a] = balance[a].get(other, 0.0) + w
                if total > 0:
                    heapq.heappush(queue, (-total, min(a, other), max(a, other)))
        members[a] += members[b]
        members[b], balance[b] = [], {}
    groups = [np.sort(group) for group in members if len(group) > 1]
    return sorted(groups, key=lambda group: (-len(group), group[0]))


def blocks_of(pairs: PairAnnotations) -> np.ndarray:
    """Block of each item [N], 0 … C − 1: a group of items linked by the majority vote, or a single item."""
    block = np.arange(pairs.num_items)
    for group in neighbourhoods(majority_vote(pairs), pairs.num_items):
        block[group] = group[0]
    return np.unique(block, return_inverse=True)[1]


def shaken(links: Links, rng: np.random.Generator) -> Links:
    """The links with weights multiplied by uniform random numbers from ½ to 1½.

    Most links have equal weights. Without random weights, groups would be joined in the order of item numbers: one
    group would grow first and absorb the others.
    """
    return replace(links, weight=links.weight * rng.uniform(0.5, 1.5, len(links.weight)))
