"""Minibatches of answers: unbiased, by enumeration of every draw of a small graph."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.batch import RelationalBatch
from semicrowd.crowd.samplers import NodeSampler, PairSampler, RelationalSampler, TaskSampler, build_sampler
from semicrowd.errors import UserError


def answers(tasks: bool = True) -> PairAnnotations:
    """Nine answers of two annotators about items 1, 2, 3, 5, 6 of 8; three tasks that share items."""
    i, j = [1, 1, 2, 2, 2, 3, 5, 3, 1], [2, 3, 3, 5, 3, 5, 6, 6, 2]
    return PairAnnotations.from_arrays(
        i, j, [0, 0, 0, 1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 0, 1, 1, 0, 1],
        task=[0, 0, 0, 1, 1, 1, 2, 2, 0] if tasks else None, num_items=8,
    )  # fmt: skip


class EveryChoice(np.random.Generator):
    """Gives each subset of a uniform draw without replacement in turn."""

    def __init__(self, subset: tuple[int, ...]) -> None:
        super().__init__(np.random.PCG64(0))
        self.subset = np.array(subset)

    def choice(  # type: ignore[override]
        self, of: int | np.ndarray, size: int, replace: bool
    ) -> np.ndarray:
        assert not replace
        assert size == len(self.subset)
        return (np.arange(of) if isinstance(of, int) else of)[self.subset]


def all_batches(sampler: RelationalSampler, of: int, size: int) -> Iterator[RelationalBatch]:
    for subset in itertools.combinations(range(of), size):
        yield sampler.sample(EveryChoice(subset))


@pytest.mark.parametrize(
    ("sampler", "of", "size"),
    [
        (PairSampler(answers(), 2), 9, 2),
        (PairSampler(answers(), 5), 9, 5),
        (TaskSampler(answers(), 1), 3, 1),
        (TaskSampler(answers(), 2), 3, 2),
        (NodeSampler(answers(), 2), 5, 2),
        (NodeSampler(answers(), 4), 5, 4),
    ],
)
def test_every_sampler_is_unbiased_for_pairs_and_items(sampler: RelationalSampler, of: int, size: int) -> None:
    a = answers()
    rng = np.random.default_rng(0)
    pair_value, item_value = rng.normal(size=(8, 8, 2, 2)), rng.normal(size=8)
    pair_sums, item_sums = [], []
    for batch in all_batches(sampler, of, size):
        items = batch.items.numpy()
        values = pair_value[items[batch.i], items[batch.j], batch.worker, batch.label]
        pair_sums.append(batch.pair_weight * values.sum())
        item_sums.append((batch.item_weight.numpy() * item_value[items]).sum())
    assert np.mean(pair_sums) == pytest.approx(pair_value[a.i, a.j, a.worker, a.label].sum())
    assert np.mean(item_sums) == pytest.approx(item_value[[1, 2, 3, 5, 6]].sum(), rel=1e-5)


def test_components_are_those_of_the_drawn_graph() -> None:
    rng = np.random.default_rng(3)
    i = rng.integers(60, size=70)
    j = (i + rng.integers(1, 60, size=70)) % 60
    a = PairAnnotations.from_arrays(i, j, np.zeros(70, int), np.zeros(70, int), num_items=60)
    for sampler in (PairSampler(a, 20), NodeSampler(a, 25)):
        batch = sampler.sample(rng)
        n = batch.num_nodes
        graph = coo_array((np.ones(len(batch.i)), (batch.i.numpy(), batch.j.numpy())), shape=(n, n))
        number, component = connected_components(graph, directed=False)
        assert batch.num_components == number > 1
        same = batch.component[:, None].numpy() == batch.component[None].numpy()
        assert (same == (component[:, None] == component[None])).all()


def test_the_sampler_and_its_size_where_nobody_has_given_them() -> None:
    found = build_sampler("auto", answers(), size=1, in_proportion=2)
    assert (type(found), found.size) == (TaskSampler, 1)
    found = build_sampler("auto", answers(tasks=False), size=3, in_proportion=2)
    assert (type(found), found.size) == (NodeSampler, 3)
    with pytest.raises(UserError, match="task"):
        build_sampler("tasks", answers(tasks=False), size=1, in_proportion=2)
    i, j = np.triu_indices(200, k=1)
    many = PairAnnotations.from_arrays(i, j, 0 * i, 0 * i, num_items=200, task=i % 7)
    sizes = {kind: build_sampler(kind, many, None, in_proportion=41).size for kind in ("pairs", "tasks", "nodes")}
    assert sizes == {"pairs": 41, "tasks": 3, "nodes": 108}


def test_known_links_do_not_crowd_groupings_out_of_a_minibatch() -> None:
    """Two groupings of ten items and forty links, each a task: 63 of 42 tasks, so all; four groupings: 33 of 44."""
    def answers(groupings: int) -> PairAnnotations:
        first, second = np.triu_indices(10, 1)
        task = np.append(np.repeat(np.arange(groupings), len(first)), groupings + np.arange(40))
        i = np.append(np.tile(first, groupings), np.zeros(40, int))
        j = np.append(np.tile(second, groupings), np.ones(40, int))
        return PairAnnotations.from_arrays(i, j, 0 * i, 0 * i + 1, task=task, num_items=10)

    assert [build_sampler("tasks", answers(n), None, 1).size for n in (2, 4)] == [42, 33]
    assert build_sampler("tasks", answers(4), 5, 1).size == 5
