"""What answers are accepted, and what is worked out from them."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from tests.made import answers_of, random_links

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.links import Links, majority_vote, neighbourhoods, shaken
from semicrowd.errors import UserError

GOOD: dict[str, Any] = {"i": [0, 4, 2], "j": [1, 0, 4], "worker": [0, 1, 0], "label": [1, 0, 1], "num_items": 5}


def test_empirical_quality_counts_by_hand() -> None:
    labels = np.array([0, 0, 1, 1])
    rows = [
        # worker 0: same, same, different, different, different → right, wrong, right, wrong, right
        (0, 1, 0, 1), (2, 3, 0, 0), (0, 2, 0, 0), (1, 2, 0, 1), (3, 0, 0, 0),
        # worker 1 saw no pair of one class
        (0, 3, 1, 0),
    ]
    answers = PairAnnotations.from_arrays(*np.array(rows).T, num_items=4)
    sensitivity, specificity = answers.empirical_quality(labels)
    assert sensitivity[0] == 0.5
    assert math.isnan(sensitivity[1])
    assert specificity.tolist() == [pytest.approx(2 / 3), 1.0]


def test_quality_by_probabilities_is_a_ratio_of_expected_counts() -> None:
    """Against the sum over every way in which items of independent kinds can be."""
    rng = np.random.default_rng(3)
    q = rng.dirichlet(np.ones(3), size=4)
    pairs = list(itertools.combinations(range(4), 2))
    rows = [(i, j, worker, rng.integers(2)) for worker in range(2) for i, j in pairs]
    answers = PairAnnotations.from_arrays(*np.array(rows).T, num_items=4)
    right, seen = np.zeros((2, 2)), np.zeros((2, 2))
    for kinds in itertools.product(range(3), repeat=4):
        chance = np.prod([q[i, k] for i, k in enumerate(kinds)])
        for i, j, worker, answer in rows:
            same = kinds[i] == kinds[j]
            seen[int(not same), worker] += chance
            right[int(not same), worker] += chance * (answer == same)
    np.testing.assert_allclose(answers.empirical_quality(q), right / seen, rtol=1e-12)


def test_numbers_of_a_platform_are_refused_before_an_array_of_as_many_is_made() -> None:
    with pytest.raises(UserError, match="annotator 0 has no answers"):
        PairAnnotations.from_arrays([0], [1], [10**15], [1], num_items=2)
    with pytest.raises(UserError, match="annotator bob has no answers"):
        PairAnnotations.from_arrays([0, 0], [1, 2], [0, 2], [1, 0], num_items=3, worker_names=["ann", "bob", "cy"])


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
