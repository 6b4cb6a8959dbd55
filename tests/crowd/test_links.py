"""Majority votes against counting, neighbourhoods against the transitive closure."""

from collections import Counter

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from tests.made import answers_of, random_links

from semicrowd.crowd.links import Links, majority_vote, neighbourhoods, shaken


def test_majority_vote_counts_answers() -> None:
    rng = np.random.default_rng(0)
    rows = [(*rng.choice(6, 2, replace=False).tolist(), int(rng.integers(3)), int(rng.integers(2))) for _ in range(60)]
    net: Counter[tuple[int, int]] = Counter()
    for i, j, _, label in rows:
        net[min(i, j), max(i, j)] += 1 if label else -1
    expected = {pair: vote for pair, vote in net.items() if vote}
    assert 0 in net.values(), "no tie in the example"

    links = majority_vote(answers_of(rows, 6))
    found = dict(zip(zip(links.i.tolist(), links.j.tolist(), strict=True), links.must.tolist(), strict=True))
    assert found == {pair: vote > 0 for pair, vote in expected.items()}
    assert links.weight.tolist() == [1.0] * len(expected)


@pytest.mark.parametrize("seed", range(5))
def test_neighbourhoods_of_consistent_links_are_the_transitive_closure(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(5, size=60)
    links = random_links(rng, 60, 120)
    links = Links(links.i, links.j, labels[links.i] == labels[links.j], links.weight)
    edges = (np.ones(links.must.sum()), (links.i[links.must], links.j[links.must]))
    component = connected_components(coo_array(edges, shape=(60, 60)), directed=False)[1]
    expected = {frozenset(np.flatnonzero(component == c).tolist()) for c in np.unique(component)}
    found = neighbourhoods(shaken(links, rng), 60)
    assert {frozenset(group.tolist()) for group in found} == {group for group in expected if len(group) > 1}
    assert [len(group) for group in found] == sorted((len(group) for group in found), reverse=True)


def test_a_wrong_must_link_does_not_join_two_neighbourhoods() -> None:
    labels = np.repeat([0, 1], 6)
    first, second = np.triu_indices(12, k=1)
    must = labels[first] == labels[second]
    must[(first == 2) & (second == 9)] = True
    groups = neighbourhoods(Links(first, second, must, np.ones(len(must))), 12)
    assert [group.tolist() for group in groups] == [list(range(6)), list(range(6, 12))]
