"""The annotated items numbered on their own, and counts of answers between them, against loops over the answers."""

import itertools
import pickle
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.batch import RelationalBatch
from semicrowd.crowd.samplers import NodeSampler, PairSampler, RelationalSampler, TaskSampler, build_sampler
from semicrowd.errors import UserError
from semicrowd.random import stream, torch_stream


@st.composite
def any_answers(draw: st.DrawFn) -> PairAnnotations:
    """Some answers about a few items, with gaps among the ids, repetitions and contradictions; perhaps with tasks."""
    num_items = draw(st.integers(2, 25))
    num_pairs = draw(st.integers(1, 40))
    item = st.integers(0, num_items - 1)
    pair = st.tuples(item, item).filter(lambda ends: ends[0] != ends[1])
    i, j = np.array(draw(st.lists(pair, min_size=num_pairs, max_size=num_pairs))).T
    label = draw(st.lists(st.integers(0, 1), min_size=num_pairs, max_size=num_pairs))
    names = draw(st.lists(st.integers(0, 3), min_size=num_pairs, max_size=num_pairs))
    worker = np.unique(names, return_inverse=True)[1]
    with_tasks = draw(st.booleans())
    task = draw(st.lists(st.integers(0, 4), min_size=num_pairs, max_size=num_pairs)) if with_tasks else None
    return PairAnnotations.from_arrays(i, j, worker, label, num_items=num_items, task=task)


def _groups(answers: PairAnnotations) -> set[frozenset[int]]:
    """Items that answers connect, by joining two sets at a time."""
    group = {int(item): {int(item)} for item in [*answers.i, *answers.j]}
    for i, j in zip(answers.i.tolist(), answers.j.tolist(), strict=True):
        if group[i] is not group[j]:
            group[i] |= group[j]
            for item in group[j]:
                group[item] = group[i]
    return {frozenset(members) for members in group.values()}


@given(any_answers())
def test_the_index_of_any_answers_and_their_batch(answers: PairAnnotations) -> None:
    index = answers.index
    assert index.items.tolist() == sorted({*answers.i.tolist(), *answers.j.tolist()})
    assert index.items[index.i].tolist() == answers.i.tolist()
    assert index.items[index.j].tolist() == answers.j.tolist()
    members = [index.items[index.component == c].tolist() for c in range(1 + index.component.max())]
    assert sorted(sorted(group) for group in _groups(answers)) == sorted(members)
    assert index.items.dtype == index.i.dtype == index.component.dtype == np.int64
    whole = index.whole
    for name in ("items", "i", "j", "component"):
        assert getattr(whole, name).tolist() == getattr(index, name).tolist()
    assert (whole.worker.tolist(), whole.label.tolist()) == (answers.worker.tolist(), answers.label.tolist())
    assert set(whole.item_weight.tolist()) == {1.0} == {whole.pair_weight}
    assert (whole.num_components, whole.item_weight.dtype) == (len(members), torch.float32)


def test_no_copy_has_the_index_of_other_answers() -> None:
    answers = PairAnnotations.from_arrays([3, 5], [5, 9], [0, 0], [1, 0], num_items=10)
    kept = answers.index.whole
    other = replace(answers, i=np.array([0, 1]), label=np.array([0, 0]))
    assert other.index.items.tolist() == [0, 1, 5, 9]
    for copy in (pickle.loads(pickle.dumps(answers)), deepcopy(answers)):
        assert "index" not in vars(copy)
        assert copy.index.whole is not kept
        assert copy.index.items.tolist() == [3, 5, 9]
    assert len(pickle.dumps(answers)) == len(pickle.dumps(replace(answers)))


@given(any_answers())
def test_answers_of_a_grouping_count_as_few_independent_ones(answers: PairAnnotations) -> None:
    """E[d] / E[d²] over the items of a grouping, where d is the number of others with which an item was put."""
    effective = answers.index.effective()
    if answers.task is None:
        assert effective.tolist() == [1.0] * answers.num_pairs
        return
    groupings = list(zip(answers.task.tolist(), answers.worker.tolist(), strict=True))
    for grouping in set(groupings):
        rows = [row for row, one in enumerate(groupings) if one == grouping]
        d = dict.fromkeys((int(item) for row in rows for item in (answers.i[row], answers.j[row])), 0)
        for row in rows:
            for item in (answers.i[row], answers.j[row]):
                d[int(item)] += int(answers.label[row])
        squares = sum(number**2 for number in d.values())
        expected = sum(d.values()) / squares if squares else 1.0
        np.testing.assert_allclose(effective[rows], expected)
        assert 0 < expected <= 1


def _pairs() -> PairAnnotations:
    rng = stream(0, "test")
    i = rng.integers(8, size=25)
    worker = np.concatenate([np.arange(3), rng.integers(3, size=22)])
    return PairAnnotations.from_arrays(i, rng.integers(i + 1, 9), worker, rng.integers(2, size=25), num_items=9)


def test_agreement_is_counted_by_annotator_and_answer() -> None:
    pairs = _pairs()
    graph = pairs.index.graph
    draws = torch.randn(2, 3, len(graph.items), 4, generator=torch_stream(0, "eta"), dtype=torch.float64)
    eta = (2 * draws).softmax(-1)
    position = {int(item): k for k, item in enumerate(graph.items)}
    expected = torch.zeros(2, 3, 3, 2, dtype=torch.float64)
    counts = torch.zeros(3, 2, dtype=torch.float64)
    for i, j, m, a in zip(pairs.i, pairs.j, pairs.worker, pairs.label, strict=True):
        expected[:, :, m, a] += (eta[:, :, position[int(i)]] * eta[:, :, position[int(j)]]).sum(-1)
        counts[m, a] += 1
    torch.testing.assert_close(graph.agreement(eta)[0], expected)
    assert graph.counts.tolist() == counts.tolist()


def test_the_pull_is_the_derivative_of_the_weighted_agreement() -> None:
    graph = _pairs().index.graph
    generator = torch_stream(1, "eta")
    eta, step = (torch.randn(2, 3, len(graph.items), 4, generator=generator, dtype=torch.float64) for _ in range(2))
    weight = torch.randn(2, 3, 3, 2, generator=generator, dtype=torch.float64)
    agreement, neighbours = graph.agreement(eta)
    # The agreement is a quadratic form: central differences are exact.
    ahead, behind = ((weight * graph.agreement(eta + h * step)[0]).sum() for h in (0.5, -0.5))
    torch.testing.assert_close((graph.pull(neighbours, weight) * step).sum(), ahead - behind)
    assert agreement.shape == weight.shape


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
