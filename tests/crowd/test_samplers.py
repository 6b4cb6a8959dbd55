"""Minibatches of answers: unbiased, by enumeration of every draw of a small graph."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.samplers import (
    NodeSampler,
    PairSampler,
    RelationalBatch,
    RelationalSampler,
    TaskSampler,
    build_sampler,
    whole_graph,
)
from semicrowd.errors import UserError


def answers(tasks: bool = True) -> PairAnnotations:
    """Nine answers of two annotators about items 1, 2, 3, 5, 6 of 8; three tasks that share items."""
    i, j = [1, 1, 2, 2, 2, 3, 5, 3, 1], [2, 3, 3, 5, 3, 5, 6, 6, 2]
    return PairAnnotations.from_arrays(
        i, j, [0, 0, 0, 1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 0, 1, 1, 0, 1],
        task=[0, 0, 0, 1, 1, 1, 2, 2, 0] if tasks else None, num_items=8,
    )  # fmt: skip


class EveryChoice:
    """Stands for a generator and gives each subset of a uniform draw without replacement in turn."""

    def __init__(self, subset: tuple[int, ...]) -> None:
        self.subset = np.array(subset)

    def choice(self, of: int | np.ndarray, size: int, replace: bool) -> np.ndarray:
        assert not replace
        assert size == len(self.subset)
        return (np.arange(of) if isinstance(of, int) else of)[self.subset]


def all_batches(sampler: RelationalSampler, of: int, size: int) -> Iterator[RelationalBatch]:
    for subset in itertools.combinations(range(of), size):
        yield sampler.sample(EveryChoice(subset))  # type: ignore[arg-type]


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


def test_the_whole_graph_holds_every_answer_once_with_weight_one() -> None:
    a = answers()
    batch = whole_graph(a)
    items = batch.items.numpy()
    rows = zip(items[batch.i], items[batch.j], batch.worker.tolist(), batch.label.tolist(), strict=True)
    assert sorted(rows) == sorted(zip(a.i, a.j, a.worker, a.label, strict=True))
    assert items.tolist() == [1, 2, 3, 5, 6]
    assert batch.pair_weight == 1
    assert set(batch.item_weight.tolist()) == {1}


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


def test_a_sampler_of_more_than_there_is_gives_all() -> None:
    rng = np.random.default_rng(0)
    for kind in ("pairs", "tasks", "nodes"):
        batch = build_sampler(kind, answers(), pairs=99, tasks=99, nodes=99).sample(rng)
        assert len(batch.i) == 9
        assert batch.pair_weight == 1


def test_auto_takes_tasks_where_there_are_any() -> None:
    sizes = {"pairs": 2, "tasks": 1, "nodes": 3}
    assert isinstance(build_sampler("auto", answers(), **sizes), TaskSampler)
    assert isinstance(build_sampler("auto", answers(tasks=False), **sizes), NodeSampler)
    with pytest.raises(UserError, match="no task column"):
        build_sampler("tasks", answers(tasks=False), **sizes)
    with pytest.raises(UserError, match="expected auto, pairs, tasks or nodes"):
        build_sampler("cliques", answers(), **sizes)
