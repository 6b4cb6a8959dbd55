"""The assignment step against enumeration."""

from itertools import product

import numpy as np
import pytest
from tests.made import random_links

from semicrowd.crowd.links import Links
from semicrowd.methods.link_graph import Costs, LinkGraph


def _naive_objective(links: Links, costs: Costs, labels: tuple[int, ...]) -> float:
    """Docstring of Costs, one link at a time."""
    total = sum(costs.item[n, k] for n, k in enumerate(labels))
    for c in range(len(links.i)):
        k, other = labels[links.i[c]], labels[links.j[c]]
        if links.must[c] and k != other:
            total += (costs.link[c, k] + costs.link[c, other]) / 2
        if not links.must[c] and k == other:
            total += costs.link[c, k]
    return float(total)


@pytest.mark.parametrize("seed", range(10))
def test_assignment_reaches_the_optimum_found_by_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    num_items, k = 7, 3
    links = random_links(rng, num_items, 9)
    costs = Costs(rng.gamma(1.0, size=(num_items, k)), rng.gamma(1.0, size=(9, k)))
    everything = {z: _naive_objective(links, costs, z) for z in product(range(k), repeat=num_items)}
    lowest = min(everything.values())
    reached = []
    for start in range(30):
        graph = LinkGraph(links, num_items, np.random.default_rng(start))
        labels = graph.assign(costs, rng.integers(k, size=num_items))
        objective = graph.objective(costs, labels)
        assert objective == pytest.approx(everything[tuple(labels.tolist())])
        # No item alone can do better.
        for n, other in product(range(num_items), range(k)):
            moved = labels.copy()
            moved[n] = other
            assert everything[tuple(moved.tolist())] >= objective - 1e-9
        reached.append(objective)
    assert min(reached) == pytest.approx(lowest)


def test_blocks_have_no_links_inside_and_cover_all_items() -> None:
    rng = np.random.default_rng(1)
    links = random_links(rng, 30, 150)
    graph = LinkGraph(links, 30, rng)
    block_of = np.full(30, -1)
    for number, (block, *_) in enumerate(graph.blocks):
        assert (block_of[block] == -1).all()
        block_of[block] = number
    assert (block_of >= 0).all()
    assert (block_of[links.i] != block_of[links.j]).all()
